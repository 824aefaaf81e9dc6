"""Agreement of two annotators beyond chance: Cohen's κ and Gwet's AC1.

Both are (a - e) / (1 - e) with a the observed agreement; they differ in the agreement e expected by chance.
Standard errors are by the delta method; for κ that is the large-sample formula of Fleiss, Cohen and Everitt
(1969), for AC1 Gwet's (2008) of an infinite population.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Shares: TypeAlias = Mapping[str, float]
"""How often each category is used."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient of agreement.

    Attributes:
        value: at most 1; NaN where it is undefined.
        error: its standard error; 0 where no two answers differ.
        n: items.
    """

    value: float
    error: float
    n: int


@dataclass(frozen=True, slots=True)
class _Chance:
    """Agreement expected by chance, and what one item with a pair of answers adds to it."""

    expected: float
    influence: Callable[[str, str], float]


def cohen_kappa(pairs: Iterable[tuple[str, str]]) -> Coefficient:
    """Cohen's κ: by chance, each annotator answers with the own frequencies.

    Undefined (NaN) where both gave one and the same answer to every item.
    """
    counts = Counter(pairs)
    first, second = _shares(counts, 0), _shares(counts, 1)
    expected = math.fsum(first[one] * second[one] for one in first)
    return _coefficient(counts, _Chance(expected, lambda one, two: second[one] + first[two] - 2 * expected))


def gwet_ac1(pairs: Iterable[tuple[str, str]]) -> Coefficient:
    """Gwet's AC1: by chance, annotators agree on the items that are hard, as often as categories allow.

    The number of categories is that of the answers given, and at least two: an ``unsure`` that nobody used
    is none.
    """
    counts = Counter(pairs)
    first, second = _shares(counts, 0), _shares(counts, 1)
    mean = {one: (first[one] + second[one]) / 2 for one in first}
    others = max(len(mean), 2) - 1
    slope = math.fsum(share * (1 - 2 * share) for share in mean.values())
    return _coefficient(
        counts,
        _Chance(
            math.fsum(share * (1 - share) for share in mean.values()) / others,
            lambda one, two: (1 - mean[one] - mean[two] - slope) / others,
        ),
    )


def _shares(counts: Counter[tuple[str, str]], place: int) -> Shares:
    """How often an annotator used each category that either used."""
    shares = dict.fromkeys(sorted({one for pair in counts for one in pair}), 0.0)
    for pair, count in counts.items():
        shares[pair[place]] += count / counts.total()
    return shares


def _coefficient(counts: Counter[tuple[str, str]], chance: _Chance) -> Coefficient:
    n = counts.total()
    if n == 0 or chance.expected >= 1:
        return Coefficient(math.nan, math.nan, n)
    observed = sum(count for (one, two), count in counts.items() if one == two) / n
    value = (observed - chance.expected) / (1 - chance.expected)
    squares = math.fsum(
        count * ((one == two) - observed - (1 - value) * chance.influence(one, two)) ** 2
        for (one, two), count in counts.items()
    )
    return Coefficient(value, math.sqrt(squares) / n / (1 - chance.expected), n)
