"""How often the interval of a closed gap holds the true share: seeded draws of whole studies.

A study is a multinomial draw over the eight ways in which a task may end in three arms. Whether its interval
holds the share is told by the definition (the limits of part - share x whole lie on both sides of 0, computed
here for all studies at once), and by ``gap_closed`` itself for some of them, which must agree.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

from toolenv.metrics.gap import Outcomes, gap_closed
from toolenv.metrics.paired import PairCounts, paired_difference
from toolenv.metrics.stats import Estimate

Numbers: TypeAlias = npt.NDArray[np.float64]

Z = NormalDist().inv_cdf(0.975)
WAYS = [Outcomes(way >> 2 & 1, way >> 1 & 1, way & 1) for way in range(8)]
BASELINE, ARM, ORACLE = np.array(WAYS).T
PART, WHOLE = ARM - BASELINE, ORACLE - BASELINE


def design(base: float, found: float, back: float, alone: float, harm: float) -> Numbers:
    """The probability of each way.

    Args:
        base: the baseline succeeds.
        found: the oracle does where the baseline fails.
        back, alone: there the arm does, where the oracle does and where it does not.
        harm: an arm fails where the baseline succeeds, each by itself.
    """
    brings = np.where(ORACLE, found, 1 - found) * np.where(
        ORACLE, np.where(ARM, back, 1 - back), np.where(ARM, alone, 1 - alone)
    )
    keeps = np.where(ARM, 1 - harm, harm) * np.where(ORACLE, 1 - harm, harm)
    return np.where(BASELINE, base * keeps, (1 - base) * brings)


FAR = {
    "paper 2, §4: 42 points lost, 70% brought back": design(0.4, 0.7, 0.7, 0.0, 0.0),
    "what the arm brings back has little to do with the oracle": design(0.4, 0.6, 0.5, 0.3, 0.1),
    "nothing is brought back": design(0.5, 0.8, 0.1, 0.1, 0.1),
    "the arm does harm": design(0.6, 0.9, 0.05, 0.05, 0.12),
    "nearly all is brought back": design(0.3, 0.9, 0.95, 0.3, 0.02),
    "more is brought back than the oracle does": design(0.4, 0.5, 0.9, 0.4, 0.02),
    "the baseline never succeeds, the oracle always": design(0.0, 1.0, 0.6, 0.0, 0.0),
}
NEAR = {
    "a gap of 3.5 points": design(0.5, 0.12, 0.5, 0.05, 0.05),
    "a gap of half a point": design(0.5, 0.06, 0.5, 0.03, 0.05),
}


def true_share(ways: Numbers) -> float:
    return float(ways @ PART / (ways @ WHOLE))


def wilson_limits(share: Numbers, n: int) -> tuple[Numbers, Numbers]:
    """The roots p of (share - p)² = z² p (1 - p) / n."""
    a, b, c = 1 + Z**2 / n, -(2 * share + Z**2 / n), share**2
    spread = np.sqrt(np.maximum(b * b - 4 * a * c, 0.0))
    return (-b - spread) / (2 * a), (-b + spread) / (2 * a)


def newcombe(studies: Numbers, first: Numbers, second: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Of each study a paired difference, and how far down and up its interval reaches (method 10)."""
    n = int(studies[0].sum())
    both, neither = studies @ (first * second), studies @ ((1 - first) * (1 - second))
    share1, share2 = studies @ first / n, studies @ second / n
    product = both * neither - (studies @ first - both) * (studies @ second - both)
    margins = share1 * (1 - share1) * share2 * (1 - share2) * n**4
    numerator = np.where(product > 0, np.maximum(product - n / 2, 0), product)
    related = np.divide(numerator, np.sqrt(margins), out=np.zeros_like(margins), where=margins > 0)
    (low1, high1), (low2, high2) = wilson_limits(share1, n), wilson_limits(share2, n)
    down, up = (
        np.sqrt(np.maximum(one**2 - 2 * related * one * other + other**2, 0))
        for one, other in ((share1 - low1, high2 - share2), (high1 - share1, share2 - low2))
    )
    value = share1 - share2
    return value, np.minimum(down, value + 1), np.minimum(up, 1 - value)


