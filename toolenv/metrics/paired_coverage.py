"""What missing and invalid episodes do to a comparison: they are pairs without an outcome.

As with the rates of one run (:mod:`toolenv.metrics.coverage`) there is no point below 90%. Two runs with 92%
each may have no more than 84% of their pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolenv.episode import Episode
from toolenv.metrics.comparison import Comparison, Quantity
from toolenv.metrics.coverage import is_enough, withheld
from toolenv.metrics.stats import Estimate
from toolenv.types import Label

WITHHELD = (
    "fewer than 90% of the pairs that should tell of it are valid on both sides, so that there is no point "
    "estimate; brackets hold what the others could make of it"
)


@dataclass(frozen=True, slots=True)
class Played:
    """One env of one side of a comparison.

    Attributes:
        episodes: those that ended.
        planned: how many there were to be.
        labels: those that a missing one may have.
    """

    episodes: Sequence[Episode]
    planned: int
    labels: frozenset[Label]


def covered_comparison(found: Comparison, quantity: Quantity, *sides: tuple[Played, Played]) -> Comparison:
    """``found``, or its withheld form if fewer than 90% of the pairs it should rest on are valid.

    A pair is without an outcome if either of its episodes is invalid; an episode that is missing is one of a
    pair. Tasks that only one side has are no pairs.

    Args:
        found: over the pairs of valid episodes.
        quantity: what is compared; its labels say which episodes count.
        sides: all episodes of the first and of the second; of each env where several are pooled.

    Returns:
        Of a rate withheld, both sides and the difference have worst-case bounds; there is no ``p``. ``pairs``
        are counts, and stay.
    """
    if found.difference.n == 0:
        return found
    valid, lost = map(sum, zip(*(_pairs(*one, quantity.over) for one in sides), strict=True))
    if is_enough(valid, lost):
        return found
    one, other = (withheld(side, quantity.kind, lost) for side in (found.first, found.second))
    return replace(found, first=one, second=other, difference=_difference(found, lost), p=None)


def _pairs(first: Played, second: Played, over: frozenset[Label]) -> tuple[int, int]:
    """How many pairs are valid, and how many others there were to be."""
    theirs = {(one.task_id, one.trial): one for one in second.episodes if one.label in over}
    ours = [one for one in first.episodes if one.label in over]
    pairs = [(one, theirs[key]) for one in ours if (key := (one.task_id, one.trial)) in theirs]
    valid = sum(one.valid and other.valid for one, other in pairs)
    missing = sum(_missing(side, over) for side in (first, second))
    return valid, len(pairs) - valid + missing


def _missing(side: Played, over: frozenset[Label]) -> int:
    return max(0, side.planned - len(side.episodes)) if side.labels & over else 0


def _difference(found: Comparison, lost: int) -> Estimate:
    low = high = math.nan
    if found.pairs is not None:
        ahead, most = found.pairs.only_first - found.pairs.only_second, found.difference.n + lost
        low, high = (ahead - lost) / most, (ahead + lost) / most
    return replace(found.difference, value=math.nan, low=low, high=high, method="worst case", withheld=True)
