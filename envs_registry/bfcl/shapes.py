"""What a tool can return, as far as its source says, and whether a given text can be that.

A shape stands for a set of returned values. Every answer here errs to one side: :func:`may_be` says ``False``
only of a text that no value of the shape is written as.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

_KINDS: Final[Mapping[type, str]] = {
    str: "text",
    int: "number",
    float: "number",
    bool: "truth",
    type(None): "none",
    list: "list",
    dict: "record",
}


@dataclass(frozen=True, slots=True)
class Value:
    """What is known of a value.

    Attributes:
        kind: ``text``, ``number``, ``truth``, ``none``, ``list`` or ``record``; empty if unknown.
        pattern: what a text is made of: its fixed parts, ``None`` for the rest.
    """

    kind: str = ""
    pattern: tuple[str | None, ...] = (None,)


@dataclass(frozen=True, slots=True)
class Record:
    """A dictionary that the source writes out: its keys in order, and those that may be set afterwards."""

    fields: tuple[tuple[str, Value], ...]
    later: tuple[tuple[str, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class Kept:
    """What the backend keeps in an attribute: the whole of it (depth 0) or one of its items (depth 1)."""

    attribute: str
    depth: int
    later: frozenset[str] = frozenset()


Shape: TypeAlias = Value | Record | Kept

ANYTHING: Final = Value()
NONE: Final = Value("none")


@dataclass(frozen=True, slots=True)
class Store:
    """What a backend may keep, for :class:`Kept`.

    Attributes:
        initial: those of its attributes before the first call that are JSON values.
        written: attributes that some tool may change.
        puts: for each of these the shapes of the items that tools put into it; ``None`` where that, or what
            else becomes of the attribute, cannot be said.
        later: keys that tools set in dictionaries that exist already; ``None`` if any.
        adjusted: attributes with items that are no containers and that tools add to.
    """

    initial: Mapping[str, Any]
    written: frozenset[str]
    puts: Mapping[str, tuple[Shape, ...] | None]
    later: frozenset[str] | None
    adjusted: frozenset[str]


def value_of(constant: Any) -> Value:
    """What is known of a constant."""
    kind = _KINDS.get(type(constant), "")
    return Value(kind, (constant,)) if kind == "text" else Value(kind)


def may_be(text: str, shape: Shape, store: Store) -> bool:
    """Whether the world can write some value of ``shape`` as ``text``.

    The world writes texts as they are, dictionaries as JSON where that works, else ``str()``.
    """
    if isinstance(shape, Value):
        return _may_be_value(text, shape)
    read = _read_object(text)
    if isinstance(shape, Record):
        return _may_be_record(text, read, shape)
    return _may_be_kept(text, read, shape, store)


def _may_be_value(text: str, value: Value) -> bool:
    if value.kind == "text":
        return _fits(text, value.pattern)
    if value.kind == "none":
        return text == "None"
    if value.kind == "truth":
        return text in ("True", "False")
    if value.kind == "list":
        return text.startswith("[")
    if value.kind == "record":
        return text.startswith("{")
    if value.kind == "number":
        return not text.startswith(("{", "[")) and text != "None"
    return True


def _may_be_record(text: str, read: dict[str, Any] | None, shape: Record) -> bool:
    if read is None:  # then it is the str() of a dictionary, if anything
        fields = ", ".join(rf"'{re.escape(name)}': .*" for name, _ in shape.fields)
        return bool(re.fullmatch(rf"\{{{fields}{'.*' if shape.later else ''}\}}", text, re.DOTALL))
    first = len(shape.fields)
    if tuple(read)[:first] != tuple(name for name, _ in shape.fields):
        return False
    known: dict[str, list[Value]] = {}
    for name, value in (*shape.fields, *shape.later):
        known.setdefault(name, []).append(value)
    return all(
        name in known and any(_may_hold(item, one) for one in known[name]) for name, item in read.items()
    )


def _may_hold(item: Any, value: Value) -> bool:
    """Whether a JSON value can be what is written of ``value``; exotic numbers are written as text."""
    if not value.kind:
        return True
    if value.kind == "text":
        return isinstance(item, str) and _fits(item, value.pattern)
    return _KINDS[type(item)] == value.kind


def _may_be_kept(text: str, read: dict[str, Any] | None, shape: Kept, store: Store) -> bool:
    if shape.attribute not in store.initial:
        return True
    kept = store.initial[shape.attribute]
    if shape.attribute not in store.written and not shape.later:
        return text in map(_written, _items(kept, shape.depth))
    puts = store.puts.get(shape.attribute, ())
    if puts is None:
        return True
    later = None if store.later is None else store.later | shape.later
    if shape.depth == 0:
        return _may_become(text, read, kept, later if not puts else None)
    for item in _items(kept, 1):
        is_constant = not isinstance(item, dict | list) and shape.attribute not in store.adjusted
        if text == _written(item) if is_constant else _may_become(text, read, item, later):
            return True
    return any(may_be(text, _open_ended(put, later), store) for put in puts)


def _may_become(text: str, read: dict[str, Any] | None, value: Any, later: frozenset[str] | None) -> bool:
    """Whether a text can be that of a value that keeps its kind and its keys, whatever happens to it."""
    if isinstance(value, dict):
        if read is None or later is None:
            return text.startswith("{")
        keys, start = tuple(read), tuple(value)
        return keys[: len(start)] == start and later.issuperset(keys[len(start) :])
    return text.startswith("[") if isinstance(value, list) else True


def _open_ended(shape: Shape, later: frozenset[str] | None) -> Shape:
    """A shape whose values may get more keys, and others under keys that are set."""
    if not isinstance(shape, Record):
        return ANYTHING if isinstance(shape, Kept) else shape
    if later is None:
        return Value("record")
    fields = tuple((name, ANYTHING if name in later else value) for name, value in shape.fields)
    more = tuple((name, ANYTHING) for name in sorted(later - {name for name, _ in shape.fields}))
    return Record(fields, (*shape.later, *more))


def _items(kept: Any, depth: int) -> Iterator[Any]:
    """A value, or each of its items."""
    if not depth:
        yield kept
    elif isinstance(kept, dict | list):
        yield from kept.values() if isinstance(kept, dict) else kept


def _written(value: Any) -> str:
    if isinstance(value, dict):
        try:
            return json.dumps(value)
        except (TypeError, ValueError):
            return str(value)
    return str(value)


def _fits(text: str, pattern: tuple[str | None, ...]) -> bool:
    expression = "".join(".*" if part is None else re.escape(part) for part in pattern)
    return re.fullmatch(expression, text, re.DOTALL) is not None


def _read_object(text: str) -> dict[str, Any] | None:
    try:
        read = json.loads(text)
    except ValueError:
        return None
    return read if isinstance(read, dict) else None
