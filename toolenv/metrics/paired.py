"""Differences between two conditions, or two agents, over the same tasks.

What two runs have in common is the task, so that the spread between tasks is no part of the uncertainty of
their difference. Rates take Newcombe's square-and-add interval for paired proportions (R. G. Newcombe 1998,
Statistics in Medicine 17, 2635-2650, method 10): closed form, never outside [-1, 1], and defined where one
side always or never succeeds. The test of no difference is McNemar's, exact.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from statistics import NormalDist

from toolenv.metrics.stats import CONFIDENCE, Estimate, grouped_mean, no_data


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Pairs of outcomes by which of the two is true.

    Counts are whole numbers where each task is one pair. Where tasks have several trials they may be weights
    that add up to the number of tasks.

    Attributes:
        both, only_first, only_second, neither: how many pairs.
    """

    both: float
    only_first: float
    only_second: float
    neither: float

    @property
    def n(self) -> float:
        """How many pairs there are."""
        return self.both + self.only_first + self.only_second + self.neither


def paired_difference(pairs: PairCounts) -> Estimate:
    """The first rate less the second, in [-1, 1], with Newcombe's interval; see the module.

    ``count`` of the estimate is ``None``: a difference counts nothing.

    Raises:
        ValueError: a negative count.
    """
    cells = (pairs.both, pairs.only_first, pairs.only_second, pairs.neither)
    if min(cells) < 0:
        raise ValueError(f"pairs cannot be fewer than none, got {pairs}")
    if pairs.n == 0:
        return no_data()
    first = (pairs.both + pairs.only_first) / pairs.n
    second = (pairs.both + pairs.only_second) / pairs.n
    (low1, high1), (low2, high2) = wilson_bounds(first, pairs.n), wilson_bounds(second, pairs.n)
    related = _correlation(pairs)
    down = _combined(first - low1, high2 - second, related)
    up = _combined(high1 - first, second - low2, related)
    value = (pairs.only_first - pairs.only_second) / pairs.n
    return Estimate(value, max(value - down, -1.0), min(value + up, 1.0), round(pairs.n), "newcombe paired")


def mcnemar(only_first: int, only_second: int) -> float:
    """McNemar's exact two-sided p of no difference; 1 where no pair differs.

    Args:
        only_first: pairs of which only the first is true.
        only_second: pairs of which only the second is true.
    """
    from scipy.stats import binomtest

    differing = only_first + only_second
    return float(binomtest(only_first, differing).pvalue) if differing else 1.0


def wilson_bounds(share: float, n: float) -> tuple[float, float]:
    """Wilson's score interval of a share of ``n`` observations; ``n`` and their count need not be whole."""
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    centre = share + z * z / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low, high = ((centre + sign * half) / (1 + z * z / n) for sign in (-1, 1))
    return min(max(low, 0.0), share), max(min(high, 1.0), share)


def mean_difference(differences: Iterable[tuple[Hashable, float]]) -> Estimate:
    """The mean of differences with its t interval, from the spread between tasks.

    Args:
        differences: (task, first less second) of each pair. Trials of one task are not independent.

    Returns:
        ``n`` counts pairs. The interval is NaN with fewer than two tasks, and where all differ by as much.
    """
    mean = grouped_mean(differences)
    if mean.n == 0:
        return no_data()
    if not mean.has_spread:
        return Estimate(mean.value, math.nan, math.nan, mean.n, "paired t", tasks=mean.tasks)
    from scipy.special import stdtrit

    half = float(stdtrit(mean.freedom, (1 + CONFIDENCE) / 2)) * mean.error
    return Estimate(mean.value, mean.value - half, mean.value + half, mean.n, "paired t", tasks=mean.tasks)


def _correlation(pairs: PairCounts) -> float:
    """Newcombe's φ: that of the two outcomes, corrected for continuity where it is positive."""
    a, b, c, d = pairs.both, pairs.only_first, pairs.only_second, pairs.neither
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    if margins == 0:
        return 0.0
    product = a * d - b * c
    return (max(product - pairs.n / 2, 0.0) if product > 0 else product) / math.sqrt(margins)


def _combined(one: float, other: float, related: float) -> float:
    return math.sqrt(max(one * one - 2 * related * one * other + other * other, 0.0))
