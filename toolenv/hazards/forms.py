"""Results as values: reading them, changing parts of them, and showing them again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from toolenv.kernel.clean import shown
from toolenv.plan import EACH, Path
from toolenv.quick import new_tuple
from toolenv.rendering import render
from toolenv.types import ToolResult

ABSENT: Final = object()

_CONTAINERS = frozenset({dict, list})
_read = json.JSONDecoder().raw_decode


def value_of(result: ToolResult) -> Any:
    """The JSON value a result shows; its text where that is no JSON."""
    text = result.text
    try:
        value, end = _read(text)  # faster than `loads`, and does not read white space around the value
        if end == len(text):
            return value
    except ValueError:
        pass
    try:
        return json.loads(text)
    except ValueError:
        return text


def shown_again(value: Any, clean: ToolResult) -> ToolResult:
    """A changed value as the agent is shown it, cut where the clean result was cut."""
    content, kind, full, record = clean
    if full is None and not isinstance(value, str):
        return new_tuple(ToolResult, (render(value), kind, None, record))
    was_cut = full is not None and len(full) > len(content)
    return shown(value, kind, record, len(content) if was_cut else None)


def parts_at(value: Any, path: Path) -> Iterator[Any]:
    """The parts of a value at a path: several where it goes through every item of an array."""
    if not path:
        yield value
    elif path[0] == EACH:
        for item in value if isinstance(value, list) else ():
            yield from parts_at(item, path[1:])
    else:
        inner = _step(value, path[0])
        if inner is not ABSENT:
            yield from parts_at(inner, path[1:])


def _step(value: Any, key: str | int) -> Any:
    if isinstance(key, int):
        return value[key] if isinstance(value, list) and -len(value) <= key < len(value) else ABSENT
    return value.get(key, ABSENT) if isinstance(value, Mapping) else ABSENT


def changed_at(value: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    """A copy of ``value`` whose parts at ``path`` are changed; itself where there are none."""
    if not path:
        return change(value)
    if len(path) == 1 and type(value) is dict and path[0] in value and path[0] != EACH:  # nearly always
        return {**value, path[0]: change(value[path[0]])}
    if path[0] == EACH:
        return [changed_at(item, path[1:], change) for item in value] if isinstance(value, list) else value
    inner = _step(value, path[0])
    if inner is ABSENT:
        return value
    copy = value.copy()
    copy[path[0]] = changed_at(inner, path[1:], change)
    return copy


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """A copy whose objects have other keys, at every depth; the order of the keys stays."""
    if isinstance(value, dict):
        return {
            names.get(key, key): renamed(item, names) if type(item) in _CONTAINERS else item
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [renamed(item, names) for item in value]
    return value


def generic(path: Path) -> Path:
    """A path for every item of the arrays it goes through: a hazard disturbs all of them alike."""
    return tuple(EACH if isinstance(step, int) else step for step in path)


def last_name(path: Path) -> str:
    """The name of the field a path ends in; empty if it names none."""
    return next((step for step in reversed(path) if isinstance(step, str) and step != EACH), "")


def is_number(value: Any) -> bool:
    """Whether a value is a JSON number."""
    return type(value) is int or type(value) is float
