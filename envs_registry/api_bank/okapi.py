"""BM25 Okapi over lists of words, with the constants and the floor of ``rank_bm25`` 0.2.2."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

SATURATION: Final = 1.5
LENGTH_WEIGHT: Final = 0.75
FLOOR: Final = 0.25
"""The weight of words in more than half of the documents, as a share of the mean weight."""


class Okapi:
    """An index of documents.

    Args:
        documents: the words of each; at least one word in all.
    """

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        self._counts = [Counter(words) for words in documents]
        mean = sum(map(len, documents)) / len(documents)
        self._damping = [
            SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * len(words) / mean) for words in documents
        ]
        self._weights = _weights(self._counts)

    def scores(self, words: Iterable[str]) -> list[float]:
        """How well each document fits the words; unknown words add nothing, repeated ones count again."""
        known = [(word, self._weights[word]) for word in words if word in self._weights]
        return [
            sum(weight * counts[word] * (SATURATION + 1) / (counts[word] + damping) for word, weight in known)
            for counts, damping in zip(self._counts, self._damping, strict=True)
        ]

    def best(self, words: Iterable[str], count: int) -> list[int]:
        """The places of the best documents, the best first, of equal ones the first."""
        scores = self.scores(words)
        return sorted(range(len(scores)), key=lambda place: -scores[place])[:count]


def _weights(documents: Sequence[Counter[str]]) -> dict[str, float]:
    holders = Counter(word for counts in documents for word in counts)
    weights = {word: math.log(len(documents) - n + 0.5) - math.log(n + 0.5) for word, n in holders.items()}
    floor = FLOOR * sum(weights.values()) / len(weights)
    return {word: floor if weight < 0 else weight for word, weight in weights.items()}
