"""Equality of states as text: equal states, and only those, have one canonical text and digest.

Equal means Python's ``==``: ``True``, ``1`` and ``1.0`` are one value, so are ``-0.0`` and ``0.0``; the order
of keys and of set items does not count; a tuple is no list and ``"1"`` no number. The one exception is NaN,
which equals itself here, so that a state always equals its copy.

Text that stands for a number (``"130.00"``) is compared as one only in fields declared numeric: identifiers
keep their leading zeros. A field is the nearest dictionary key that is text, so the items of a list belong to
the field that holds the list. Within a numeric field floats count as they are written: ``130.1`` is
``"130.10"``.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Collection, Iterator
from decimal import Decimal
from fractions import Fraction
from json.encoder import encode_basestring_ascii
from typing import Any, Final, TypeAlias

from toolenv.errors import UsageError

Encoder: TypeAlias = Callable[[Any], Any]
"""Turns an object of another type into plain values holding all that its ``==`` compares.

It may return further such objects inside, and raises for what it does not know.
"""

Number: TypeAlias = int | float | Decimal | Fraction

MAX_DEPTH: Final = 128
"""Containers within containers, encoded objects counted; deeper values are refused, endless ones too."""

_NUMBERS: Final = (int, float, Decimal, Fraction)
_PLAIN: Final = (*_NUMBERS, str, bytes, bytearray, dict, list, tuple, set, frozenset)
_PRINTABLE_BITS: Final = 13_000  # Python writes no integer of more than 4,300 digits in decimal
_WRITTEN_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,300}(\.[0-9]{0,300})?([eE][+-]?[0-9]{1,3})?")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONGEST_SHOWN: Final = 160
_CONTEXT_SHOWN: Final = 40


def canonical(value: Any, *, encode: Encoder | None = None, numeric_fields: Collection[str] = ()) -> str:
    """Canonical text: the same for two values exactly if they are equal.

    Args:
        value: ``None``, numbers, text, bytes, lists, tuples, dictionaries and sets, nested; other objects
            only with an encoder.
        encode: see :data:`Encoder`.
        numeric_fields: the fields whose text is compared as a number, see the module.

    Raises:
        UsageError: an object of a type that neither this function nor ``encode`` knows.
        RecursionError: more than :data:`MAX_DEPTH` levels, or a value that holds itself.
    """
    return _Writer(encode, frozenset(numeric_fields)).text(value, "", 0)


def digest(value: Any, *, encode: Encoder | None = None, numeric_fields: Collection[str] = ()) -> str:
    """SHA-256 of the canonical text, in hex; arguments and errors as for :func:`canonical`."""
    text = canonical(value, encode=encode, numeric_fields=numeric_fields)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def differences(
    expected: Any, actual: Any, *, encode: Encoder | None = None, numeric_fields: Collection[str] = ()
) -> tuple[str, ...]:
    """Where two values differ, one line each, e.g. ``"zip: expected '01234', got '1234'"``.

    Empty exactly if the canonical texts are equal; arguments and errors as for :func:`canonical`.
    """
    writer = _Writer(encode, frozenset(numeric_fields))
    return tuple(_differences(writer, expected, actual, "", ""))


# ---- canonical text ----


class _Writer:
    """Writes values; the text of each kind begins with a sign of its own, so that no two kinds meet."""

    __slots__ = ("encode", "numeric_fields")

    def __init__(self, encode: Encoder | None, numeric_fields: frozenset[str]) -> None:
        self.encode = encode
        self.numeric_fields = numeric_fields

    def text(self, value: Any, field: str, depth: int) -> str:
        """The text of ``value``, found in ``field``, inside ``depth`` containers."""
        if isinstance(value, str):
            return self._string(value, field)
        if value is None:
            return "null"
        if isinstance(value, _NUMBERS):
            return _as_written(value) if field in self.numeric_fields else _number(value)
        if isinstance(value, (bytes, bytearray)):
            return f"b{value.hex()}"
        if depth >= MAX_DEPTH:
            raise RecursionError(f"more than {MAX_DEPTH} containers within each other, or one holds itself")
        return self._container(value, field, depth + 1)

    def key(self, key: Any) -> str:
        """The text of a dictionary key, which belongs to no field."""
        return self.text(key, "", 0)

    def plain(self, value: Any) -> Any:
        """What the encoder makes of an object of another type."""
        if self.encode is None:
            raise UsageError(
                f"no canonical form for {type(value).__name__} {value!r:.80}; "
                "pass encode=, a function that turns such objects into plain values"
            )
        return self.encode(value)

    def _string(self, value: str, field: str) -> str:
        if field in self.numeric_fields and _WRITTEN_NUMBER.fullmatch(value):
            return _number(Fraction(value))
        return encode_basestring_ascii(value)

    def _container(self, value: Any, field: str, depth: int) -> str:
        if isinstance(value, dict):
            items = [
                f"{self.key(key)}:{self.text(item, _field(key, field), depth)}" for key, item in value.items()
            ]
            return "{" + ",".join(sorted(items)) + "}"
        if isinstance(value, (set, frozenset)):
            return "<" + ",".join(sorted([self.text(item, field, depth) for item in value])) + ">"
        if not isinstance(value, (list, tuple)):
            return "@" + self.text(self.plain(value), field, depth)
        inner = ",".join([self.text(item, field, depth) for item in value])
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"


def _field(key: Any, outer: str) -> str:
    return key if isinstance(key, str) else outer


def _number(value: Number) -> str:
    """Exact: numbers of any type have one text if they are equal, another if not."""
    if _is_float(value) and (value != value or abs(value) == math.inf):
        return repr(float(value))
    over, under = value.as_integer_ratio()
    return _integer(over) if under == 1 else f"{_integer(over)}/{_integer(under)}"


def _as_written(value: Number) -> str:
    """As the text of the same digits; this is what makes ``130.1`` the number ``"130.10"``."""
    if isinstance(value, float) and math.isfinite(value):
        return _number(Fraction(repr(float(value))))
    return _number(value)


def _is_float(value: Number) -> bool:
    return isinstance(value, (float, Decimal))


def _integer(value: int) -> str:
    return str(value) if value.bit_length() < _PRINTABLE_BITS else hex(value)


# ---- differences ----

_ABSENT: Final = object()


def _differences(writer: _Writer, expected: Any, actual: Any, path: str, field: str) -> Iterator[str]:
    if writer.text(expected, field, 0) == writer.text(actual, field, 0):
        return
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in sorted({**expected, **actual}, key=writer.key):
            inner = (
                f"{path}.{key}" if isinstance(key, str) and _IDENTIFIER.fullmatch(key) else f"{path}[{key!r}]"
            )
            pair = expected.get(key, _ABSENT), actual.get(key, _ABSENT)
            yield from _pair(writer, *pair, inner.removeprefix("."), _field(key, field))
    elif _same_kind_of_list(expected, actual):
        for index in range(max(len(expected), len(actual))):
            pair = _item(expected, index), _item(actual, index)
            yield from _pair(writer, *pair, f"{path}[{index}]", field)
    elif _is_object(expected) and _is_object(actual):
        yield from _differences(writer, writer.plain(expected), writer.plain(actual), path, field)
    else:
        yield _line(path, *_shown(expected, actual))


def _pair(writer: _Writer, expected: Any, actual: Any, path: str, field: str) -> Iterator[str]:
    if expected is _ABSENT:
        yield _line(path, "nothing", _cut(repr(actual)))
    elif actual is _ABSENT:
        yield _line(path, _cut(repr(expected)), "nothing")
    else:
        yield from _differences(writer, expected, actual, path, field)


def _item(items: list[Any] | tuple[Any, ...], index: int) -> Any:
    return items[index] if index < len(items) else _ABSENT


def _same_kind_of_list(expected: Any, actual: Any) -> bool:
    return any(isinstance(expected, kind) and isinstance(actual, kind) for kind in (list, tuple))


def _is_object(value: Any) -> bool:
    return value is not None and not isinstance(value, _PLAIN)


def _line(path: str, expected: str, actual: str) -> str:
    return f"{path or 'value'}: expected {expected}, got {actual}"


def _shown(expected: Any, actual: Any) -> tuple[str, str]:
    """Both values for people; of long ones the part around the first difference."""
    texts = repr(expected), repr(actual)
    if max(map(len, texts)) <= _LONGEST_SHOWN:
        return texts
    same = next(
        (at for at, pair in enumerate(zip(*texts, strict=False)) if pair[0] != pair[1]), min(map(len, texts))
    )
    start = max(0, same - _CONTEXT_SHOWN)
    return _cut(texts[0], start), _cut(texts[1], start)


def _cut(text: str, start: int = 0) -> str:
    end = start + _LONGEST_SHOWN
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")
