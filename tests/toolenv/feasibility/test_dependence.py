"""Which results held what later calls consumed. The numbers are read off the traces by hand."""

from __future__ import annotations

from dataclasses import replace

from tests.toolenv.feasibility.office import (
    CANCEL,
    FIND,
    LIST,
    LOOK,
    MOVE,
    ORDER_LIST,
    THINK,
    call,
    play,
    task_named,
)
from toolenv.feasibility.dependence import Dependence, Use, closure, is_grounded
from toolenv.task import Turn
from toolenv.trace import Trace
from toolenv.types import ChatMessage


def uses(task_id: str, trace: Trace) -> tuple[Use, ...]:
    return Dependence(task_named(task_id), trace).uses


def test_a_chain_of_lookups() -> None:
    # The user says the email; the user id, the order's number and the item's id have to be looked up.
    trace = play("cancel-any", [FIND, ORDER_LIST, LOOK, CANCEL])
    assert uses("cancel-any", trace) == (
        Use(1, "user_id", "mia_li_3668", (0,)),
        Use(2, "order_id", "#w100", (1,)),
        Use(3, "order_id", "#w100", (1, 2)),
        Use(3, "item", "lamp_4711", (2,)),
    )


def test_what_the_user_said_depends_on_no_call() -> None:
    trace = play("cancel", [FIND, ORDER_LIST, LOOK, CANCEL])
    assert [use.place for use in uses("cancel", trace)] == ["user_id", "item"]


def test_what_the_agent_used_before_any_tool_showed_it_is_a_guess() -> None:
    trace = play("cancel-any", [LOOK, FIND, ORDER_LIST, CANCEL])
    assert [(use.consumer, use.place) for use in uses("cancel-any", trace)] == [
        (2, "user_id"),
        (3, "item"),
    ]


def test_what_the_documentation_says_is_known() -> None:
    task = task_named("cancel-any")
    trace = play("cancel-any", [FIND, ORDER_LIST, LOOK, CANCEL])
    tools = tuple(
        replace(tool, description="Such as lamp_4711.") if tool.name == "cancel_item" else tool
        for tool in task.tools
    )
    assert "item" not in [use.place for use in Dependence(replace(task, tools=tools), trace).uses]


def test_a_text_that_no_result_holds_depends_by_its_tokens() -> None:
    note = call("think", thought="The item lamp_4711 costs 1250.50.")
    trace = play("cancel", [LOOK, note, CANCEL])
    assert uses("cancel", trace)[:2] == (
        Use(1, "thought", "lamp_4711", (0,)),
        Use(1, "thought", "1250.50", (0,)),
    )


def test_what_a_later_user_turn_says_is_known_from_then_on() -> None:
    task = replace(
        task_named("cancel-any"), turns=(Turn((ChatMessage("user", "It is lamp_4711 of #W100."),)),)
    )
    trace = play("cancel-any", [FIND, ORDER_LIST, LOOK, CANCEL])
    later = replace(
        trace, steps=tuple(step._replace(turn=int(at >= 3)) for at, step in enumerate(trace.steps))
    )
    assert [(use.consumer, use.place) for use in Dependence(task, later).uses] == [
        (1, "user_id"),
        (2, "order_id"),
    ]


def test_what_a_simulated_user_answers_is_known_from_then_on() -> None:
    trace = play("cancel-any", [FIND, ORDER_LIST, LOOK, CANCEL])
    dependence = Dependence(task_named("cancel-any"), replace(trace, opening="The item is lamp_4711."))
    assert "item" not in [use.place for use in dependence.uses]
    assert dependence.asked_before(0).mentions("lamp_4711")


def test_a_slice_is_grounded_if_one_producer_of_each_value_is_in_it() -> None:
    found = uses("cancel-any", play("cancel-any", [FIND, ORDER_LIST, LOOK, CANCEL]))
    assert is_grounded(found, {0, 1, 2, 3})
    assert not is_grounded(found, {1, 2, 3})
    assert not is_grounded(found, {3})
    assert is_grounded(found, set())


def test_the_backward_slice_leaves_out_what_feeds_nothing() -> None:
    trace = play("cancel-any", [THINK, LIST, FIND, ORDER_LIST, LOOK, CANCEL])
    assert closure(uses("cancel-any", trace), {5}) == {2, 3, 4, 5}
    moving = play("put-away", [LIST, MOVE])
    assert closure(uses("put-away", moving), {1}) == {1}
