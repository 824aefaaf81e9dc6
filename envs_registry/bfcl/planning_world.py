"""A BFCL world to search in: instances are shared by all forks until a call may change them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from random import Random
from typing import Any, Final

from envs_registry.bfcl.multi_turn_world import MultiTurnWorld
from envs_registry.bfcl.static_facts import ToolFacts
from toolenv.errors import ToolError
from toolenv.feasibility.certificates import planning
from toolenv.feasibility.certificates.planning import Features

_ATOMS: Final = (str, int, float, bool, type(None))
_OBJECTS: Final = frozenset({"Directory", "File"})
"""What backends keep besides containers and constants."""


class PlanningWorld:
    """A world that copies only the instance a call may change.

    Args:
        world: a world of its own; not to be used any more.
        facts: what each tool may change.
    """

    __slots__ = ("_drawn", "_facets", "_facts", "_instances", "_methods")

    def __init__(self, world: MultiTurnWorld, facts: Mapping[str, ToolFacts]) -> None:
        self._instances = dict(world._instances)
        self._methods, self._facts = world._methods, facts
        self._facets: dict[str, tuple[Features, Hashable]] = {}
        self._drawn = 0

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Run a tool; the text of its result, errors included."""
        tool = self._facts[name]
        if tool.writes or tool.draws:
            self._instances[tool.backend] = _copied(self._instances[tool.backend], tool.draws)
            self._facets.pop(tool.backend, None)
            self._drawn += tool.draws
        try:
            return MultiTurnWorld(self._instances, self._methods).call(name, arguments)
        except ToolError as error:
            return str(error)

    def fork(self) -> PlanningWorld:
        """An independent copy, for nothing."""
        other: PlanningWorld = object.__new__(PlanningWorld)
        other._instances, other._facets = dict(self._instances), dict(self._facets)
        other._methods, other._facts, other._drawn = self._methods, self._facts, self._drawn
        return other

    def features(self) -> Features:
        """Each value in the compared state, with its place."""
        return frozenset().union(*(self._facet(name)[0] for name in self._instances))

    def key(self) -> Hashable:
        """The compared state, what is private, and how often the random streams were used."""
        return (self._drawn, *(self._facet(name) for name in self._instances))

    def _facet(self, name: str) -> tuple[Features, Hashable]:
        if name not in self._facets:
            instance = self._instances[name]
            view = MultiTurnWorld({name: instance}, {}).view()
            private = tuple(
                (key, _private(value)) for key, value in vars(instance).items() if key.startswith("_")
            )
            self._facets[name] = features_of(view), private
        return self._facets[name]


def features_of(view: Any) -> Features:
    """The same of the view of any world; numbers that are equal are the same."""
    return planning.features_of(view, _told)


def _told(value: Any) -> Hashable:
    return repr(value) if isinstance(value, dict | list) else value


def _private(value: Any) -> Hashable:
    """What is private: the directory one is in by its path, the rest as it is written."""
    if isinstance(value, Random):
        return None
    if hasattr(value, "parent"):
        path = []
        while value is not None:
            path.append(value.name)
            value = value.parent
        return tuple(path)
    return repr(value)


def _copied(instance: Any, draws: bool) -> Any:
    """A copy that shares nothing but constants, and a random stream that is not used."""
    copied = object.__new__(type(instance))
    known: dict[int, Any] = {}
    for name, value in vars(instance).items():
        if name == "_random":
            vars(copied)[name] = _same_stream(value) if draws else value
        else:
            vars(copied)[name] = _copy(value, known)
    return copied


def _same_stream(random: Random) -> Random:
    copied = Random()
    copied.setstate(random.getstate())
    return copied


def _copy(value: Any, known: dict[int, Any]) -> Any:
    if isinstance(value, _ATOMS):
        return value
    if id(value) in known:
        return known[id(value)]
    if isinstance(value, dict):
        made: Any = known.setdefault(id(value), {})
        made.update({key: _copy(item, known) for key, item in value.items()})
        return made
    if isinstance(value, list):
        made = known.setdefault(id(value), [])
        made.extend([_copy(item, known) for item in value])
        return made
    if isinstance(value, set):
        return known.setdefault(id(value), type(value)(value))
    if type(value).__name__ in _OBJECTS:
        made = known.setdefault(id(value), object.__new__(type(value)))
        vars(made).update({name: _copy(item, known) for name, item in vars(value).items()})
        return made
    return value
