"""The majority's decision, worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.agents.parts import Watched, balance, notes, pay, say, stop
from tests.support.toy import TOOLS, toy_source
from toolenv import ToolEnv, rollout
from toolenv.agents.oracle import Oracle
from toolenv.agents.planner import PlannerExecutor
from toolenv.agents.scripted import Scripted
from toolenv.agents.vote import Vote, majority
from toolenv.errors import ServerError, UsageError
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
TORN = Malformed("{", "not JSON")


@pytest.mark.parametrize(
    ("votes", "decision"),
    [
        ([pay(7), stop("a"), stop("b")], Stop("a")),
        ([stop("a"), pay(7), pay(8)], pay(7)),  # two would act, though differently
        ([pay(8), pay(7), pay(7)], pay(7)),
        ([pay(8), pay(7)], pay(8)),  # a tie: the first
        ([pay(7), stop("a")], pay(7)),
        ([stop("a"), pay(7)], Stop("a")),
        ([say("Yes."), say("No."), say("No. ")], Message("No.")),
        ([say("STOP: a"), stop("b"), pay(7)], Message("STOP: a")),
        ([TORN, TORN, stop("a")], Stop("a")),  # what cannot be read is no vote
        ([TORN, TORN], TORN),
        ([TORN, pay(7), stop("a")], pay(7)),
        ([pay(7)], pay(7)),
    ],
)
def test_majorities(votes: Sequence[Action], decision: Action) -> None:
    assert majority(votes) == decision


def test_calls_are_one_vote_whatever_the_order_of_their_arguments() -> None:
    turned = ToolCalls((ToolCall("pay", {"amount": 7, "account": "A1"}, "id-9"),))
    assert majority([balance(), pay(7), turned]) == pay(7)
    odd = ToolCalls((ToolCall("pay", {"account": float("nan")}),))
    assert majority([odd, pay(7), pay(7)]) == pay(7)


def test_all_votes_are_paid_for_and_counted() -> None:
    voters = [Watched(pay(7, 100, 10)), Watched(stop("a", 100, 5)), Watched(stop("b", 100, 6))]
    action, _ = Vote(voters).act(ASKED, None)
    assert action == Stop("a")
    assert action.usage == Usage(300, 21, generations=3)
    assert notes(action)["votes"] == {"calls": 1, "stop": 2}


def test_each_voter_has_a_memory_and_a_script_of_its_own() -> None:
    done = say("Paid.")
    voters = [Scripted([pay(7), done]), Scripted([stop("a")]), Scripted([pay(7), done])]
    played = rollout(ToolEnv(toy_source()), Vote(voters), seed=0, task_id="pay-7")
    assert played.episode.success
    assert [type(step.action) for step in played.trace.steps] == [ToolCalls, Message]
    assert played.episode.agent == "vote(scripted,scripted,scripted)"


def test_a_voter_that_is_told_the_truth_is_told_it() -> None:
    vote = Vote([Oracle()] * 3)
    assert vote.name == "vote(3,oracle)"
    for condition in ("clean", "infeasible"):
        played = rollout(ToolEnv(toy_source(condition)), vote, seed=0, task_id="two-turns")
        assert played.episode.reward == 1.0


def test_roles_of_pairs_are_added_up() -> None:
    def pair(decision: Action) -> PlannerExecutor:
        return PlannerExecutor(Watched(say("1. pay", 10, 1), say("call pay", 20, 2)), Watched(decision))

    action, _ = Vote([pair(pay(7, 30, 3)), pair(pay(8, 30, 4)), pair(pay(7, 30, 5))]).act(ASKED, None)
    assert action == pay(7)
    roles = notes(action)["roles"]
    spent = {role: (roles[role]["input_tokens"], roles[role]["output_tokens"]) for role in roles}
    assert spent == {"planner": (90, 9), "executor": (90, 12)}
    assert notes(action)["planning"] == ["1. pay", "call pay"]


def test_a_voter_s_failure_keeps_the_others_tokens() -> None:
    def fail() -> Action:
        raise ServerError("busy", Usage(5, 0))

    with pytest.raises(ServerError) as raised:
        Vote([Watched(pay(7, 100, 10)), Watched(fail), Watched(pay(7, 100, 10))]).act(ASKED, None)
    assert raised.value.usage == Usage(105, 10, generations=2)


def test_no_voter_is_no_vote() -> None:
    with pytest.raises(UsageError, match="no voter"):
        Vote([])
