"""What people do to JSON files by hand, and what disks do to them; seeded, so that tests repeat."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

T = TypeVar("T")

WRONG: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, -1, 1.5, 10**400, 1e308, float("nan"), float("inf")),
    *("", "x", "1", "None", "\ud800", "\x00", "a" * 10_000),
    *([], {}, [[]], [None], [{}], {"": None}, {"version": 1}),
)

RAW: Final = ("empty", "cut", "not UTF-8", "UTF-16", "NaN", "nested", "key twice", "NUL", "BOM")
"""What :func:`damaged` does."""


def edited(data: Any, seed: int) -> Any:
    """A copy of JSON data with one value changed, dropped, renamed, added, or taken from another place."""
    chance, made = random.Random(seed), copy.deepcopy(data)
    places = list(_places(made))
    container, key = chance.choice(places)
    other, there = chance.choice(places)
    way = chance.choice(("set", "set", "drop", "rename", "add", "copy", "text", "twice"))
    if way == "set":
        container[key] = copy.deepcopy(chance.choice(WRONG))
    elif way == "drop":
        del container[key]
    elif way == "copy":
        container[key] = copy.deepcopy(other[there])
    elif way == "text":
        container[key] = str(container[key])
    elif isinstance(container, list):
        container.insert(key, copy.deepcopy(chance.choice((container[key], *WRONG))))
    elif way == "rename":
        container[f"{key}x"] = container.pop(key)
    else:
        container[f"{key} 2"] = copy.deepcopy(container[key] if way == "twice" else chance.choice(WRONG))
    return made


def damaged(content: bytes, way: str) -> bytes:
    """The bytes of a JSON object's file, damaged in one of the ways :data:`RAW`."""
    half = len(content) // 2
    return {
        "empty": b"",
        "cut": content[:half],
        "not UTF-8": content[:half] + b"\xe9\xff" + content[half:],
        "UTF-16": content.decode().encode("utf-16"),
        "NaN": content.replace(b"{", b'{"extra": NaN, ', 1),
        "nested": b"[" * 100_000,
        "key twice": content.replace(b"{", b'{"version": 1, ', 1),
        "NUL": content[:half] + b"\x00" + content[half:],
        "BOM": b"\xef\xbb\xbf" + content,
    }[way]


def read_or_refused(read: Callable[[], T], error: type[Exception], place: str) -> T | None:
    """What ``read`` returns; ``None`` if it refuses with this error, which has to name the place."""
    try:
        return read()
    except error as refused:
        if place not in str(refused):
            raise AssertionError(f"{place!r} is not named") from refused
        return None


def as_bytes(data: Any) -> bytes:
    """The text of a file that holds this; lone surrogates as they are."""
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every container with every key in it."""
    if isinstance(data, dict | list):
        keys = list(data) if isinstance(data, dict) else range(len(data))
        for key in keys:
            yield data, key
            yield from _places(data[key])
