"""How much of the accuracy lost to a hazard an arm brings back (paper 2, §4, on Fig. 4).

The share is (arm - baseline) / (oracle - baseline). Its interval is MOVER-R (A. Donner and G. Y. Zou 2012,
Statistical Methods in Medical Research 21, 347-359; R. G. Newcombe 2016, ibid. 25, 1774-1778): the shares R
for which arm - baseline - R (oracle - baseline) may be 0, its limits put together from those of the two
differences and their correlation. So it is closed form, and defined where an arm brings back nothing or all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import correlation
from typing import NamedTuple

from toolenv.metrics.stats import Estimate, no_data


class Outcomes(NamedTuple):
    """One task's success in three arms, in [0, 1]: the share of its trials."""

    baseline: float
    arm: float
    oracle: float


def gap_closed(part: Estimate, whole: Estimate, outcomes: Iterable[Outcomes]) -> Estimate:
    """The share of a gap that an arm closes; it may be negative or above 1.

    Args:
        part: arm less baseline, paired.
        whole: oracle less baseline, over the same pairs.
        outcomes: of each task behind them; tells how the two differences go together.

    Returns:
        No data without a gap; a NaN bound where the gap may be 0 or, for all one knows, nearly so.
    """
    if part.n == 0 or not whole.value > 0:
        return no_data()
    related = _correlation(list(outcomes))
    below, above = part.value - part.low, part.high - part.value
    shrunk, grown = whole.value - whole.low, whole.high - whole.value
    # The farther a share lies from 0, the more a gap of another size moves it, and to the other side.
    low = _root(part.value, whole.value, below, grown, related, -1)
    if low < 0:
        low = _root(part.value, whole.value, below, shrunk, related, -1)
    high = _root(part.value, whole.value, above, shrunk, related, 1)
    if high < 0:
        high = _root(part.value, whole.value, above, grown, related, 1)
    return Estimate(part.value / whole.value, low, high, part.n, "MOVER-R")


def _root(part: float, whole: float, of_part: float, of_whole: float, related: float, sign: int) -> float:
    """The outer share at which the limit of part - share x whole is 0; NaN where there is none."""
    square = whole * whole - of_whole * of_whole
    middle = part * whole - related * of_part * of_whole
    under = middle * middle - square * (part * part - of_part * of_part)
    if square <= 0 or under < 0:
        return math.nan
    return (middle + sign * math.sqrt(under)) / square


def _correlation(outcomes: list[Outcomes]) -> float:
    """Of (arm - baseline) with (oracle - baseline) over tasks; 0 where either is the same everywhere."""
    parts = [one.arm - one.baseline for one in outcomes]
    wholes = [one.oracle - one.baseline for one in outcomes]
    if len(set(parts)) < 2 or len(set(wholes)) < 2:
        return 0.0
    return correlation(parts, wholes)
