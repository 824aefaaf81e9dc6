"""Deterministic draws: a stream is a pure function of its key, on every machine and Python.

``random.Random`` may draw otherwise from one Python version to the next, and seeding it costs more than the
twenty or so draws of a record.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

ItemT = TypeVar("ItemT")

_BLOCK = struct.Struct("<8Q")


class Stream:
    """An endless sequence of draws that depends on the whole key and on nothing else."""

    __slots__ = ("_block", "_key", "_words")

    def __init__(self, *key: int | str) -> None:
        self._key = repr(key).encode()
        self._block = 0
        self._words: list[int] = []

    def below(self, bound: int) -> int:
        """A whole number in ``[0, bound)``; uniform up to 2**-32 for bounds below 2**32."""
        words = self._words
        if not words:
            block = blake2b(self._key, digest_size=64, salt=self._block.to_bytes(16, "little"))
            words.extend(_BLOCK.unpack(block.digest()))
            self._block += 1
        return words.pop() * bound >> 64

    def between(self, low: int, high: int) -> int:
        """A whole number in ``[low, high]``."""
        return low + self.below(high - low + 1)

    def chance(self, percent: int) -> bool:
        """True in ``percent`` of 100 draws."""
        return self.below(100) < percent

    def choice(self, items: Sequence[ItemT]) -> ItemT:
        """One of the items."""
        return items[self.below(len(items))]

    def weighted(self, items: Sequence[ItemT], weights: Sequence[int]) -> ItemT:
        """One of the items, each as likely as its weight."""
        drawn = self.below(sum(weights))
        for item, weight in zip(items, weights, strict=True):
            drawn -= weight
            if drawn < 0:
                return item
        raise AssertionError("weights are positive")

    def sample(self, items: Sequence[ItemT], count: int) -> list[ItemT]:
        """``count`` different items, in random order."""
        left = list(items)
        for at in range(count):
            other = at + self.below(len(left) - at)
            left[at], left[other] = left[other], left[at]
        return left[:count]

    def shuffled(self, items: Sequence[ItemT]) -> list[ItemT]:
        """All items, in random order."""
        return self.sample(items, len(items))
