"""What the search for witnesses asks of a suite."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from toolenv.feasibility.certificates.grounding import Knowledge
from toolenv.feasibility.certificates.records import Claim, Criterion
from toolenv.feasibility.certificates.rules import Rules
from toolenv.task import Task
from toolenv.types import ToolCall

Obtained: TypeAlias = tuple[tuple[ToolCall, str], ...]
"""Calls made, each with the text of its result."""

Features: TypeAlias = frozenset[Hashable]
"""A state as a set of facts, so that the distance between two is how many facts they do not share."""


def features_of(state: Any, told: Callable[[Any], Hashable] = repr) -> Features:
    """Each value of a JSON-like state, with its place.

    Args:
        state: the state.
        told: what stands for a value that holds no other, an empty object or array among them.
    """
    return frozenset(_leaves(state, (), told))


def _leaves(value: Any, place: tuple[Any, ...], told: Callable[[Any], Hashable]) -> Iterator[Hashable]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves(item, (*place, key), told)
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from _leaves(item, (*place, index), told)
    else:
        yield (place, told(value))


class SearchWorld(Protocol):
    """A world to try calls in, cheap to fork."""

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Run a tool; the text of its result, errors included."""
        ...

    def fork(self) -> SearchWorld:
        """An independent copy."""
        ...

    def features(self) -> Features:
        """What the judge sees of it."""
        ...

    def key(self) -> Hashable:
        """Equal only for worlds that answer all calls alike."""
        ...


@dataclass(frozen=True, slots=True)
class Goal:
    """What has to be so at the end of a user turn.

    Attributes:
        state: the state; ``None`` where it is not looked at.
        missing: how many of the results wanted so far are not among those obtained.
        needs_call: whether some call has to be made in this turn.
    """

    state: Features | None
    missing: Callable[[Obtained, Knowledge], int]
    needs_call: bool = False


class Planner(Protocol):
    """What the search knows about a suite. A suite keeps it in a module ``planning`` of its package.

    Attributes:
        rules: what its certificates rest on.
        ignored: tools that no plan needs.
    """

    rules: Rules
    ignored: frozenset[str]

    def covers(self, task: Task) -> bool:
        """Whether calls can be tried: whether a world answers them as it would anybody."""
        ...

    def claims(self, task: Task) -> Iterator[Claim]:
        """The claims that might hold of a masked task, those against the outcome first."""
        ...

    def goals(self, task: Task, criterion: Criterion) -> tuple[Goal, ...]:
        """What each user turn has to reach."""
        ...

    def start(self, task: Task) -> SearchWorld:
        """A fresh world."""
        ...

    def changing(self, task: Task) -> frozenset[str]:
        """The tools that may change the world; the others only look."""
        ...

    def choices(self, task: Task, tool: str, parameter: str) -> Iterable[Any]:
        """The values that a parameter's documentation lists."""
        ...

    def seen_values(self, parameter: str, text: str) -> Iterable[Any]:
        """Values for a parameter that stand in a text, recognised by their form."""
        ...

    def closing(self, task: Task, known: Knowledge) -> str:
        """The message that ends the last user turn."""
        ...
