from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import pytest

from tests.support.episodes import plain_episode
from toolenv.episode import Episode
from toolenv.metrics.tokens import tc_early_stop, tc_ratio, tc_task_failure
from toolenv.types import Label

episode = partial(plain_episode, env="ToolFeas/BFCL-infeasible-v0", success=False)


def episodes(decision: Label, totals: Sequence[int | None], label: Label = "infeasible") -> list[Episode]:
    return [
        episode(
            task_id=f"{decision}-{number}",
            label=label,
            decision=decision,
            input_tokens=None if total is None else total - 10,
            output_tokens=None if total is None else 10,
        )
        for number, total in enumerate(totals)
    ]


def test_costs_by_hand() -> None:
    some = [*episodes("infeasible", [1000, 2000, 3000]), *episodes("feasible", [6000, 10000])]
    assert (tc_early_stop(some).value, tc_early_stop(some).n) == (2000, 3)
    assert (tc_task_failure(some).value, tc_task_failure(some).n) == (8000, 2)
    assert (tc_ratio(some).value, tc_ratio(some).n) == (4, 5)
    for metric in (tc_early_stop, tc_task_failure, tc_ratio):
        assert metric(some).low < metric(some).value < metric(some).high


def test_only_infeasible_tasks_count() -> None:
    """§4.3: both costs are defined exclusively over infeasible tasks."""
    some = [*episodes("infeasible", [100], "feasible"), *episodes("feasible", [100], "feasible")]
    for metric in (tc_early_stop, tc_task_failure, tc_ratio):
        assert math.isnan(metric(some).value)
        assert metric(some).n == 0


def test_field_005_tokens_of_a_truncated_episode_are_a_cost_of_failure() -> None:
    cut = episode(
        task_id="cut",
        label="infeasible",
        decision="feasible",
        decided_by="truncated",
        turns=10,
        calls=10,
        input_tokens=900,
        output_tokens=100,
    )
    assert tc_task_failure([cut]).value == 1000
    assert tc_early_stop([cut]).n == 0


def test_field_012_unknown_counts_are_not_averaged_as_0() -> None:
    stops = [
        *episodes("infeasible", [None, 100]),
        episode(
            task_id="estimated",
            label="infeasible",
            decision="infeasible",
            input_tokens=290,
            output_tokens=10,
            estimated_tokens=True,
        ),
    ]
    cost = tc_early_stop(stops)
    assert (cost.value, cost.n, cost.excluded, cost.estimated) == (200, 2, 1, 1)
    ratio = tc_ratio([*stops, *episodes("feasible", [400, None])])
    assert (ratio.value, ratio.n, ratio.excluded, ratio.estimated) == (2, 3, 2, 1)


def test_field_012_a_half_known_count_is_unknown() -> None:
    half = episode(
        task_id="1", label="infeasible", decision="infeasible", input_tokens=100, output_tokens=None
    )
    assert (tc_early_stop([half]).n, tc_early_stop([half]).excluded) == (0, 1)


def test_invalid_episodes_cost_nothing() -> None:
    broken = episode(
        task_id="1", label="infeasible", decision="feasible", valid=False, input_tokens=1, output_tokens=1
    )
    assert tc_task_failure([broken]).n == 0


def test_an_agent_without_tokens_has_no_ratio() -> None:
    free = [*episodes("infeasible", [0, 0]), *episodes("feasible", [0, 0])]
    assert tc_early_stop(free).value == 0
    assert math.isnan(tc_ratio(free).value)
    assert tc_ratio(free).n == 0


def test_one_stop_has_a_cost_but_no_interval() -> None:
    cost = tc_early_stop(episodes("infeasible", [700]))
    assert cost.value == pytest.approx(700)
    assert math.isnan(cost.low)
