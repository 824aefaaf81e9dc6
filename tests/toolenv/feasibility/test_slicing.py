"""Which calls a trace needed. What is needed is plain from the small suite's rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.toolenv.feasibility.office import (
    CANCEL,
    COPY,
    FIND,
    LIST,
    LOOK,
    LOOK_ELSEWHERE,
    MOVE,
    ORDER_LIST,
    REMOVE,
    SUITE,
    THINK,
    call,
    play,
    task_named,
)
from toolenv.feasibility.slicing import DOES_NOT_REPLAY, Slice, Study, slice_trace
from toolenv.types import ToolCall


def sliced(task_id: str, calls: Sequence[ToolCall], words: str = "Done.", max_replays: int = 200) -> Slice:
    return slice_trace(SUITE, task_named(task_id), play(task_id, calls, words), max_replays)


def names(part: Slice) -> list[str]:
    return [one.tool for one in part.kept]


@pytest.mark.parametrize(
    ("task_id", "calls", "kept"),
    [
        ("put-away", [THINK, LIST, MOVE, LIST], ["mv"]),
        ("put-away", [LIST, COPY, REMOVE], ["cp", "rm"]),
        ("cancel", [FIND, ORDER_LIST, LOOK_ELSEWHERE, LOOK, CANCEL, LOOK], ["get_order", "cancel_item"]),
        (
            "cancel-any",
            [THINK, FIND, ORDER_LIST, LOOK_ELSEWHERE, LOOK, CANCEL],
            ["find_user", "list_orders", "get_order", "cancel_item"],
        ),
        ("known-id", [FIND, ORDER_LIST, LOOK, CANCEL], ["list_orders", "get_order", "cancel_item"]),
    ],
)
def test_a_call_is_kept_exactly_if_it_was_needed(
    task_id: str, calls: list[ToolCall], kept: list[str]
) -> None:
    part = sliced(task_id, calls)
    assert names(part) == kept
    assert part.is_minimal
    assert part.tools == set(kept)
    assert sorted([*kept, *part.dropped]) == sorted(one.name for one in calls)


def test_a_detour_that_undoes_itself_is_dropped_as_one() -> None:
    away, back = call("mv", source="log.txt", destination="x"), call("mv", source="x", destination="log.txt")
    assert [one.number for one in sliced("put-away", [away, back, MOVE]).kept] == [3]
    assert [one.number for one in sliced("put-away", [LIST, away, LIST, back, LIST, COPY, REMOVE]).kept] == [
        6,
        7,
    ]


def test_failed_and_unknown_calls_are_no_use_and_dropped() -> None:
    calls = [call("no_such_tool"), call("rm", path="nothing"), MOVE]
    part = sliced("put-away", calls)
    assert (names(part), part.dropped) == (["mv"], ("no_such_tool", "rm"))


def test_each_kept_call_says_what_it_is_needed_for() -> None:
    part = sliced("cancel-any", [FIND, ORDER_LIST, LOOK, CANCEL])
    assert [one.why for one in part.kept] == [
        ("its result feeds call 2, argument user_id",),
        ("its result feeds call 3, argument order_id", "its result feeds call 4, argument order_id"),
        ("its result feeds call 4, argument order_id", "its result feeds call 4, argument item"),
        ("it changes the world",),
    ]


def test_what_has_to_be_said_has_to_be_looked_up() -> None:
    part = sliced("price", [LIST, LOOK_ELSEWHERE, LOOK, THINK], "It cost 1,250.50, and is pending.")
    assert [(one.number, one.why) for one in part.kept] == [
        (3, ("its result holds '1250.50', which has to be said",))
    ]


def test_calls_made_together_are_sliced_one_by_one() -> None:
    part = slice_trace(SUITE, task_named("put-away"), play("put-away", [[LIST, COPY], [THINK, REMOVE]]))
    assert [one.number for one in part.kept] == [2, 4]


def test_replays_are_bounded_and_the_slice_says_so() -> None:
    calls = [LIST, THINK, LIST, THINK, COPY, LIST, REMOVE]
    free = sliced("put-away", calls)
    bounded = sliced("put-away", calls, max_replays=3)
    assert (free.is_minimal, names(free)) == (True, ["cp", "rm"])
    assert bounded.replays == 3
    assert not bounded.is_minimal
    assert {"cp", "rm"} <= bounded.tools


def test_slicing_is_the_same_every_time() -> None:
    calls = [LIST, THINK, COPY, LIST, REMOVE, LIST]
    assert len({repr(sliced("put-away", calls)) for _ in range(3)}) == 1


def test_a_trace_that_does_not_replay_is_kept_whole() -> None:
    trace = play("put-away", [LIST, MOVE])
    # As if the data had changed: the recorded calls no longer lead to success.
    steps = (trace.steps[0], trace.steps[0], *trace.steps[2:])
    part = slice_trace(SUITE, task_named("put-away"), replace(trace, steps=steps))
    assert (names(part), part.problem, part.is_minimal) == (["ls", "ls"], DOES_NOT_REPLAY, False)


def test_leaving_out_tools_needs_the_values_they_told() -> None:
    study = Study(SUITE, task_named("cancel-any"), play("cancel-any", [FIND, ORDER_LIST, LOOK, CANCEL]))
    # Replayed, the cancellation alone would succeed: its arguments are there. Nobody would know them.
    assert study.whole is not None
    assert not study.solves_without(frozenset({"find_user", "list_orders", "get_order"}))
    assert not study.solves_without(frozenset({"get_order"}))
    assert not study.solves_without(frozenset({"cancel_item"}))
    assert study.solves_without(frozenset({"mv"}))


def test_field_019_a_trace_may_hold_another_way_beside_the_masked_tool() -> None:
    back = call("cp", source="archive/log.txt", destination="log.txt")
    study = Study(SUITE, task_named("put-away"), play("put-away", [MOVE, back, COPY, REMOVE]))
    assert study.solves_without(frozenset({"mv"})), "copying and removing does it"
    assert study.solves_without(frozenset({"cp"})), "moving does it"
    assert not study.solves_without(frozenset({"mv", "rm"})), "copying alone does not"


def test_a_tool_that_another_call_of_the_trace_can_stand_in_for_is_not_needed() -> None:
    # An order tells the user's id as well, so the lookup that the slice keeps is one of two ways to learn it.
    other = call("get_order", order_id="#W200")
    trace = play("cancel-any", [other, FIND, ORDER_LIST, LOOK, CANCEL])
    study = Study(SUITE, task_named("cancel-any"), trace)
    assert (names(study.slice)[0], study.replaceable) == ("find_user", {"find_user"})
    assert study.needed == {"list_orders", "get_order", "cancel_item"}
    assert Study(
        SUITE, task_named("cancel-any"), play("cancel-any", [FIND, ORDER_LIST, LOOK, CANCEL])
    ).needed == {
        "find_user",
        "list_orders",
        "get_order",
        "cancel_item",
    }
