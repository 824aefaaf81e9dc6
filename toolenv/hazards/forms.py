"""Results as values: reading them, changing parts of them, and showing them again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from toolenv.kernel.clean import shown
from toolenv.plan import EACH, Path
from toolenv.types import ToolResult

ABSENT: Final = object()


def value_of(result: ToolResult) -> Any:
    """The JSON value a result shows; its text where that is no JSON."""
    text = result.text
    try:
        return json.loads(text)
    except ValueError:
        return text


def shown_again(value: Any, clean: ToolResult) -> ToolResult:
    """A changed value as the agent is shown it, cut where the clean result was cut."""
    was_cut = clean.full is not None and len(clean.full) > len(clean.content)
    return shown(value, clean.kind, clean.record, len(clean.content) if was_cut else None)


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
        return {names.get(key, key): renamed(item, names) for key, item in value.items()}
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
    return isinstance(value, int | float) and not isinstance(value, bool)
