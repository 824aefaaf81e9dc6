"""``info["is_success"]`` is what FASS counts, and own rewards reach the sums."""

from __future__ import annotations

import math

import pytest

from tests.support.toy import toy_source
from toolenv import Action, Message, Stop, ToolCall, ToolCalls, ToolEnv
from toolenv.wrappers import RecordReward

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