def are_related(studies: Numbers) -> Numbers:
    """Pearson's correlation of the two differences over the tasks of each study."""
    n = studies[0].sum()
    mean1, mean2 = studies @ PART / n, studies @ WHOLE / n
    together = studies @ (PART * WHOLE) / n - mean1 * mean2
    apart = (studies @ PART**2 / n - mean1**2) * (studies @ WHOLE**2 / n - mean2**2)
    related: Numbers = np.divide(together, np.sqrt(apart), out=np.zeros_like(apart), where=apart > 1e-12)
    return related


def are_held(studies: Numbers, share: float) -> npt.NDArray[np.bool_]:
    """Whether 0 lies within MOVER's limits of part - share x whole."""
    part, part_down, part_up = newcombe(studies, ARM, BASELINE)
    whole, whole_down, whole_up = newcombe(studies, ORACLE, BASELINE)
    if share < 0:
        whole_down, whole_up = whole_up, whole_down
    contrast, together = part - share * whole, 2 * are_related(studies) * share
    below = part_down**2 + (share * whole_up) ** 2 - together * part_down * whole_up
    above = part_up**2 + (share * whole_down) ** 2 - together * part_up * whole_down
    low, high = contrast - np.sqrt(np.maximum(below, 0)), contrast + np.sqrt(np.maximum(above, 0))
    return (low <= 0) & (high >= 0)


def reported(study: Numbers) -> tuple[Estimate, Estimate]:
    """The whole gap and the share of it, as the report has them."""
    counts = [int(count) for count in study]
    tasks = [way for way, count in zip(WAYS, counts, strict=True) for _ in range(count)]
    part, whole = (
        paired_difference(
            PairCounts(*(study @ cell for cell in (a * b, a * (1 - b), (1 - a) * b, (1 - a) * (1 - b))))
        )
        for a, b in ((ARM, BASELINE), (ORACLE, BASELINE))
    )
    return whole, gap_closed(part, whole, tasks)


def holds(found: Estimate, share: float) -> bool:
    """A bound that is NaN shuts nothing out."""
    return not (found.low > share or found.high < share)


@pytest.mark.parametrize("n", [100, 300, 1000])
@pytest.mark.parametrize("name", FAR)
def test_the_interval_holds_the_share_as_often_as_it_says(name: str, n: int) -> None:
    share = true_share(FAR[name])
    studies = np.random.default_rng(n).multinomial(n, FAR[name], size=20_000).astype(float)
    held = are_held(studies, share)
    assert 0.93 <= held.mean() <= 0.975
    for study, definition in zip(studies[:60], held[:60], strict=True):
        whole, found = reported(study)
        assert holds(found, share) == definition or not whole.low > 0
        assert found.low <= found.value <= found.high or not whole.low > 0


@pytest.mark.parametrize("n", [100, 300])
@pytest.mark.parametrize("name", NEAR)
def test_near_no_gap_the_interval_opens_and_holds_the_share_no_less_often(name: str, n: int) -> None:
    """Over all studies with an estimate: those that find the gap by luck alone are wrong more often."""
    share = true_share(NEAR[name])
    studies = np.random.default_rng(n).multinomial(n, NEAR[name], size=1_000).astype(float)
    told = [(whole, found) for whole, found in map(reported, studies) if found.n]
    assert len(told) == (studies @ WHOLE > 0).sum()
    assert np.mean([holds(found, share) for _, found in told]) >= 0.93
    doubtful = [found for whole, found in told if whole.low <= 0]
    assert len(doubtful) > len(told) / 4
    assert all(math.isnan(found.high) for found in doubtful if found.value > 0)
