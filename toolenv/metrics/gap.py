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
        No data without a gap. Where the gap may be 0, the bound away from 0 is NaN: the upper one of a share
        above 0, the lower one of a share below, both of one that may be either. Where the gap is half a point
        in truth, the few studies that find one for sure hold the share in 86 to 90 of 100, all studies in 97.
    """
    if part.n == 0 or not whole.value > 0:
        return no_data()
    related = _correlation(list(outcomes))
    low = _lower(part.value, part.value - part.low, whole, related)
    high = 0.0 - _lower(-part.value, part.high - part.value, whole, -related)  # never -0.0
    return Estimate(part.value / whole.value, low, high, part.n, "MOVER-R", tasks=part.tasks)


def _lower(part: float, of_part: float, whole: Estimate, related: float) -> float:
    """The lower bound of a share, which has the sign of the part's; NaN where there is none.

    A bound above 0 is met by a larger gap, one below 0 by a smaller: which may be so near 0 that the share
    has no bound. Either is a root of square x share² - 2 x middle x share + rest = 0.
    """
    if part == of_part:
        return 0.0
    rest = part * part - of_part * of_part
    of_whole = whole.high - whole.value if part > of_part else whole.value - whole.low
    square = whole.value * whole.value - of_whole * of_whole
    middle = part * whole.value - related * of_part * of_whole
    spread = math.sqrt(max(middle * middle - square * rest, 0.0))
    if part > of_part:
        return rest / (middle + spread)  # the one positive root where the square is negative
    return (middle - spread) / square if square > 0 else math.nan


def _correlation(outcomes: list[Outcomes]) -> float:
    """Of (arm - baseline) with (oracle - baseline) over tasks; 0 where either is the same everywhere."""
    # Rounded: 2/7 - 1/7 and 6/7 - 5/7 are one difference, though not to the last bit.
    parts = [round(one.arm - one.baseline, 12) for one in outcomes]
    wholes = [round(one.oracle - one.baseline, 12) for one in outcomes]
    if len(set(parts)) < 2 or len(set(wholes)) < 2:
        return 0.0
    return correlation(parts, wholes)
