"""Semantic redundancy (Appendix B.2): which remaining tools read as if they did the same."""

from __future__ import annotations

import pytest

from tests.toolenv.feasibility.real_suites import all_tools, real_source
from toolenv.feasibility.redundancy import MAX_CANDIDATES, SAME_NAME, THRESHOLD, Redundancy
from toolenv.types import ToolSpec


def tool(name: str, description: str, *parameters: str) -> ToolSpec:
    properties = {parameter: {"type": "string"} for parameter in parameters}
    return ToolSpec(name, description, {"type": "object", "properties": properties})


FILES = (
    tool("mv", "Move a file or directory from one location to another.", "source", "destination"),
    tool("cp", "Copy a file or directory from one location to another.", "source", "destination"),
    tool("wc", "Count the number of lines, words, and characters in a file.", "file_name", "mode"),
    tool("post_tweet", "Post a tweet.", "content", "tags", "mentions"),
)


def similarity(one: ToolSpec, other: ToolSpec, *others: ToolSpec) -> float:
    return Redundancy([one, other, *others, *FILES]).similarity(one, other)


def test_field_019_copying_reads_like_moving() -> None:
    redundancy = Redundancy(FILES)
    (found,) = redundancy.candidates(FILES[0], FILES[1:])
    assert found.tool == "cp"
    assert THRESHOLD <= found.similarity < 1


@pytest.mark.parametrize(
    ("suite", "subset", "masked", "remaining"),
    [
        # The paper's own examples, and the one of the field case.
        ("APIBank", None, "Dictionary", "Wiki"),
        ("APIBank", None, "Dictionary", "SearchEngine"),
        ("BFCL", "multi_turn_base", "mv", "cp"),
        ("BFCL", None, "mv", "cp"),
        ("TauBench", None, "find_user_id_by_email", "find_user_id_by_name_zip"),
    ],
)
def test_known_redundant_tools_of_the_data_sets_are_found(
    suite: str, subset: str | None, masked: str, remaining: str
) -> None:
    tools = all_tools(real_source(suite, subset))
    rest = [one for name, one in tools.items() if name != masked]
    redundancy = Redundancy(tools.values())
    assert redundancy.similarity(tools[masked], tools[remaining]) >= THRESHOLD
    assert redundancy.candidates(tools[masked], rest), "and something is listed for a person to look at"


@pytest.mark.parametrize(
    ("suite", "subset", "masked", "remaining"),
    [
        ("BFCL", "multiple", "triangle_properties.get", "circle_properties.get"),
        ("BFCL", "multi_turn_base", "gallon_to_liter", "liter_to_gallon"),
        ("BFCL", "multi_turn_base", "pressBrakePedal", "releaseBrakePedal"),
        ("BFCL", "multi_turn_base", "fund_account", "withdraw_funds"),
        ("APIBank", None, "DeleteReminder", "ModifyReminder"),
        ("APIBank", None, "QueryHealthData", "RecordHealthData"),
        ("TauBench", None, "cancel_reservation", "book_reservation"),
    ],
)
def test_tools_that_only_sound_alike_are_not(
    suite: str, subset: str | None, masked: str, remaining: str
) -> None:
    tools = all_tools(real_source(suite, subset))
    assert Redundancy(tools.values()).similarity(tools[masked], tools[remaining]) < THRESHOLD


def test_tools_that_take_another_key_to_the_same_thing_count_as_named_alike() -> None:
    one = tool("find_user_by_email", "Look somebody up.", "email")
    other = tool("find_user_by_name", "Search people.", "first", "last")
    assert similarity(one, other) == SAME_NAME


def test_what_reads_and_what_deletes_is_never_the_same() -> None:
    words = "the reminder of a user, by its content and time."
    reads = tool("reminder_get", f"Get {words}", "content", "time")
    deletes = tool("reminder_delete", f"Delete {words}", "content", "time")
    assert similarity(reads, deletes) == 0.0


def test_sentences_that_many_tools_share_count_for_nothing() -> None:
    shared = "This tool belongs to the travel agency, which books flights and sells insurance."
    one, other = tool("book_flight", f"{shared} Reserve seats.", "a"), tool("price", f"{shared} Costs.", "a")
    assert similarity(one, other) < THRESHOLD


def test_a_tool_that_says_the_same_is_the_likeliest_and_few_are_listed() -> None:
    masked = tool("lookup", "Weather forecast of a city.", "city")
    rest = [tool(f"lookup{number}", "Weather forecast of a city.", "city") for number in range(5)]
    found = Redundancy([masked, *rest, *FILES]).candidates(masked, rest)
    assert [one.tool for one in found] == ["lookup0", "lookup1", "lookup2"][:MAX_CANDIDATES]


def test_tools_without_words_or_parameters_can_be_compared() -> None:
    assert similarity(tool("f1", ""), tool("g2", "")) == 0.0
