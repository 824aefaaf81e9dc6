"""Which calls are worth trying: tools with arguments that an agent could know."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, Final

from toolenv.task import Task
from toolenv.types import Message, ToolCalls, ToolSpec

MOST_CALLS: Final = 60
"""How many calls of one tool are tried in one state."""

_MOST_OPTIONS: Final[Mapping[int, int]] = {1: 40, 2: 14, 3: 6}
_FEW_OPTIONS: Final = 3
_OMITTED: Final = object()


@dataclass(frozen=True, slots=True)
class Clue:
    """A value that the reference solution uses, and where; grounded or not."""

    parameter: str
    turn: int
    value: Any


def clues(task: Task) -> tuple[Clue, ...]:
    """The values in a task's reference solution, and the items of its lists."""
    found, turn = [], 0
    for action in task.reference.solution():
        if isinstance(action, Message):
            turn += 1
        elif isinstance(action, ToolCalls):
            for call in action.calls:
                for name, value in call.arguments.items():
                    found.append(Clue(name, turn, value))
                    if isinstance(value, list):
                        found += [Clue("", turn, item) for item in value]
    return tuple({(one.parameter, one.turn, json.dumps(one.value)): one for one in found}.values())


class Candidates:
    """The calls to try of each tool.

    Args:
        clues: the values of the reference solution, in whose order options are tried. What is not grounded
            is never used.
        choices: the values that a parameter's documentation lists.
    """

    def __init__(self, clues: tuple[Clue, ...], choices: Callable[[str, str], Iterable[Any]]) -> None:
        self._clues, self._choices = clues, choices

    def of(
        self,
        tool: ToolSpec,
        turn: int,
        is_known: Callable[[Any], bool],
        seen: Callable[[str], Iterable[Any]],
    ) -> Iterator[dict[str, Any]]:
        """Arguments for a tool, the most promising first.

        Args:
            tool: the tool.
            turn: the user turn.
            is_known: whether a value is grounded now.
            seen: values for a parameter found in what was read.
        """
        parameters = tool.parameters.get("properties", {})
        required = set(tool.parameters.get("required", ()))
        most = _MOST_OPTIONS.get(len(parameters), _FEW_OPTIONS)
        ranked = []
        for name, schema in parameters.items():
            options = self._options(tool.name, name, schema, turn, is_known, seen(name))
            if name not in required:
                options = _merge(options, [(1, _OMITTED)])
            if not options:
                return
            ranked.append([(rank, name, value) for rank, value in options[:most]])
        combined = sorted(product(*ranked), key=lambda chosen: sum(rank for rank, _, _ in chosen))
        for chosen in islice(combined, MOST_CALLS):
            yield {name: value for _, name, value in chosen if value is not _OMITTED}

    def _options(
        self,
        tool: str,
        parameter: str,
        schema: Mapping[str, Any],
        turn: int,
        is_known: Callable[[Any], bool],
        seen: Iterable[Any],
    ) -> list[tuple[int, Any]]:
        listed = [*schema.get("enum", ()), *self._choices(tool, parameter)]
        if schema.get("type") == "boolean":
            listed += [True, False]
        found = [(1, value) for value in listed]
        for clue in self._clues:
            for value in _fitting(clue.value, schema):
                found.append((_rank(clue, parameter, turn), value))
        found += [(4, value) for value in seen]
        return [(rank, value) for rank, value in _merge(found, []) if is_known(value)]


def _rank(clue: Clue, parameter: str, turn: int) -> int:
    return 2 * (clue.parameter != parameter) + (clue.turn != turn)


def _merge(options: list[tuple[int, Any]], more: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    """Without repetitions, the best first."""
    best: dict[str, tuple[int, Any]] = {}
    for rank, value in sorted((*options, *more), key=lambda option: option[0]):
        key = "" if value is _OMITTED else json.dumps(value, sort_keys=True)
        best.setdefault(key, (rank, value))
    return list(best.values())


_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
}


def _fitting(value: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    """The value, if it is of the schema's type; a text also by itself in a list."""
    kind = schema.get("type", "")
    if isinstance(value, bool):
        return
    if isinstance(value, _TYPES.get(kind, ())):
        yield value
    elif kind == "integer" and isinstance(value, float) and value.is_integer():
        yield int(value)
    elif kind == "array" and isinstance(value, str):
        yield [value]
