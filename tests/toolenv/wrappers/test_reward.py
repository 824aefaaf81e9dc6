"""``info["is_success"]`` is what FASS counts, and own rewards reach the sums."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest

from tests.support.toy import toy_source
from toolenv import Action, Message, Stop, ToolCall, ToolCalls, ToolEnv
from toolenv.errors import UsageError
from toolenv.wrappers import RecordReward, RewardOutcomes

CRASH = ToolCalls((ToolCall("crash"),))
PAY = ToolCalls((ToolCall("pay", {"account": "A1", "amount": 7}),))


@pytest.mark.parametrize(
    ("condition", "actions", "counted", "solved"),
    [
        ("clean", (PAY, Message("Paid.")), 1.0, True),
        ("clean", (Message("Paid."),), 0.0, False),
        ("clean", (Stop("no tool pays"),), 0.0, False),
        ("infeasible", (Stop("no tool pays"),), 1.0, False),
        ("infeasible", (Message("Paid."),), 0.0, False),
        ("clean", (CRASH,), math.nan, None),
        ("infeasible", (CRASH,), math.nan, None),
    ],
)
def test_success_is_what_fass_counts(
    condition: str, actions: tuple[Action, ...], counted: float, solved: bool | None
) -> None:
    """Appendix D of paper 1: solved, or rightly stopped; an invalid episode is no outcome."""
    env = RecordReward(ToolEnv(toy_source(condition)))
    env.reset(seed=1, options={"task_id": "pay-7"})
    for action in actions:
        _, reward, *_, info = env.step(action)
    assert info["is_success"] == pytest.approx(counted, nan_ok=True)
    assert reward == pytest.approx(counted, nan_ok=True), "with the rewards as they are, the same"
    assert info["verdict"]["success"] is solved


@pytest.mark.parametrize(
    ("rewards", "why"),
    [
        ({"falsestop": 1}, "unknown reward 'falsestop' in RewardOutcomes; did you mean 'false_stop'"),
        ({"xyzzy": 1}, "known: correct_stop, failure, false_continue, false_stop, success"),
        ({"false_stop": "x"}, "reward false_stop=str 'x': give a finite number"),
        ({"success": math.nan}, "reward success=float nan: give"),
        ({"failure": -math.inf}, "reward failure=float -inf: give"),
        ({"failure": None}, "reward failure=NoneType None: give"),
        ({"correct_stop": True}, "reward correct_stop=bool True: give"),
    ],
)
def test_what_cannot_be_paid_is_refused(rewards: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        RewardOutcomes(ToolEnv(toy_source("clean")), **rewards)


@pytest.mark.parametrize("reward", [-1, numpy.float32(-0.5), numpy.int64(-2)])
def test_any_finite_number_is_paid(reward: Any) -> None:
    env = RewardOutcomes(ToolEnv(toy_source("clean")), false_stop=reward)
    env.reset(seed=1, options={"task_id": "pay-7"})
    assert env.step(Stop("no"))[1] == reward
