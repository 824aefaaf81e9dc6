"""Tokens of episodes by role."""

from __future__ import annotations

import math

import pytest

from tests.toolenv.metrics.test_tokens import episode
from toolenv.ledger import write_ledger
from toolenv.metrics.roles import role_usage, tc_early_stop_by_role
from toolenv.metrics.tokens import tc_early_stop
from toolenv.rollout import Rollout
from toolenv.trace import Step, Trace
from toolenv.types import Label, Message, Stop, ToolCall, ToolCalls, Usage


def trace(*ledgers: dict[str, Usage], lost: Usage | None = None) -> Trace:
    calls = ToolCalls((ToolCall("pay"),))
    steps = tuple(Step(0, write_ledger(calls, ledger, {})) for ledger in ledgers)
    return Trace("Toy", "infeasible", "t", 0, 4, steps, lost_usage=lost)


def stopped(
    number: int, made: Trace, label: Label = "infeasible", decision: Label = "infeasible", valid: bool = True
) -> Rollout:
    usage = made.usage
    return Rollout(
        episode(
            task_id=f"t{number}",
            label=label,
            decision=decision,
            valid=valid,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            estimated_tokens=usage.estimated,
        ),
        made,
    )


FIRST = {"planner": Usage(250, 30, generations=2), "executor": Usage(200, 15)}
LATER = {"executor": Usage(230, 5)}


def test_an_episode_by_role() -> None:
    made = trace(FIRST, LATER, lost=Usage(40, 0))
    assert role_usage(made) == {
        "planner": Usage(250, 30, generations=2),
        "executor": Usage(430, 20, generations=2),
        "agent": Usage(40, 0),
    }
    total = role_usage(made)
    assert total["planner"] + total["executor"] + total["agent"] == made.usage
    assert role_usage(Trace.from_json(made.to_json())) == role_usage(made)


def test_a_single_agent_s_episode_has_one_role() -> None:
    steps = (Step(0, Message("hi", usage=Usage(3, 4))), Step(0, Stop("no", usage=Usage(5, 6))))
    assert role_usage(Trace("Toy", "clean", "t", 0, 4, steps)) == {"agent": Usage(8, 10, generations=2)}
    assert role_usage(Trace("Toy", "clean", "t", 0, 4)) == {}


def test_a_role_without_part_in_an_episode_spent_nothing_there() -> None:
    """280 and 280 for the planner, 215 + 235 and 0 for the executor: 280 and 225, together 505."""
    both = [stopped(1, trace(FIRST, LATER)), stopped(2, trace({"planner": FIRST["planner"]}))]
    split = tc_early_stop_by_role(iter(both))
    assert {role: one.value for role, one in split.items()} == {"planner": 280, "executor": 225}
    assert {one.n for one in split.values()} == {2}
    assert sum(one.value for one in split.values()) == tc_early_stop([one.episode for one in both]).value
    assert math.isnan(split["planner"].low), "two equal costs tell no spread"
    assert split["executor"].low < 225 < split["executor"].high


def test_only_right_stops_of_valid_episodes_count() -> None:
    made = trace(FIRST)
    assert (
        tc_early_stop_by_role(
            [
                stopped(1, made, label="feasible"),
                stopped(2, made, decision="feasible"),
                stopped(3, made, valid=False),
            ]
        )
        == {}
    )


def test_unknown_counts_are_left_out_for_every_role_and_counted() -> None:
    unknown = trace({"planner": Usage(250, 30, generations=2), "executor": Usage(None, 15)})
    split = tc_early_stop_by_role([stopped(1, unknown), stopped(2, trace(FIRST))])
    assert {role: (one.value, one.n, one.excluded) for role, one in split.items()} == {
        "planner": (280, 1, 1),
        "executor": (215, 1, 1),
    }
    assert math.isnan(split["planner"].low)


def test_estimates_are_counted_by_role() -> None:
    guessed = trace({"planner": Usage(250, 30, estimated=True), "executor": Usage(200, 15)})
    split = tc_early_stop_by_role([stopped(1, guessed), stopped(2, trace(FIRST))])
    assert {role: one.estimated for role, one in split.items()} == {"planner": 1, "executor": 0}


@pytest.mark.parametrize("role", ["planner/planner", "voter"])
def test_roles_have_any_name(role: str) -> None:
    assert set(role_usage(trace({role: Usage(1, 1), "executor": Usage(1, 1)}))) == {role, "executor"}
