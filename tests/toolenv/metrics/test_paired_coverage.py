"""Pairs without an outcome, counted by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from tests.toolenv.metrics.test_comparison import BY_NAME, outcomes, played
from toolenv.episode import Episode
from toolenv.metrics.comparison import Comparison, compare, match
from toolenv.metrics.paired_coverage import Played, covered_comparison
from toolenv.types import Label


def compared(
    first: Sequence[Episode], second: Sequence[Episode], name: str = "sr", planned: int | None = None
) -> Comparison:
    found = compare(match(first, second)[0], BY_NAME[name])
    labels: frozenset[Label] = frozenset({"feasible"})
    sides = Played(first, planned or len(first), labels), Played(second, len(second), labels)
    return covered_comparison(found, BY_NAME[name], sides)


def broken(*tasks: int) -> list[Episode]:
    return [played(f"t{at}", None, valid=False) for at in tasks]


def test_nine_of_ten_pairs_are_enough() -> None:
    found = compared([*outcomes(*[1] * 9), *broken(9)], outcomes(*[0] * 10))
    assert (found.difference.value, found.difference.withheld) == (1.0, False)
    assert found.p is not None


def test_eight_of_ten_pairs_have_no_point_and_the_bounds_of_the_worst_case() -> None:
    """Each side has 9 valid of 10, but not the same. Of 8 pairs 6 are ahead, 1 behind: (5 ± 2) / 10."""
    first = [*outcomes(1, 1, 1, 1, 1, 1, 0, 0, 1), *broken(9)]
    second = [*outcomes(0, 0, 0, 0, 0, 0, 0, 1), *broken(8), played("t9", True)]
    found = compared(first, second)
    for one in (found.first, found.second, found.difference):
        assert one.withheld
        assert math.isnan(one.value)
    assert (found.difference.low, found.difference.high) == (pytest.approx(0.3), pytest.approx(0.7))
    assert (found.first.low, found.first.high) == (6 / 10, 8 / 10)
    assert (found.second.low, found.second.high) == (1 / 10, 3 / 10)
    assert (found.p, found.difference.n) == (None, 8)
    assert found.pairs is not None
    assert (found.pairs.only_first, found.pairs.only_second) == (6, 1)


def test_field_009_a_missing_episode_is_a_lost_pair() -> None:
    assert compared(outcomes(1, 1), outcomes(1, 1), planned=20).difference.withheld


def test_tasks_that_one_side_alone_has_are_no_pairs() -> None:
    whole, part = [*outcomes(*[1] * 9), *broken(*range(9, 20))], outcomes(*[1] * 9)
    assert compared(whole, part).difference.value == 0.0


def test_a_mean_withheld_has_no_bounds() -> None:
    found = compared([*outcomes(1), *broken(1)], outcomes(1, 1), "calls")
    assert found.difference.withheld
    assert math.isnan(found.difference.low)


def test_infeasible_tasks_lost_do_not_touch_what_is_about_feasible_ones() -> None:
    lost = [played(f"x{at}", None, valid=False, label="infeasible") for at in range(9)]
    assert compared([*outcomes(1), *lost], [*outcomes(1), *lost]).difference.value == 0.0
