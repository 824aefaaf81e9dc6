"""The values in calls, results and requests, in forms in which equal ones are equal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from envs_registry.workflows.answers import fold, numbers_in

SHORTEST_TEXT = 2
_LONGEST_RUN = 5
_BASES = (*(Decimal(10) ** power for power in range(7)), *map(Decimal, (7, 24, 60, 3600)))
_FACTORS = tuple(factor for base in _BASES for factor in (base, 1 / base))


def values_of(value: Any) -> set[str]:
    """The scalars of a JSON value but booleans and single letters: plain numbers, folded texts."""
    return {normal for leaf in leaves(value) if (normal := _normal(leaf))}


def leaves(value: Any) -> Iterator[Any]:
    """The scalars of a JSON value."""
    if isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def values_in(text: str) -> set[str]:
    """All that a text holds as a value: its numbers, and its words one to five at a time."""
    words = [word.rstrip(".") for word in re.findall(r"[^\s\"'“”‘’,;:?!()\[\]{}]+", fold(text))]
    runs = {
        " ".join(words[at : at + size])
        for size in range(1, _LONGEST_RUN + 1)
        for at in range(len(words) - size + 1)
    }
    return runs | {_plain(number) for number in numbers_in(text)}


def is_told(value: str, known: Iterable[str]) -> bool:
    """Whether a value is among those known, or a number that one of them is in another usual unit."""
    known = set(known)
    number = _number(value)
    if value in known or number is None:
        return value in known
    return any(_plain(number * factor) in known for factor in _FACTORS)


def _normal(leaf: Any) -> str:
    if isinstance(leaf, bool) or leaf is None:
        return ""
    if isinstance(leaf, int | float):
        return _plain(Decimal(repr(leaf)))
    text = fold(str(leaf))
    return text if len(text) >= SHORTEST_TEXT else ""


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _number(text: str) -> Decimal | None:
    return Decimal(text) if re.fullmatch(r"-?\d{1,18}(\.\d{1,18})?", text) else None
