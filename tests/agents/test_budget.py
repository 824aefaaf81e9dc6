"""A budget of tokens for an episode."""

from __future__ import annotations

import pytest

from tests.agents.parts import Watched, balance, notes, say
from tests.support.toy import TOOLS, toy_source
from toolenv import Message, Observation, Stop, ToolCalls, ToolEnv, rollout
from toolenv.agents.budget import Budget
from toolenv.agents.planner import PlannerExecutor
from toolenv.agents.scripted import Scripted
from toolenv.errors import PreflightError, UsageError
from toolenv.types import ChatMessage, Usage

ASKED = Observation((ChatMessage("user", "Pay 7."),), TOOLS, 4)
SPENDER = Scripted([balance(90, 10)] * 9)


def test_field_005_a_spent_budget_is_no_recognition() -> None:
    """Three decisions of 100 tokens: 250 are spent after the third, which overdraws them."""
    env = ToolEnv(toy_source("infeasible", max_turns=9))
    played = rollout(env, Budget(250, SPENDER), seed=0, task_id="pay-7")
    assert [type(step.action) for step in played.trace.steps] == [ToolCalls] * 3 + [Message]
    assert (played.episode.decision, played.episode.lenient_decision) == ("feasible", "feasible")
    assert played.episode.tokens == 300
    last = played.trace.steps[-1].action
    assert notes(last) == {"closed": "budget", "spent": 300}
    assert last.usage == Usage(0, 0, generations=0)


def test_a_budget_that_is_just_met_is_spent() -> None:
    played = rollout(ToolEnv(toy_source(max_turns=9)), Budget(200, SPENDER), seed=0, task_id="pay-7")
    assert [type(step.action) for step in played.trace.steps] == [ToolCalls] * 2 + [Message]


def test_stopping_instead_is_asked_for() -> None:
    env = ToolEnv(toy_source("infeasible", max_turns=9))
    played = rollout(env, Budget(150, SPENDER, ending="stop"), seed=0, task_id="pay-7")
    assert played.trace.steps[-1].action == Stop("the budget of 150 tokens is spent (200)")
    assert played.episode.decision == "infeasible"


def test_every_user_turn_is_closed() -> None:
    played = rollout(ToolEnv(toy_source()), Budget(1, SPENDER), seed=0, task_id="two-turns")
    assert [type(step.action) for step in played.trace.steps] == [ToolCalls, Message, Message]
    assert [step.turn for step in played.trace.steps] == [0, 0, 1]


def test_each_episode_has_its_own() -> None:
    env = ToolEnv(toy_source(max_turns=9))
    budget = Budget(250, SPENDER)
    assert {rollout(env, budget, seed=0, task_id="pay-7").episode.tokens for _ in range(3)} == {300}


def test_a_planner_s_tokens_count() -> None:
    pair = PlannerExecutor(Watched(say("1.", 100, 20), say("2.", 150, 10)), Watched(balance(10, 1)))
    played = rollout(ToolEnv(toy_source(max_turns=9)), Budget(281, pair), seed=0, task_id="pay-7")
    assert [type(step.action) for step in played.trace.steps] == [ToolCalls, Message]


def test_tokens_that_nobody_counts_cannot_be_budgeted() -> None:
    """Unknown is never 0 (FIELD-012): a server's silence is its failure, a policy's its maker's mistake."""
    silent = rollout(ToolEnv(toy_source()), Budget(100, Watched(balance())), seed=0, task_id="pay-7")
    assert (silent.episode.valid, silent.trace.ending) == (False, "server_error")
    assert "did not report" in silent.episode.error
    with pytest.raises(UsageError, match=r"budget\(100,guess\).*policy 'guess' gives none"):
        Budget(100, Watched(Message("Done."), name="guess")).act(ASKED, None)


class Checked(Scripted):
    def __init__(self, cost: Usage) -> None:
        super().__init__([], "checked")
        self.cost = cost

    def preflight(self) -> Usage:
        return self.cost


def test_preflight_shows_whether_tokens_are_counted() -> None:
    assert Budget(100, Checked(Usage(20, 2))).preflight() == Usage(20, 2)
    assert Budget(100, Scripted([])).preflight() == Usage(0, 0, generations=0)
    with pytest.raises(PreflightError, match="reports none"):
        Budget(100, Checked(Usage())).preflight()


def test_bad_budgets() -> None:
    with pytest.raises(UsageError, match="tokens=0"):
        Budget(0, SPENDER)
    with pytest.raises(UsageError, match="unknown ending 'halt'"):
        Budget(1, SPENDER, ending="halt")  # type: ignore[arg-type]
    assert Budget(5, SPENDER, ending="stop").name == "budget(5,stop,scripted)"
