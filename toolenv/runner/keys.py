"""Which episodes there are: sets of (env, task, trial) that hold millions in little memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import TypeAlias

Key: TypeAlias = tuple[str, str, int]
"""(env id, task id, trial): what makes an episode unique within a run."""

MOST_BITS = 1 << 20
"""Trials from this number on are kept one by one: a damaged file may hold any number."""


class KeySet(AbstractSet[Key]):
    """A set of keys: the trials of a task are the bits of one integer."""

    def __init__(self, keys: Iterable[Key] = ()) -> None:
        self._trials: dict[tuple[str, str], int] = {}
        self._others: set[Key] = set()
        for key in keys:
            self.add(key)

    def add(self, key: Key) -> None:
        """Put a key in; it may be there already."""
        env, task_id, trial = key
        if 0 <= trial < MOST_BITS:
            self._trials[env, task_id] = self._trials.get((env, task_id), 0) | 1 << trial
        else:
            self._others.add(key)

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, tuple) or len(key) != 3:
            return False
        env, task_id, trial = key
        if isinstance(trial, int) and 0 <= trial < MOST_BITS:
            return bool(self._trials.get((env, task_id), 0) >> trial & 1)
        return key in self._others

    def __iter__(self) -> Iterator[Key]:
        for (env, task_id), bits in self._trials.items():
            yield from ((env, task_id, trial) for trial in range(bits.bit_length()) if bits >> trial & 1)
        yield from self._others

    def __len__(self) -> int:
        return sum(bits.bit_count() for bits in self._trials.values()) + len(self._others)
