"""Asked again with a reflection, once, and never at the cost of a token."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from tests.agents.parts import Watched, balance, notes, pay, say, stop
from tests.support.toy import TOOLS, toy_source
from toolenv import ToolEnv, rollout
from toolenv.agents.planner import PlannerExecutor
from toolenv.agents.retry import Retry
from toolenv.agents.scripted import Scripted
from toolenv.agents.wire import to_openai_messages
from toolenv.errors import UsageError
from toolenv.types import (
    Action,
    ChatMessage,
    Malformed,
    Message,
    Observation,
    Stop,
    ToolCall,
    ToolCalls,
    Usage,
)

ASKED = Observation((ChatMessage("user", "Pay 7."),), TOOLS, 4)


def torn(tokens_in: int, tokens_out: int) -> Malformed:
    return Malformed('{"name": "pay"', "not valid JSON", usage=Usage(tokens_in, tokens_out))


def test_field_011_tokens_of_a_retry_by_hand() -> None:
    """The case's four generations: 620 in, 100 out, of which 160 were wasted; the tool then fails."""
    crash = ToolCalls((ToolCall("crash"),), usage=Usage(220, 40))
    script = Scripted([balance(100, 20), torn(150, 10), balance(150, 30), crash])
    played = rollout(ToolEnv(toy_source()), Retry(script), seed=0, task_id="pay-7")
    assert played.trace.ending == "environment_error"
    assert [type(step.action) for step in played.trace.steps] == [ToolCalls] * 3
    usage = played.trace.usage
    assert usage.total_tokens == 720
    assert (usage.input_tokens, usage.output_tokens, usage.generations) == (620, 100, 4)
    assert usage.retried_input_tokens + usage.retried_output_tokens == 160
    assert (played.episode.input_tokens, played.episode.output_tokens) == (620, 100)


@pytest.mark.parametrize(
    ("attempt", "problem"),
    [
        (torn(1, 1), "not valid JSON"),
        (ToolCalls((ToolCall("refund"),)), "there is no tool named 'refund'"),
        (ToolCalls((ToolCall("pay", {}, problem="the arguments cannot be read"),)), "cannot be read"),
        (pay("seven"), "amount"),
        (ToolCalls((ToolCall("pay", {"account": "A1"}),)), "amount"),
        (ToolCalls((ToolCall("pay", {"account": float("nan"), "amount": 1}),)), "nan is no JSON number"),
        (ToolCalls(()), "without any call"),
    ],
    ids=["malformed", "unknown tool", "unreadable", "wrong type", "missing", "no JSON", "no calls"],
)
def test_what_is_certain_to_fail_is_asked_again(attempt: Action, problem: str) -> None:
    inner = Watched(attempt, pay(7))
    action, _ = Retry(inner).act(ASKED, None)
    assert action == pay(7)
    assert problem in notes(action)["retried"][0]
    assert problem in inner.seen[1].messages[-1].content
    assert "what went wrong" in inner.seen[1].messages[-1].content
    assert inner.memories == [None, 0]


@pytest.mark.parametrize("answer", [pay(7), pay("7"), say("Done."), stop("payment")])
def test_what_may_work_is_taken_at_once(answer: Action) -> None:
    """``"7"`` for an integer too: suites that convert arguments take it."""
    inner = Watched(answer)
    action, _ = Retry(inner).act(ASKED, None)
    assert action == answer
    assert len(inner.seen) == 1
    assert action.usage == Usage()


def test_a_second_failure_is_taken_as_it_is() -> None:
    action, _ = Retry(Watched(torn(150, 10), torn(160, 11))).act(ASKED, None)
    assert isinstance(action, Malformed)
    assert action.usage == Usage(310, 21, 0, 0, 150, 10, generations=2)
    assert notes(action)["retried"] == ["not valid JSON"]


