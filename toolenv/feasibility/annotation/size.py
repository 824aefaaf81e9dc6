"""How many tasks people verify, and how many of each suite (paper 1, §3.3 and Appendix A)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist

from toolenv.errors import UsageError


def cochran(population: int, confidence: float = 0.95, margin: float = 0.05, share: float = 0.5) -> int:
    """Cochran's sample size with finite population correction, rounded up.

    n₀ = z² p (1 - p) / e², and n = n₀ / (1 + (n₀ - 1) / N).

    Args:
        population: N, the number of tasks.
        confidence: of the interval that ``margin`` is half of.
        margin: e, the margin of error.
        share: p, the expected share of right labels; 0.5 asks for the most.

    Raises:
        UsageError: an empty population, or a number outside (0, 1).
    """
    if population < 1:
        raise UsageError(f"a sample needs at least 1 task, got a population of {population}")
    for name, value in (("confidence", confidence), ("margin", margin), ("p", share)):
        if not 0 < value < 1:
            raise UsageError(f"{name}={value!r}: give a number between 0 and 1, both excluded")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    unlimited = z**2 * share * (1 - share) / margin**2
    return math.ceil(unlimited / (1 + (unlimited - 1) / population))


def allocate(size: int, strata: Mapping[str, int]) -> dict[str, int]:
    """A sample's size shared out in proportion to the strata, each share rounded up.

    Rounding up is what the paper did: its formula gives 281 for 1,036 tasks, and the shares of 281, rounded
    up, are its 121 + 82 + 50 + 30 = 283. (By largest remainder 283 would be 122 + 82 + 50 + 29.) No stratum
    is sampled below the rate of the whole, and none is left out.

    Args:
        size: the sample's size before rounding.
        strata: how many tasks each stratum has.
    """
    total = sum(strata.values())
    return {name: -(-size * members // total) for name, members in strata.items()}
