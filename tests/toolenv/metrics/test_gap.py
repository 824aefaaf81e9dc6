"""The share of a gap that an arm closes: the paper's own figures; published intervals; the definition."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from toolenv.metrics.gap import Outcomes, gap_closed
from toolenv.metrics.paired import PairCounts, paired_difference, wilson_bounds
from toolenv.metrics.stats import Estimate


def estimate(value: float, low: float, high: float, n: int = 200) -> Estimate:
    return Estimate(value, low, high, n, "by hand")


def rate(count: int, n: int) -> Estimate:
    return Estimate(count / n, *wilson_bounds(count / n, n), n, "wilson")


Z = NormalDist().inv_cdf(0.975)


def wald(mean: float, variance: float) -> Estimate:
    half = Z * math.sqrt(variance)
    return estimate(mean, mean - half, mean + half)


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


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    [
        ((6, 22), (112, 842), "0.9735", "3.7295"),
        ((24, 73), (53, 65), "0.282", "0.563"),
        ((29, 55), (11, 11), "0.398", "0.761"),
        ((7, 18), (1, 18), "1.277", "40.751"),
    ],
)
def test_published_ratios_of_independent_rates(
    part: tuple[int, int], whole: tuple[int, int], low: str, high: str
) -> None:
    """Relative risks by MOVER-R from Wilson's limits.

    The first has Zou and Donner's counts (theirs rests on rounded limits), the others are Fagerland and
    Newcombe's (2013, Statistics in Medicine 32, 2823-2836); all as the tests of the R package ratesci hold
    them. In the last the upper limit of 1/18 is above 2/18, and the lower bound one of two roots of which the
    other is below 0.
    """
    found = gap_closed(rate(*part), rate(*whole), [])
    assert (f"{found.low:.{len(low) - 2}f}", f"{found.high:.{len(low) - 2}f}") == (low, high)


@pytest.mark.parametrize(
    ("pairs", "low", "high"),
    [((8, 3, 1, 2), "0.8234", "1.9539"), ((1, 1, 7, 12), "0.0686", "0.8695")],
)
def test_published_ratios_of_related_rates(pairs: tuple[int, int, int, int], low: str, high: str) -> None:
    """Relative risks of pairs: M.-L. Tang et al. 2010 (Statistical Methods in Medical Research 21, 361-378),
    and DelRocco et al. 2023 (Statistics in Biosciences 15, 1-30); as the tests of ratesci hold them.
    """
    both, only_first, only_second, _ = pairs
    ways = (Outcomes(0, 1, 1), Outcomes(0, 1, 0), Outcomes(0, 0, 1), Outcomes(0, 0, 0))
    tasks = [way for way, count in zip(ways, pairs, strict=True) for _ in range(count)]
    found = gap_closed(rate(both + only_first, len(tasks)), rate(both + only_second, len(tasks)), tasks)
    assert (f"{found.low:.4f}", f"{found.high:.4f}") == (low, high)


@pytest.mark.parametrize("moved", [-0.5, -0.02, 0.0, 0.02, 0.3, 0.6])
@pytest.mark.parametrize("n", [12, 200])
def test_of_symmetric_limits_the_interval_is_fiellers(moved: float, n: int) -> None:
    """Fieller's theorem in the form with g (D. J. Finney, Statistical Method in Biological Assay)."""
    draw = np.random.default_rng(n)
    whole = draw.uniform(0.1, 0.9, n)
    part = moved * whole + draw.normal(0, 0.1, n)
    one, other = float(part.mean()), float(whole.mean())
    (v11, v12), (_, v22) = np.cov(part, whole) / n
    ratio, g = one / other, Z * Z * v22 / other**2
    assert g < 1
    spread = Z / other * math.sqrt(v11 - 2 * ratio * v12 + ratio**2 * v22 - g * (v11 - v12**2 / v22))
    expected = [(ratio - g * v12 / v22 + sign * spread) / (1 - g) for sign in (-1, 1)]
    tasks = [Outcomes(0.0, *pair) for pair in zip(part.tolist(), whole.tolist(), strict=True)]
    found = gap_closed(wald(one, v11), wald(other, v22), tasks)
    assert [found.low, found.high] == pytest.approx(expected)


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
    assert found.low > 0  # whatever the gap, the arm brings something back


def test_only_the_bound_away_from_0_is_open() -> None:
    """A smaller gap makes a share larger, on either side of 0; a larger one does not take it to 0."""
    doubtful = estimate(0.1, -0.02, 0.3)
    helps, harms = gap_closed(PART, doubtful, []), gap_closed(estimate(-0.305, -0.38, -0.23), doubtful, [])
    assert math.isnan(helps.high)
    assert math.isnan(harms.low)
    assert [is_inside(helps.low * near, PART, doubtful) for near in (1 - 1e-9, 1 + 1e-9)] == [False, True]
    assert harms.high == -helps.low
    neither = gap_closed(estimate(0.0, -0.1, 0.1), doubtful, [])
    assert math.isnan(neither.low)
    assert math.isnan(neither.high)
