from __future__ import annotations

from typing import Any

import pytest

from envs_registry.bfcl.ast_rules import check_calls
from envs_registry.bfcl.ground_truth import join_by_id, solution_calls
from toolenv.errors import DataCorruptError

# NOTES.md, "Verified here": the entries that no call can satisfy under upstream's rules.
CAN_NEVER_PASS = {
    "live_multiple_862-181-3",
    "live_multiple_964-207-0",
    "live_simple_106-63-0",
    "live_simple_112-68-0",
}


def arguments(
    properties: dict[str, Any], options: dict[str, Any], *, required: tuple[str, ...] = (), **more: Any
) -> Any:
    parameters = {"type": "dict", "properties": properties, "required": list(required)}
    [call] = solution_calls([{"name": "f.x", "parameters": parameters}], [{"f.x": options}], **more)
    assert call.name == "f.x"
    return call.arguments


def test_the_solution_of_every_entry_passes_but_for_the_four_that_cannot(
    bfcl_entries: dict[str, Any],
) -> None:
    failed, counted = set(), 0
    for category, entries in bfcl_entries.items():
        for question, answer in entries:
            documents, truth = question["function"], answer["ground_truth"]
            calls = [(call.name, call.arguments) for call in solution_calls(documents, truth)]
            counted += 1
            if not check_calls(category, documents, calls, truth).success:
                failed.add(question["id"])
    assert failed == CAN_NEVER_PASS
    assert counted == 400 + 200 + 200 + 200 + 258 + 1053 + 16 + 24


def test_what_may_be_left_out_is_left_out_unless_required() -> None:
    properties = {key: {"type": "string"} for key in "abc"}
    options = {"a": ["", "x"], "b": ["", "x"], "c": ["y"]}
    assert arguments(properties, options, required=("b",)) == {"b": "x", "c": "y"}


def test_a_required_parameter_that_may_only_be_left_out_is_the_empty_string() -> None:
    """As in live_multiple_507-149-4."""
    assert arguments({"a": {"type": "string"}}, {"a": [""]}, required=("a",)) == {"a": ""}


def test_parameters_without_document_or_option_are_left_out() -> None:
    """As in live_multiple_862-181-3 and live_simple_106-63-0."""
    array = {"type": "array", "items": {"type": "string"}}
    assert arguments({"a": array}, {"a": [], "time": ["09:00"]}, required=("a",)) == {}


def test_options_of_objects_are_chosen_key_by_key() -> None:
    place = {"type": "dict", "properties": {}, "required": ["zip"]}
    option = {"city": ["Rome", "Roma"], "zip": ["", 1], "flat": ["", 2], "at": [{"x": 1}]}
    value = {"city": "Rome", "zip": 1, "at": {"x": 1}}
    assert arguments({"p": place}, {"p": [option]}) == {"p": value}
    places = {"type": "array", "items": place}
    assert arguments({"p": places}, {"p": [[option, option]]}) == {"p": [value, value]}


def test_options_that_the_rules_refuse_are_passed_over() -> None:
    """Elements must be of the document's type, or of the type of the option's first."""
    array = {"type": "array", "items": {"type": "integer"}}
    assert arguments({"a": array}, {"a": [[1, "x"], [2]]}) == {"a": [2]}


def test_the_first_option_that_also_fits_the_schema_is_taken() -> None:
    asked = []

    def fits(tool: str, parameter: str, value: Any) -> bool:
        asked.append((tool, parameter, value))
        return value in ("b", "Horror", {"k": 2})

    assert arguments({"a": {"type": "string"}}, {"a": ["a", "b"]}, fits=fits) == {"a": "b"}
    assert asked == [("f.x", "a", "a"), ("f.x", "a", "b")]
    genre = {"type": "string", "enum": ["War", "Horror"]}
    assert arguments({"a": genre}, {"a": ["horror"]}, fits=fits) == {"a": "Horror"}
    assert arguments({"a": genre}, {"a": ["play"]}, fits=fits) == {"a": "play"}
    assert arguments({"a": {"type": "dict"}}, {"a": [{"k": [1, 2]}]}, fits=fits) == {"a": {"k": 2}}


def test_many_combinations_of_options_are_not_all_tried() -> None:
    option = {str(key): list(range(10)) for key in range(30)}
    value = arguments({"a": {"type": "dict"}}, {"a": [option]}, fits=lambda *_: False)
    assert value == {"a": {str(key): 0 for key in range(30)}}


def test_a_tool_without_a_document_is_corrupt_data() -> None:
    with pytest.raises(DataCorruptError, match=r"'f'.*documents: \['g'\]"):
        solution_calls([{"name": "g", "parameters": {}}], [{"f": {}}])


# ---- joins ----


def answers(*ids: str) -> list[dict[str, Any]]:
    return [{"id": name, "ground_truth": [name]} for name in ids]


def test_field_064_ids_that_do_not_match_are_named_on_both_sides() -> None:
    questions = [{"id": "simple_javascript_0"}, {"id": "simple_javascript_1"}]
    with pytest.raises(DataCorruptError) as error:
        join_by_id(
            questions, answers("simple_javascript__0", "simple_javascript__1"), "BFCL simple_javascript"
        )
    assert str(error.value) == (
        "BFCL simple_javascript: ids do not match; "
        "questions without an answer: ['simple_javascript_0', 'simple_javascript_1']; "
        "answers without a question: ['simple_javascript__0', 'simple_javascript__1']"
    )


def test_field_064_answers_are_joined_by_id_not_by_position() -> None:
    joined = join_by_id([{"id": "a"}, {"id": "b"}], answers("b", "a"), "here")
    assert [(name, answer["ground_truth"]) for name, answer in joined.items()] == [("a", ["a"]), ("b", ["b"])]


@pytest.mark.parametrize("answer", [{}, {"ground_truth": None}, {"ground_truth": []}])
def test_field_065_absent_truth_is_not_an_empty_one(answer: dict[str, Any]) -> None:
    with pytest.raises(DataCorruptError, match=r"no ground truth in the answers \['live_relevance_0'\]"):
        join_by_id(
            [{"id": "live_relevance_0"}], [{"id": "live_relevance_0", **answer}], "BFCL live_relevance"
        )
    with pytest.raises(DataCorruptError, match=r"questions without an answer: \['live_relevance_0'\]"):
        join_by_id([{"id": "live_relevance_0"}], [], "BFCL live_relevance")


def test_repeated_ids_are_corrupt_data() -> None:
    with pytest.raises(DataCorruptError, match=r"here, answers: repeated ids \['a'\]"):
        join_by_id([{"id": "a"}], answers("a", "a"), "here")


def test_long_lists_of_ids_are_cut() -> None:
    with pytest.raises(DataCorruptError, match=r"'19'\] and 80 more"):
        join_by_id([{"id": str(number)} for number in range(100)], [], "here")
