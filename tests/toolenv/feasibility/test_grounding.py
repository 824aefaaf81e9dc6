"""Query-grounded entities (Appendix B.2): the query holds what a masked tool would fetch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from tests.toolenv.feasibility.office import CANCEL, FIND, LOOK, ORDER_LIST, SUITE, play, task_named
from tests.toolenv.feasibility.real_suites import oracle_trace, real_source
from toolenv.feasibility.grounding import query_grounded
from toolenv.feasibility.slicing import Study
from toolenv.types import ToolCall

LOOKUPS = ("find_user", "list_orders", "get_order", "cancel_item")


def grounded(task_id: str, calls: Sequence[ToolCall]) -> Mapping[str, tuple[str, ...]]:
    return query_grounded(Study(SUITE, task_named(task_id), play(task_id, calls)), LOOKUPS)


def test_the_query_holds_the_user_id_the_lookup_would_fetch() -> None:
    # The paper's own case: both the email and the user id are in the prompt.
    assert grounded("known-id", [FIND, ORDER_LIST, LOOK, CANCEL]) == {"find_user": ("mia_li_3668",)}


def test_a_lookup_is_grounded_even_if_nobody_used_what_it_fetched() -> None:
    assert grounded("known-id", [FIND, LOOK, CANCEL]) == {"find_user": ("mia_li_3668",)}


def test_the_query_holds_the_order_that_a_list_would_fetch() -> None:
    assert grounded("cancel", [FIND, ORDER_LIST, LOOK, CANCEL]) == {"list_orders": ("#w100",)}


def test_an_argument_that_comes_back_is_not_what_a_tool_fetched() -> None:
    # get_order returns the order's number that it was given; what it fetches is the item.
    assert "get_order" not in grounded("cancel", [LOOK, CANCEL])


def test_a_tool_that_fetched_what_only_it_could_tell_is_not_grounded() -> None:
    assert grounded("cancel-any", [FIND, ORDER_LIST, LOOK, CANCEL]) == {}


@pytest.mark.parametrize(
    ("task_id", "tool", "value"),
    [
        ("retail_test_10", "find_user_id_by_email", "mia_garcia_4516"),
        ("retail_test_5", "find_user_id_by_name_zip", "mei_kovacs_8020"),
    ],
)
def test_tau_bench_says_the_user_id_beside_the_email_or_name(task_id: str, tool: str, value: str) -> None:
    source = real_source("TauBench")
    study = Study(source.suite, source.get(task_id), oracle_trace(source, task_id))
    assert query_grounded(study, {tool}) == {tool: (value,)}


def test_every_task_the_suite_itself_flags_is_found() -> None:
    """The suite compares whole results of its lookup tools with the instruction; this, what was consumed."""
    source = real_source("TauBench")
    flagged = [task_id for task_id in source.task_ids if "query_grounded" in source.get(task_id).flags]
    assert len(flagged) == 24
    for task_id in flagged[::4]:
        trace = oracle_trace(source, task_id)
        tools = {call.name for call, _ in trace.calls("ok")}
        assert query_grounded(Study(source.suite, source.get(task_id), trace), tools), task_id
