"""Which stops pass a gate."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.agents.parts import Watched, notes, pay, say, stop
from tests.support.toy import TOOLS, toy_source
from toolenv import ToolEnv, rollout
from toolenv.agents.planner import PlannerExecutor
from toolenv.agents.scripted import Scripted
from toolenv.agents.stop_gate import DOUBT, StopGate
from toolenv.agents.stops import confidence_of
from toolenv.errors import UsageError
from toolenv.types import Action, ChatMessage, Message, Observation, Stop, Usage

ASKED = Observation((ChatMessage("user", "Pay 7."),), TOOLS, 4)


def sure(confidence: float | None, reason: str = "payment") -> Stop:
    return replace(stop(reason, 100, 5), confidence=confidence)


@pytest.mark.parametrize(
    ("answers", "decision", "asked"),
    [
        ([sure(0.9)], sure(0.9), 1),
        ([sure(0.5)], sure(0.5), 1),  # at the threshold
        ([sure(None, "payment (confidence: 0.8)")], Stop("payment (confidence: 0.8)"), 1),
        ([pay(7)], pay(7), 1),
        ([say("Done.")], Message("Done."), 1),
        ([sure(0.4), pay(7)], pay(7), 2),
        ([sure(None), pay(7)], pay(7), 2),
        ([sure(0.4), sure(0.6)], sure(0.6), 2),
        ([sure(0.4), sure(0.4)], Message(""), 2),  # held back
        ([sure(None), sure(None)], Stop("payment"), 2),  # said twice
        ([sure(None), sure(None, "payment (confidence: 30%)")], Message(""), 2),
        ([sure(None), sure(None, "payment, confidence 0.7")], sure(0.7, "payment, confidence 0.7"), 2),
        ([say("STOP: payment"), say("STOP: no (confidence: 0.9)")], sure(0.9, "no (confidence: 0.9)"), 2),
    ],
)
def test_what_passes(answers: list[Action], decision: Action, asked: int) -> None:
    inner = Watched(*answers)
    action, _ = StopGate(0.5, inner).act(ASKED, None)
    assert action == decision
    assert len(inner.seen) == asked


def test_the_doubt_and_its_cost() -> None:
    inner = Watched(sure(0.2), pay(7, 160, 15))
    action, _ = StopGate(0.5, inner).act(ASKED, None)
    assert inner.seen[1].messages[1:] == (
        ChatMessage("assistant", "STOP: payment"),
        ChatMessage("user", DOUBT),
    )
    assert action.usage == Usage(260, 20, 0, 0, 100, 5, generations=2)
    assert notes(action) == {"doubted": "payment", "confidence": 0.2}


def test_a_stop_held_back_is_a_continue() -> None:
    gated = StopGate(0.5, Scripted([sure(0.1), sure(0.2)]))
    played = rollout(ToolEnv(toy_source("infeasible")), gated, seed=0, task_id="pay-7")
    assert (played.episode.decision, played.episode.decided_by) == ("feasible", "message")
    assert played.episode.tokens == 210
    assert notes(played.trace.steps[0].action)["held_back"] == "payment"
    assert notes(played.trace.steps[0].action)["closed"] == "stop_gate"


def test_around_a_pair_a_doubted_planner_plans_again() -> None:
    planner = Watched(say("1. pay", 10, 1), sure(None), say("1. pay", 10, 1), say("call pay", 10, 1))
    action, _ = StopGate(0.5, PlannerExecutor(planner, Watched(pay(7, 10, 1)))).act(ASKED, None)
    assert action == pay(7)
    assert len(planner.seen) == 4
    assert DOUBT in [message.content for message in planner.seen[2].messages]


@pytest.mark.parametrize(
    ("reason", "confidence"),
    [
        ("payment (confidence: 0.8)", 0.8),
        ("payment (confidence: 80%)", 0.8),
        ("payment. Confidence = .75", 0.75),
        ("payment; **Confidence:** 1", 1.0),
        ("I am confident 0.6 of it", 0.6),
        ("payment with confidence of 0.9", 0.9),
        ("payment (confidence: 8)", None),
        ("payment (confidence: high)", None),
        ("payment of 0.8", None),
        ("", None),
    ],
)
def test_stated_confidence(reason: str, confidence: float | None) -> None:
    assert confidence_of(Stop(reason)) == confidence
    assert confidence_of(Stop(reason, 0.3)) == 0.3


@pytest.mark.parametrize("threshold", [0.0, 1.5, -1.0, float("nan")])
def test_thresholds_that_make_no_gate(threshold: float) -> None:
    with pytest.raises(UsageError, match="threshold"):
        StopGate(threshold, Scripted([]))