def test_more_times() -> None:
    inner = Watched(torn(1, 1), torn(2, 2), pay(7, 4, 4))
    action, _ = Retry(inner, times=2).act(ASKED, None)
    assert action == pay(7)
    assert action.usage == Usage(7, 7, 0, 0, 3, 3, generations=3)
    assert len(inner.seen[2].messages) == 5


@pytest.mark.parametrize("error", ["Error: no account A9", '{"error": "no account A9"}'])
@pytest.mark.parametrize("change", [0, 1])
def test_a_call_just_answered_with_an_error_is_not_made_again_unchanged(error: str, change: int) -> None:
    """FIELD-013: a small model repeats the same bad call until its budget runs out."""
    failed = ToolCall("pay", {"account": "A9", "amount": 7}, "call00000")
    messages = (
        ChatMessage("user", "Pay 7."),
        ChatMessage("assistant", "", (failed,)),
        ChatMessage("tool", error, (), "call00000"),
    )
    again = ToolCalls((ToolCall("pay", {"amount": 7 + change, "account": "A9"}),))
    inner = Watched(again, say("There is no such account."))
    action, _ = Retry(inner).act(Observation(messages, TOOLS, 3), None)
    assert action == (again if change else Message("There is no such account."))


def test_the_same_call_may_be_made_again_where_it_went_well() -> None:
    messages = (
        ChatMessage("user", "Pay 7 twice."),
        ChatMessage("assistant", "", (ToolCall("pay", {"account": "A1", "amount": 7}, "call00000"),)),
        ChatMessage("tool", '{"account": "A1", "balance": 93}', (), "call00000"),
    )
    inner = Watched(pay(7))
    assert Retry(inner).act(Observation(messages, TOOLS, 3), None)[0] == pay(7)
    assert len(inner.seen) == 1


def test_attempts_stay_in_sight_and_in_legal_form() -> None:
    both = ToolCalls((ToolCall("refund"), *pay(7).calls), "I will refund it.")
    inner = Watched(both, pay(7), say("Paid."))
    retry = Retry(inner)
    _, memory = retry.act(ASKED, None)
    paid = (
        *ASKED.messages,
        ChatMessage("assistant", "", (ToolCall("pay", {"account": "A1", "amount": 7}, "call00000"),)),
        ChatMessage("tool", "93", (), "call00000"),
    )
    action, _ = retry.act(Observation(paid, TOOLS, 3), memory)
    assert action == Message("Paid.")
    wire = to_openai_messages(inner.seen[2])
    assert [message["role"] for message in wire] == [
        *("user", "assistant", "tool", "tool"),
        *("assistant", "tool"),
    ]
    assert "no tool named 'refund'" in wire[2]["content"]
    assert wire[3]["content"].startswith("Error: not run")
    assert wire[5]["content"] == "93"


def test_around_a_pair_it_does_not_plan_again() -> None:
    planner = Watched(say("1. pay", 100, 20), say("1. call pay", 150, 10))
    pair = PlannerExecutor(planner, Watched(torn(200, 9), pay(7, 260, 15)))
    action, _ = Retry(pair).act(ASKED, None)
    assert action == pay(7)
    assert len(planner.seen) == 2
    roles = notes(action)["roles"]
    assert {role: roles[role]["input_tokens"] for role in roles} == {"planner": 250, "executor": 460}
    assert action.usage == Usage(710, 54, 0, 0, 450, 39, generations=4)


def test_a_stop_after_a_failed_attempt_is_a_stop() -> None:
    assert Retry(Watched(torn(1, 1), stop("payment"))).act(ASKED, None)[0] == Stop("payment")


def test_settings() -> None:
    assert Retry(Scripted([])).name == "retry(scripted)"
    assert Retry(Scripted([]), times=3).name == "retry(3,scripted)"
    with pytest.raises(UsageError, match="times=0"):
        Retry(Scripted([]), times=0)
    memory: Any = Retry(Watched(torn(1, 1), pay(7))).act(ASKED, None)[1]
    assert pickle.loads(pickle.dumps(memory)) == memory
