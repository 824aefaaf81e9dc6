"""The share of a gap that an arm closes: the paper's own figures, and the interval by its definition."""

from __future__ import annotations

import math

import pytest

from toolenv.metrics.gap import Outcomes, gap_closed
from toolenv.metrics.paired import PairCounts, paired_difference
from toolenv.metrics.stats import Estimate


def estimate(value: float, low: float, high: float, n: int = 200) -> Estimate:
    return Estimate(value, low, high, n, "by hand")


def is_inside(share: float, part: Estimate, whole: Estimate) -> bool:
    """Whether part - share x whole may be 0: MOVER's limits of a difference, the two not related."""
    contrast = part.value - share * whole.value
    grown, shrunk = whole.high - whole.value, whole.value - whole.low
    if share < 0:  # then it is added, and a larger whole makes for a larger sum
        grown, shrunk = shrunk, grown
    low = contrast - math.hypot(part.value - part.low, share * grown)
    high = contrast + math.hypot(part.high - part.value, share * shrunk)
    return low <= 0 <= high


PART, WHOLE = estimate(0.305, 0.23, 0.38), estimate(0.42, 0.35, 0.49)


def test_the_share_of_the_papers_example() -> None:
    """Paper 2, §4: gaps of 35 to 50 points; hints recover 25.5 to 35.5 points, 60 to 80 percent of them."""
    found = gap_closed(estimate(0.255, 0.2, 0.31), estimate(0.40, 0.33, 0.47), [])
    assert found.value == pytest.approx(0.6375)
    assert found.low < 0.6375 < found.high
    assert (found.n, found.method) == (200, "MOVER-R")


@pytest.mark.parametrize(
    ("part", "whole"),
    [
        (PART, WHOLE),
        (estimate(0.04, -0.01, 0.09), WHOLE),
        (estimate(0.0, -0.02, 0.03), WHOLE),
        (estimate(-0.06, -0.12, -0.01), WHOLE),
        (estimate(0.99, 0.95, 1.0), estimate(1.0, 0.97, 1.0)),
    ],
)
def test_the_bounds_are_where_the_limits_of_the_contrast_vanish(part: Estimate, whole: Estimate) -> None:
    """Found here by bisection of the definition, there in closed form; the two differences not related."""
    found = gap_closed(part, whole, [])
    for bound, sign in ((found.low, -1), (found.high, 1)):
        inner, outer = found.value, found.value + sign * 3.0
        for _ in range(100):
            middle = (inner + outer) / 2
            inner, outer = (middle, outer) if is_inside(middle, part, whole) else (inner, middle)
        assert bound == pytest.approx(inner, abs=1e-9)


def test_nothing_and_everything_brought_back() -> None:
    """Baseline 0 of 20, oracle 20 of 20: the share's lower bound is that of the arm's own difference."""
    whole = paired_difference(PairCounts(0, 20, 0, 0))
    for recovered in (0, 5, 20):
        part = paired_difference(PairCounts(0, recovered, 0, 20 - recovered))
        found = gap_closed(part, whole, [Outcomes(0, one < recovered, 1) for one in range(20)])
        assert found.value == recovered / 20
        assert found.low == pytest.approx(part.low) or recovered == 0
        assert found.low <= found.value <= found.high
        assert found.high - found.low > 0.1


def test_what_goes_together_narrows_the_interval() -> None:
    """Where the same tasks are lost and brought back, both differences move together."""
    together = [*[Outcomes(0, 1, 1)] * 60, *[Outcomes(1, 1, 1)] * 40]
    apart = [*[Outcomes(0, 1, 0)] * 20, *[Outcomes(0, 0, 1)] * 20, *[Outcomes(1, 1, 1)] * 60]
    related, unrelated = gap_closed(PART, WHOLE, together), gap_closed(PART, WHOLE, [])
    against = gap_closed(PART, WHOLE, apart)
    assert related.high - related.low < unrelated.high - unrelated.low < against.high - against.low


def test_without_a_gap_there_is_no_share() -> None:
    for whole in (
        estimate(0.0, -0.1, 0.1),
        estimate(-0.2, -0.3, -0.1),
        Estimate(math.nan, math.nan, math.nan, 0, "none"),
    ):
        assert gap_closed(PART, whole, []).n == 0
    assert gap_closed(Estimate(math.nan, math.nan, math.nan, 0, "none"), WHOLE, []).n == 0


def test_a_gap_that_may_be_none_leaves_the_share_open() -> None:
    found = gap_closed(PART, estimate(0.1, -0.02, 0.22), [])
    assert found.value == pytest.approx(3.05)
    assert math.isnan(found.high)
