"""Millions of episodes in little memory: columns of numbers, and what episodes have in common kept once."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from operator import attrgetter, itemgetter
from typing import Any, TypeAlias, overload

import numpy

from toolenv.episode import Episode
from toolenv.report.role_columns import RoleColumns
from toolenv.trouble import NO_TROUBLE, Trouble

Identity: TypeAlias = tuple[str, str, str, int, int]
"""(env id, agent, task id, trial, seed): what makes an episode unique within a report."""

_OF_THE_TASK = ("env", "agent", "task_id", "label", "flags", "task")
_COUNTS = ("trial", "seed", "turns", "calls", "input_tokens", "output_tokens")
_TASK_ID, _TRIAL, _SEED = _OF_THE_TASK.index("task_id"), _COUNTS.index("trial"), _COUNTS.index("seed")
_IN_OWN_WAYS = ("roles", "trouble")
_APART = (*_OF_THE_TASK, *_COUNTS, "reward", *_IN_OWN_WAYS)
_OF_THE_OUTCOME = tuple(name for name in Episode.__slots__ if name not in _APART)
_STORED = (*_OF_THE_TASK, *_OF_THE_OUTCOME, *_COUNTS, "reward", *_IN_OWN_WAYS)

_task_of, _outcome_of = attrgetter(*_OF_THE_TASK), attrgetter(*_OF_THE_OUTCOME)
_counts_of = attrgetter(*_COUNTS)
_identity_of = attrgetter("env", "agent", "task_id", "trial", "seed")
_in_order = itemgetter(*(_STORED.index(name) for name in Episode.__slots__))

_UNKNOWN = -1
"""A token count that is not known."""


class EpisodeTable(Sequence[Episode]):
    """Episodes in the order they were added; reading one makes it anew. About 80 bytes each.

    An episode with numbers that fit no column, from a damaged file, is kept as it is.
    """

    def __init__(self) -> None:
        self._tasks, self._outcomes = _Kept(), _Kept()
        self._task, self._outcome = array("L"), array("L")
        self._counts = tuple(array("q") for _ in _COUNTS)
        self._reward = array("d")
        self._roles = RoleColumns()
        self._trouble: dict[int, Trouble] = {}
        self._odd: dict[int, Episode] = {}

    def append(self, episode: Episode) -> None:
        """Add an episode."""
        fits, numbers = self._roles.append(episode.roles), _numbers_of(episode)
        if numbers is None or not fits:
            self._odd[len(self)] = episode
            numbers = [0] * len(_COUNTS), 0.0
        elif episode.trouble != NO_TROUBLE:
            self._trouble[len(self)] = episode.trouble
        counts, reward = numbers
        self._reward.append(reward)
        for column, count in zip(self._counts, counts, strict=True):
            column.append(count)
        self._task.append(self._tasks.number_of(_task_of(episode)))
        self._outcome.append(self._outcomes.number_of(_outcome_of(episode)))

    def repeated(self) -> Identity | None:
        """The identity of an episode that stands here twice, if any does."""
        seen: set[Identity] = set()
        for episode in self._odd.values():
            if _identity_of(episode) in seen:
                return _identity_of(episode)
            seen.add(_identity_of(episode))
        names: dict[str, int] = {}
        number_of = [names.setdefault(task[_TASK_ID], len(names)) for task in self._tasks.items]
        columns = [
            numpy.asarray(number_of, numpy.int64)[numpy.asarray(self._task, numpy.int64)],
            numpy.asarray(self._counts[_TRIAL], numpy.int64),
            numpy.asarray(self._counts[_SEED], numpy.int64),
        ]
        order = numpy.lexsort(columns)
        same = numpy.ones(max(0, len(self) - 1), bool)
        for column in columns:
            same &= numpy.diff(column[order]) == 0
        for at in numpy.flatnonzero(same):
            one, other = self[int(order[at])], self[int(order[at + 1])]
            if _identity_of(one) == _identity_of(other):
                return _identity_of(one)
        return None

    def __len__(self) -> int:
        return len(self._reward)

    def __iter__(self) -> Iterator[Episode]:
        columns = zip(self._task, self._outcome, self._reward, *self._counts, strict=True)
        for number, (task, outcome, reward, *counts) in enumerate(columns):
            yield self._made(number, task, outcome, counts, reward)

    @overload
    def __getitem__(self, at: int) -> Episode: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Episode]: ...
    def __getitem__(self, at: int | slice) -> Episode | Sequence[Episode]:
        if isinstance(at, slice):
            return [self[number] for number in range(len(self))[at]]
        number = range(len(self))[at]
        counts = [column[number] for column in self._counts]
        return self._made(number, self._task[number], self._outcome[number], counts, self._reward[number])

    def _made(self, number: int, task: int, outcome: int, counts: list[int], reward: float) -> Episode:
        if number in self._odd:
            return self._odd[number]
        *others, given, written = counts
        tokens = (None if given == _UNKNOWN else given, None if written == _UNKNOWN else written)
        paid = None if math.isnan(reward) else reward
        shared = (*self._tasks.items[task], *self._outcomes.items[outcome])
        apart = (self._roles[number], self._trouble.get(number, NO_TROUBLE))
        return Episode(*_in_order((*shared, *others, *tokens, paid, *apart)))


class _Kept:
    """Different tuples, each once, numbered as they come."""

    def __init__(self) -> None:
        self.items: list[tuple[Any, ...]] = []
        self._numbers: dict[tuple[Any, ...], int] = {}

    def number_of(self, item: tuple[Any, ...]) -> int:
        number = self._numbers.setdefault(item, len(self.items))
        if number == len(self.items):
            self.items.append(item)
        return number


def _numbers_of(episode: Episode) -> tuple[list[int], float] | None:
    """The counts and the reward as columns hold them; ``None`` if they cannot."""
    *others, given, written = _counts_of(episode)
    if _UNKNOWN in (given, written) or (episode.reward is not None and type(episode.reward) is not float):
        return None
    counts = [*others, *(_UNKNOWN if count is None else count for count in (given, written))]
    reward = math.nan if episode.reward is None else episode.reward
    fit = all(type(one) is int and abs(one) < 2**63 for one in counts)
    return (counts, reward) if fit and (episode.reward is None or not math.isnan(reward)) else None
