from __future__ import annotations

import math
from collections import Counter

import pytest

from tests.support.episodes import plain_episode as episode
from toolenv.episode import Episode
from toolenv.metrics.coverage import unresolved, with_coverage
from toolenv.metrics.rates import fass, fcr_strict, sr
from toolenv.metrics.tokens import tc_early_stop
from toolenv.types import Label


def valid(number: int, label: Label = "feasible", success: bool = True) -> list[Episode]:
    return [
        episode(task_id=f"{label}-{i}", label=label, valid=True, success=success, decided_by="message")
        for i in range(number)
    ]


FEASIBLE: frozenset[Label] = frozenset({"feasible"})
INFEASIBLE: frozenset[Label] = frozenset({"infeasible"})


def invalid(number: int, label: Label = "feasible") -> list[Episode]:
    return [
        episode(
            task_id=f"broken-{label}-{i}", label=label, valid=False, success=None, decided_by="server_error"
        )
        for i in range(number)
    ]


def test_field_009_one_success_of_twenty_is_not_100_percent() -> None:
    episodes = valid(1) + invalid(19)
    estimate = with_coverage(sr(episodes), sr, episodes, unresolved(episodes, 20, FEASIBLE))
    assert math.isnan(estimate.value)
    assert (estimate.low, estimate.high) == (1 / 20, 20 / 20)
    assert (estimate.n, estimate.withheld, estimate.method) == (1, True, "worst case")


def test_field_009_episodes_never_finished_are_as_unknown_as_invalid_ones() -> None:
    episodes = valid(1) + invalid(9)
    estimate = with_coverage(sr(episodes), sr, episodes, unresolved(episodes, 20, FEASIBLE))
    assert (estimate.low, estimate.high, estimate.withheld) == (1 / 20, 20 / 20, True)


@pytest.mark.parametrize(("good", "bad", "withheld"), [(18, 2, False), (17, 2, True), (20, 0, False)])
def test_the_floor_is_90_percent(good: int, bad: int, withheld: bool) -> None:
    episodes = valid(good) + invalid(bad)
    plain = sr(episodes)
    shown = with_coverage(plain, sr, episodes, unresolved(episodes, good + bad, FEASIBLE))
    assert shown.withheld is withheld
    assert withheld or shown == plain


def test_nothing_but_invalid_episodes_leaves_everything_open() -> None:
    episodes = invalid(4)
    estimate = with_coverage(sr(episodes), sr, episodes, unresolved(episodes, 4, FEASIBLE))
    assert (estimate.low, estimate.high, estimate.n, estimate.withheld) == (0, 1, 0, True)


def test_a_metric_of_the_other_label_is_not_touched() -> None:
    episodes = valid(1) + invalid(19)
    estimate = with_coverage(fcr_strict(episodes), fcr_strict, episodes, unresolved(episodes, 20, FEASIBLE))
    assert (estimate.n, estimate.withheld) == (0, False)
    assert math.isnan(estimate.low)


def test_each_metric_is_judged_by_its_own_episodes() -> None:
    """96 of 104 in all, but 2 of 10 infeasible ones."""
    episodes = valid(94) + valid(2, "infeasible", False) + invalid(8, "infeasible")
    absent = unresolved(episodes, 104, FEASIBLE)
    assert absent == Counter({frozenset({"infeasible"}): 8})
    assert not with_coverage(sr(episodes), sr, episodes, absent).withheld
    assert not with_coverage(fass(episodes), fass, episodes, absent).withheld
    false_continues = with_coverage(fcr_strict(episodes), fcr_strict, episodes, absent)
    assert (false_continues.low, false_continues.high) == (2 / 10, 10 / 10)


def test_missing_episodes_of_a_mixed_env_may_be_either() -> None:
    episodes = valid(1) + valid(1, "infeasible", False)
    absent = unresolved(episodes, 4, FEASIBLE | INFEASIBLE)
    assert with_coverage(sr(episodes), sr, episodes, absent).low == 1 / 3
    assert with_coverage(fcr_strict(episodes), fcr_strict, episodes, absent).low == 1 / 3


def test_a_mean_has_no_worst_case() -> None:
    episodes = valid(1, "infeasible", False) + invalid(9, "infeasible")
    cost = with_coverage(
        tc_early_stop(episodes), tc_early_stop, episodes, unresolved(episodes, 10, INFEASIBLE)
    )
    assert cost.withheld
    assert math.isnan(cost.value)
    assert math.isnan(cost.high)
