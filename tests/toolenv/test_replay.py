"""Recorded episodes played again: exactly the same ones, or an error; and how they go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.support.toy import Bank, Toy, toy_source
from toolenv import (
    Action,
    Malformed,
    Message,
    Observation,
    Rollout,
    Stop,
    ToolCall,
    ToolCalls,
    ToolEnv,
    Usage,
    rollout,
)
from toolenv.errors import ContextWindowError, ReplayError, UnknownNameError, UsageError
from toolenv.judge import judge
from toolenv.task import Task
from toolenv.trace import Trace
from toolenv.types import ChatMessage


class Playing:
    """Makes decisions one after the other; an exception among them is raised instead."""

    name = "playing"

    def __init__(self, decisions: Sequence[Any]) -> None:
        self.decisions = decisions

    def act(self, observation: Observation, memory: Any) -> tuple[Action, int]:
        at = memory or 0
        if isinstance(self.decisions[at], Exception):
            raise self.decisions[at]
        return self.decisions[at], at + 1


def pay(amount: Any, account: str = "A1") -> ToolCalls:
    return ToolCalls((ToolCall("pay", {"account": account, "amount": amount}),), usage=Usage(10, 2))


def played(*decisions: Any, task_id: str = "pay-7", env: ToolEnv | None = None) -> Rollout:
    return rollout(env or ToolEnv(toy_source()), Playing(decisions), seed=5, task_id=task_id)


ENDINGS: dict[str, tuple[Any, ...]] = {
    "message": (pay(3), Message("Paid.")),
    "stop": (pay(3), Stop("no tool", 0.9)),
    "a phrase": (Message("I must stop: a required tool is missing."),),
    "truncated": tuple(pay(1) for _ in range(4)),
    "malformed and truncated": (
        pay(1),
        Malformed("{oops", "no JSON"),
        pay(1),
        Malformed("", "cut", "length"),
    ),
    "context window": (pay(1), ContextWindowError("too long", Usage(7, 0))),
    "context window at once": (ContextWindowError("too long", Usage(7, 0)),),
    "errors": (pay("three"), pay(1, "C3"), ToolCalls((ToolCall("nothing"),)), Message("Sorry.")),
    "mended": (pay(1, "A\ud8001"), Message("Paid \ud800.")),
}


@pytest.mark.parametrize("decisions", ENDINGS.values(), ids=ENDINGS)
def test_an_episode_repeats_to_the_byte(decisions: tuple[Any, ...]) -> None:
    trace = Trace.from_json(played(*decisions).trace.to_json())
    env = ToolEnv(toy_source())
    env.reset(options={"trace": trace})
    assert env.trace.to_json() == trace.to_json()


def test_later_user_turns_repeat() -> None:
    trace = played(Message("Wait."), pay(3), Message("Done."), task_id="two-turns").trace
    env = ToolEnv(toy_source())
    observation, _ = env.reset(options={"trace": trace})
    assert env.trace == trace
    assert [one.content for one in observation.messages if one.role == "user"] == [
        "Pay 7 from A1.",
        "Now you can pay.",
    ]


def go_on(trace: Trace, *decisions: Any, rounds: int = 2) -> Trace:
    env = ToolEnv(toy_source())
    env.reset(options={"trace": trace})
    env.go_on("tts", "Go on.", rounds)
    for decision in decisions:
        env.step(decision)
    return env.trace


@pytest.mark.parametrize(
    "ending",
    ["message", "stop", "truncated", "malformed and truncated", "context window", "context window at once"],
)
def test_an_episode_goes_on_where_it_ended(ending: str) -> None:
    """The world is as it was left: 93 is reached by paying the rest of 7."""
    trace = played(*ENDINGS[ending]).trace
    assert judge(toy_source().get("pay-7"), trace).success is False
    paid = sum(call.arguments["amount"] for call, _ in trace.calls())
    further = go_on(trace, pay(7 - paid), Message("Paid."))
    assert judge(toy_source().get("pay-7"), further).success is True
    assert further.continuation is not None
    assert (further.continuation.steps, further.continuation.ending) == (len(trace.steps), trace.ending)
    assert (len(further.steps), len(further.checkpoints), further.ending) == (
        len(trace.steps) + 2,
        1,
        "message",
    )


def test_the_agent_sees_what_went_before_and_the_message_last() -> None:
    env = ToolEnv(toy_source())
    trace = played(*ENDINGS["stop"]).trace
    before, _ = env.reset(options={"trace": trace})
    after = env.go_on("hint", "The tool is slow.", 10)
    assert after.messages == (*before.messages, ChatMessage("user", "The tool is slow."))
    assert (after.turns_left, before.messages[-1].content) == (10, "STOP: no tool")


def test_the_further_decisions_run_out() -> None:
    trace = go_on(played(*ENDINGS["message"]).trace, pay(1), pay(1), rounds=2)
    assert (trace.ending, len(trace.steps)) == ("truncated", 4)


def test_later_user_turns_come_and_share_the_further_decisions() -> None:
    """Cut off in the first of two user turns; of four further decisions two are left for the second."""
    balance = ToolCalls((ToolCall("accounts.balance", {"account": "A1"}),))
    trace = played(*[balance] * 4, task_id="two-turns").trace
    env = ToolEnv(toy_source())
    env.reset(options={"trace": trace})
    env.go_on("tts", "Go on.", 4)
    env.step(balance)
    observation, *_ = env.step(Message("Well?"))
    assert (observation.messages[-1].content, observation.turns_left) == ("Now you can pay.", 2)
    env.step(pay(7))
    _, reward, terminated, _, _ = env.step(Message("Paid."))
    assert (reward, terminated, len(env.trace.checkpoints)) == (1.0, True, 2)


def test_what_went_on_repeats_and_is_judged_alike() -> None:
    further = go_on(played(*ENDINGS["context window"]).trace, pay(6), Message("Paid."))
    trace = Trace.from_json(further.to_json())
    assert (trace, trace.usage) == (further, further.usage)
    assert further.usage.input_tokens is None  # of the closing message; what was lost before is kept beside
    assert further.continuation is not None
    assert (further.continuation.lost_usage, further.lost_usage) == (Usage(7, 0), None)
    env = ToolEnv(toy_source())
    env.reset(options={"trace": trace})
    assert env.trace == trace
    assert judge(env.task, env.trace) == judge(env.task, further)


def test_tokens_lost_before_and_after_add_up() -> None:
    env = ToolEnv(toy_source())
    env.reset(options={"trace": played(*ENDINGS["context window"]).trace})
    env.go_on("tts", "Go on.", 2)
    env.abort("context_window", "still too long", Usage(9, 0))
    trace = Trace.from_json(env.trace.to_json())
    assert (trace.usage_before.input_tokens, trace.own.usage.input_tokens) == (10 + 7, 9)
    assert (trace.usage.input_tokens, trace.usage.output_tokens) == (26, 2)
    again = ToolEnv(toy_source())
    again.reset(options={"trace": env.trace})
    assert again.trace == env.trace


def test_an_agents_own_chance_is_another_one_when_it_goes_on() -> None:
    first = played(*ENDINGS["message"]).trace
    assert first.policy_seed == first.seed == 5
    assert go_on(first).policy_seed not in (5, go_on(replace(first, seed=6)).policy_seed)


class Stingy(Toy):
    """The same tasks, and accounts with less in them."""

    def world(self, task: Task, seed: int) -> Bank:
        return Bank({"A1": 99, "B2": 5})


def test_another_world_does_not_pass_for_the_recorded_one() -> None:
    env = ToolEnv(toy_source(suite=Stingy()))
    with pytest.raises(
        ReplayError, match=r"'pay-7', seed 5 does not repeat: decision 0 meets .*96.*, not .*97"
    ):
        env.reset(options={"trace": played(*ENDINGS["message"]).trace})


def test_an_episode_that_ends_early_does_not_repeat() -> None:
    trace = played(*ENDINGS["message"]).trace
    longer = replace(trace, steps=(trace.steps[1], *trace.steps))
    with pytest.raises(ReplayError, match="ends by message, earlier than was recorded"):
        ToolEnv(toy_source()).reset(options={"trace": longer})


@pytest.mark.parametrize("ending", ["message", "stop", "truncated"])
def test_an_ending_without_its_decision_does_not_repeat(ending: str) -> None:
    """A trace whose last decisions were cut off holds the same results, world and ending as before."""
    trace = played(*ENDINGS[ending]).trace
    cut = replace(trace, steps=trace.steps[:-1])
    with pytest.raises(ReplayError, match=f"still runs where it was recorded to end by {ending}"):
        ToolEnv(toy_source()).reset(options={"trace": cut})


def test_bad_input() -> None:
    trace = played(*ENDINGS["message"]).trace
    env = ToolEnv(toy_source())
    with pytest.raises(UnknownNameError, match="did you mean 'pay-7'"):
        env.reset(options={"trace": replace(trace, task_id="pay-8")})
    with pytest.raises(UnknownNameError, match=r"reset option 'tracer'.*'trace'"):
        env.reset(options={"tracer": trace})
    env.reset(options={"trace": trace})
    with pytest.raises(UsageError, match="decisions: 0"):
        env.go_on("tts", "Go on.", 0)
    env.go_on("tts", "Go on.", 1)
    with pytest.raises(UsageError, match="it is running"):
        env.go_on("tts", "Go on.", 1)
    env.step(Message("Done."))
    with pytest.raises(UsageError, match="went on: True"):
        env.go_on("tts", "Go on.", 1)


class Caller:
    """A simulated user: asks to pay, says how much when asked, and hangs up at the word done."""

    name = "caller"

    def reply(self, task: Task, said: tuple[ChatMessage, ...], seed: int) -> str | None:
        if not said:
            return "I want to pay."
        return None if "done" in said[-1].content else f"Line {sum(one.role == 'user' for one in said)}."


def test_a_simulated_user_repeats_and_then_speaks_for_itself() -> None:
    suite = Toy()
    suite.user = Caller()  # type: ignore[attr-defined]
    decisions = (Message("How much?"), pay(3), Message("All done."))
    trace = played(*decisions, env=ToolEnv(toy_source(suite=suite))).trace
    assert (trace.opening, trace.steps[0].reply, trace.steps[2].reply) == ("I want to pay.", "Line 1.", None)
    env = ToolEnv(toy_source(suite=suite))
    env.reset(options={"trace": trace})
    assert env.trace == trace
    env.go_on("tts", "Go on.", 3)
    observation, *_ = env.step(Message("What else?"))
    # Its third line: the opening, the first answer and the message to go on were said before.
    assert observation.messages[-1].content == "Line 3."
    env.step(pay(4))
    env.step(Message("Now done."))
    assert judge(env.task, env.trace).success is True
    again = ToolEnv(toy_source(suite=suite))
    again.reset(options={"trace": env.trace})
    assert again.trace == env.trace
