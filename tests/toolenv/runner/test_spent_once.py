"""An episode that goes on from a recorded one: what of its tokens is whose, by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.toy import toy_source
from toolenv import Message, Policy, Rollout, ToolCall, ToolCalls, ToolEnv, Usage, rollout
from toolenv.errors import ContextWindowError, ServerError
from toolenv.facts.roles import role_usage
from toolenv.ledger import write_ledger
from toolenv.runner.costs import Price, Tariff
from toolenv.runner.retrying import joined
from toolenv.trace import Trace
from toolenv.types import Action, Observation
from toolenv.wrappers import GoOn

PRICES = {"big": Price(2.0, 10.0, 2.0), "small": Price(1.0, 1.0, 1.0)}
PAIR = Tariff(PRICES, {"planner.model": "big", "executor.model": "small"})
MILLION = 1_000_000


class Pair:
    """A decision costs a planner 100 + 10 tokens and an executor 50 + 5; it pays ``amounts``, then ends."""

    name = "pair"

    def __init__(self, *amounts: int, then: Exception | None = None) -> None:
        self.amounts, self.then = amounts, then

    def act(self, observation: Observation, memory: Any) -> tuple[Action, int]:
        at = memory or 0
        if at == len(self.amounts) and self.then is not None:
            raise self.then
        action: Action = Message("Done.")
        if at < len(self.amounts):
            action = ToolCalls((ToolCall("pay", {"account": "A1", "amount": self.amounts[at]}),))
        return write_ledger(action, {"planner": Usage(100, 10), "executor": Usage(50, 5)}, {}), at + 1


def played(policy: Policy) -> Rollout:
    return rollout(ToolEnv(toy_source()), policy, seed=5, task_id="pay-7")


def gone_on(recorded: Trace, policy: Policy) -> Rollout:
    env = GoOn(ToolEnv(toy_source()), "tts", lambda *_: recorded, lambda _: "Go on.", 10)
    return rollout(env, policy, seed=5, task_id="pay-7")


def test_each_role_is_paid_once() -> None:
    """Two decisions at first, three further ones; the trajectory is all five."""
    base = played(Pair(3))
    further = gone_on(base.trace, Pair(1, 3))
    assert further.episode.success is True
    each = {"planner": (100 * 2 + 10 * 10) / MILLION, "executor": (50 + 5) / MILLION}
    assert PAIR.by_role(base.trace) == {role: pytest.approx(2 * cost) for role, cost in each.items()}
    assert PAIR.by_role(further.trace) == {role: pytest.approx(3 * cost) for role, cost in each.items()}
    assert (further.episode.input_tokens, further.episode.output_tokens) == (5 * 150, 5 * 15)
    assert {role: one.input_tokens for role, one in further.episode.roles.items()} == {
        "planner": 500,
        "executor": 250,
    }
    assert further.trace.usage_before == base.trace.usage
    assert further.trace.usage_before + further.trace.own.usage == further.trace.usage


def test_tokens_that_led_to_no_decision_stay_where_they_were_lost() -> None:
    base = played(Pair(3, then=ContextWindowError("too long", Usage(700, 0))))
    further = gone_on(base.trace, Pair(4, then=ContextWindowError("still too long", Usage(900, 0))))
    trace = Trace.from_json(further.trace.to_json())
    assert (trace.usage_before.input_tokens, trace.own.usage.input_tokens) == (150 + 700, 150 + 900)
    assert {role: one.input_tokens for role, one in role_usage(trace).items()} == {
        "planner": 200,
        "executor": 100,
        "agent": 1600,
    }
    again = ToolEnv(toy_source())
    again.reset(options={"trace": trace})
    assert (again.trace, again.trace.own.usage) == (trace, trace.own.usage)


def test_a_thrown_away_play_costs_its_own_decisions_alone() -> None:
    base = played(Pair(3))
    lost = gone_on(base.trace, Pair(1, then=ServerError("gone", Usage(30, 3), trouble="server/timeout")))
    good = gone_on(base.trace, Pair(4))
    one = joined([lost], good)
    assert one.trace.own.usage.input_tokens == (150 + 30) + 2 * 150
    assert one.trace.own.usage.retried_input_tokens == 180
    assert one.episode.input_tokens == 2 * 150 + (150 + 30) + 2 * 150


def test_what_does_not_repeat_has_cost_nothing_here() -> None:
    """The recorded decisions were taken again, up to the one that met another world; nobody was asked."""
    base = played(Pair(3)).trace
    steps = (
        base.steps[0]._replace(results=(base.steps[0].results[0]._replace(content="other"),)),
        base.steps[1],
    )
    found = gone_on(replace(base, steps=steps), Pair(4))
    assert (found.episode.decided_by, found.episode.trouble.name) == (
        "environment_error",
        "environment/replay",
    )
    assert found.trace.usage.input_tokens == 2 * 150
    assert (found.trace.own.usage.input_tokens, PAIR.of(found.trace)) == (0, 0)
