"""Response shapes, filled: upstream's ``template_response`` with values in place of its type names.

A shape is what a real response looked like, each value replaced by the name of its type. Filling is a pure
function of the shape, a key and the call's arguments: the same call gets the same answer in every process.

- ``"str"``, ``"int"``, ``"float"``, ``"bool"``: a value of the type that suits its key, or the argument of
  that name.
- ``"NoneType"``: null; ``"empty list"``: an empty list.
- ``"list of T with length N"``, alone or as the one item of a list: N values of type T.
- ``[{…, "_list_length": N}]``: N such objects.
- Lists and objects under a key such as ``errors``: empty. Shapes were taken from failed requests, too.
- Any other value: itself.

No list has more than :data:`MAX_ITEMS` items.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from envs_registry.stable_tool_bench.naming import without_prefix
from envs_registry.stable_tool_bench.plausible import Dice, is_error, plain_key, plausible
from toolenv.seeding import mix

MAX_ITEMS = 10
"""Items a list is filled with: agents see 1,024 characters, and some shapes ask for thousands of values."""

LONGEST_ECHO = 200
"""Characters of an argument that an answer may repeat."""

GENERIC_SHAPE: Mapping[str, Any] = {
    "status": "str",
    "data": [{"id": "int", "name": "str", "description": "str", "_list_length": 3}],
}
"""The shape of APIs whose documents show none."""

_LENGTH = "_list_length"
_TYPES = frozenset({"str", "int", "float", "bool"})
_LIST = re.compile(r"list of (\w+) with length (\d{1,9})")
_IDENTIFYING = re.compile(r"id$|name|title|slug|key$|url$|link$|^symbol$")
_WHOLE = re.compile(r"-?\d{1,15}")
_DECIMAL = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")


def read_shape(template: Any) -> Any:
    """The shape in a ``template_response``; ``None`` where it shows none.

    Upstream writes long ones as JSON text and cuts it; of that, what is whole counts.
    """
    if isinstance(template, str):
        try:
            template = from_json(template.removesuffix("..."), allow_partial=True)
        except ValueError:
            return None
    return template or None


def fill(shape: Any, key: int, arguments: Mapping[str, Any]) -> Any:
    """An answer of the given shape.

    Args:
        shape: as :func:`read_shape` gives it.
        key: what the values depend on.
        arguments: the call's; where a key of the shape bears the name of one, its value comes back.
    """
    return _Filler(key, arguments).value(shape, "")


class _Filler:
    """Fills one shape; values are numbered in the order of the shape."""

    def __init__(self, key: int, arguments: Mapping[str, Any]) -> None:
        self.key, self.count, self.lists = key, 0, 0
        self.echo = {plain_key(without_prefix(name)): value for name, value in arguments.items()}

    def value(self, shape: Any, key: str) -> Any:
        """The value of a part of the shape that stands under ``key``."""
        if isinstance(shape, dict | list) and is_error(plain_key(key)):
            return [] if isinstance(shape, list) else {}
        if isinstance(shape, dict):
            return {name: self.value(part, name) for name, part in shape.items() if name != _LENGTH}
        if isinstance(shape, list):
            return self.items(shape, key)
        if not isinstance(shape, str):
            return shape
        if shape in _TYPES:
            return self.leaf(shape, key)
        if shape == "NoneType":
            return None
        if shape == "empty list":
            return []
        several = _LIST.fullmatch(shape)
        return shape if several is None else self.several(several[1], int(several[2]), key)

    def items(self, shapes: list[Any], key: str) -> list[Any]:
        """A list; its one shape stands for as many items as it says."""
        if len(shapes) != 1:
            return [self.value(shape, key) for shape in shapes]
        (shape,) = shapes
        if isinstance(shape, str) and _LIST.fullmatch(shape):
            several: list[Any] = self.value(shape, key)
            return several
        length = shape.get(_LENGTH, 1) if isinstance(shape, dict) else 1
        count = min(length, MAX_ITEMS) if isinstance(length, int) else 1
        self.lists += 1
        filled = [self.value(shape, key) for _ in range(count)]
        self.lists -= 1
        return filled

    def several(self, kind: str, length: int, key: str) -> list[Any]:
        """``length`` values of a type; of lists and objects the shape tells no more, so they are empty."""
        count = min(length, MAX_ITEMS)
        if kind in _TYPES:
            return [self.made(kind, plain_key(key)) for _ in range(count)]
        empty: Any = {"list": list, "dict": dict}.get(kind, type(None))
        return [empty() for _ in range(count)]

    def leaf(self, kind: str, key: str) -> Any:
        """A value of one of the four types: the argument of that name, if there is one."""
        plain = plain_key(key)
        if self.lists and _IDENTIFYING.search(plain):  # the items of a list are not all one thing
            return self.made(kind, plain)
        echoed = _as_type(self.echo.get(plain), kind)
        return self.made(kind, plain) if echoed is None else echoed

    def made(self, kind: str, key: str) -> Any:
        """A made-up value of one of the four types."""
        self.count += 1
        return plausible(kind, key, Dice(mix(self.key, self.count)))


def _as_type(value: Any, kind: str) -> Any:
    """An argument as a value of the type; ``None`` if it is none."""
    if isinstance(value, bool):
        return value if kind == "bool" else None
    if not isinstance(value, str | int | float):
        return None
    text = value if isinstance(value, str) else repr(value)
    if kind == "str":
        return text if text and len(text) <= LONGEST_ECHO else None
    if kind == "int":
        return int(text) if _WHOLE.fullmatch(text) else None
    return float(text) if kind == "float" and _DECIMAL.fullmatch(text) else None
