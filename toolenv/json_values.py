"""JSON values from outside, made safe: an independent copy, bounded, and fit to be written as UTF-8."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from toolenv.read_only import ReadOnlyDict, ReadOnlyList

MAX_DEPTH = 64
"""Containers within containers that a value may have."""

MAX_SIZE = 1_000_000
"""Characters of all texts and keys together, each other value counted as one."""

MAX_INTEGER_BITS = 4096
"""Longer integers are refused: writing them takes quadratic time, and JSON readers reject them."""

_FLAT_ITEMS = 32
_FLAT_LENGTH = 10_000
_FLAT_INTEGER = 2**63


_CONTAINERS = frozenset({dict, list})


class UnusableValueError(ValueError):
    """A value that is no JSON value, or beyond the bounds; its text is short and fit for an agent."""


def clean_json(value: Any) -> tuple[Any, bool]:
    """An independent copy of a JSON value, and whether any text had to be changed.

    Surrogate pairs are joined and lone surrogates become U+FFFD (FIELD-079). Tuples are read as arrays and
    mappings as objects.

    Raises:
        UnusableValueError: a type JSON does not know, a key that is no text, NaN or an infinity, or a
            value beyond :data:`MAX_DEPTH`, :data:`MAX_SIZE` or :data:`MAX_INTEGER_BITS`.
    """
    if (type(value) is dict or type(value) is ReadOnlyDict) and _is_flat(value):
        return dict.copy(value), False
    copier = _Copier()
    return copier.copy(value, 0), copier.changed


def copy_json(value: Any) -> Any:
    """An independent copy of a value that :func:`clean_json` has made."""
    if type(value) is dict:
        for item in value.values():
            if type(item) in _CONTAINERS:
                return {key: copy_json(item) for key, item in value.items()}
        return value.copy()
    return [copy_json(item) for item in value] if type(value) is list else value


def _is_flat(value: dict[Any, Any]) -> bool:
    """Whether ``value`` needs no more than a shallow copy: the usual arguments, told fast."""
    if len(value) > _FLAT_ITEMS:
        return False
    for key, item in value.items():
        if type(key) is not str or not key.isascii() or len(key) > _FLAT_LENGTH:
            return False
        kind = type(item)
        if kind is str:
            if not item.isascii() or len(item) > _FLAT_LENGTH:
                return False
        elif kind is int:
            if not -_FLAT_INTEGER < item < _FLAT_INTEGER:
                return False
        elif not (kind is bool or item is None or (kind is float and math.isfinite(item))):
            return False
    return True


def mend_surrogates(text: str) -> str:
    """``text`` with surrogate pairs joined and lone surrogates replaced by U+FFFD, so that it encodes."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


class _Copier:
    """Copies one value, keeping account of its size."""

    __slots__ = ("changed", "room")

    def __init__(self) -> None:
        self.changed = False
        self.room = MAX_SIZE

    def copy(self, value: Any, depth: int) -> Any:
        """A copy of ``value``, which lies inside ``depth`` containers."""
        kind = type(value)
        if kind is str:
            return self._text(value)
        if kind is dict:
            return self._object(value, depth)
        if kind is list or kind is tuple:
            return self._array(value, depth)
        if kind is bool or value is None:
            self._spend(1)
            return value
        if kind is int or kind is float:
            return self._number(value)
        if kind is ReadOnlyDict:
            return self._object(value, depth)
        return self._array(value, depth) if kind is ReadOnlyList else self._unusual(value, depth)

    def _number(self, value: int | float) -> int | float:
        self._spend(1)
        if isinstance(value, int):
            if value.bit_length() > MAX_INTEGER_BITS:
                raise UnusableValueError(f"an integer of more than {MAX_INTEGER_BITS} bits")
        elif not math.isfinite(value):
            raise UnusableValueError(f"{value} is no JSON number")
        return value

    def _text(self, value: str) -> str:
        self._spend(len(value))
        if value.isascii():
            return value
        mended = mend_surrogates(value)
        if mended is not value:
            self.changed = True
        return mended

    def _object(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        self._enter(depth)
        copy: dict[str, Any] = {}
        for key, item in value.items():
            if self.room < 0:
                break
            if type(key) is str and key.isascii():  # as nearly all are; and most items are texts, too
                self.room -= len(key)
                kind = type(item)
                if kind is str and item.isascii():
                    self.room -= len(item)
                    copy[key] = item
                elif kind is dict:
                    copy[key] = self._object(item, depth + 1)
                else:
                    copy[key] = self.copy(item, depth + 1)
                continue
            if not isinstance(key, str):
                raise UnusableValueError(f"a key of type {type(key).__name__}; keys are texts")
            copy[self._text(str.__str__(key))] = self.copy(item, depth + 1)
        self._spend(0)
        return copy

    def _array(self, value: list[Any] | tuple[Any, ...], depth: int) -> list[Any]:
        self._enter(depth)
        return [self.copy(item, depth + 1) for item in value]

    def _enter(self, depth: int) -> None:
        self._spend(1)
        if depth >= MAX_DEPTH:
            raise UnusableValueError(f"nested more than {MAX_DEPTH} levels deep")

    def _spend(self, size: int) -> None:
        self.room -= size
        if self.room < 0:
            raise UnusableValueError(f"longer than {MAX_SIZE} characters in all")

    def _unusual(self, value: Any, depth: int) -> Any:
        """Subclasses of JSON's own types, and other mappings; nothing else."""
        try:
            return self._converted(value, depth)
        except UnusableValueError:
            raise
        except Exception as error:  # their own methods may do anything
            said = f"{type(value).__name__} cannot be read: {type(error).__name__}"
            raise UnusableValueError(said) from error

    def _converted(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self._text(str.__str__(value))
        if isinstance(value, int):
            return self._number(int(value))
        if isinstance(value, float):
            return self._number(float(value))
        if isinstance(value, Mapping):
            return self._object(value, depth)
        if isinstance(value, (list, tuple)):
            return self._array(value, depth)
        raise UnusableValueError(f"{type(value).__name__} is no JSON type")
