"""Values that are wrong and plausible: of the same type and form, and never the same."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from typing import Any

from toolenv.hazards.forms import is_number

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_LARGE = 10**20
_MOST_DIGITS = 20
"""Larger and longer numbers, and those with an exponent, are moved as decimals, which takes longer."""

_DIGIT = re.compile(r"[0-9]")
_DIGITS = "0123456789"
_SHIFTED = [str.maketrans(_DIGITS, _DIGITS[shift:] + _DIGITS[:shift]) for shift in range(1, 10)]
_PERCENT = (-23, -17, -12, -8, 9, 13, 18, 26)
_NAMES = (
    "Jordan Blake", "Alexis Moreau", "Robin Castellan", "Marek Oduya", "Selma Thorne", "Iver Lindqvist",
    "Noor Haddad", "Paulo Ferrand",
)  # fmt: skip


def other_value(value: Any, draw: int) -> Any:
    """A value like ``value`` that is not the same; what has no other form comes back as it is.

    Numbers move by a tenth to a quarter and keep their decimals; days move by one to thirteen months; other
    texts with digits get other digits, those without become a name; arrays lose their last item.
    """
    if is_number(value):
        return _other_number(value, draw)
    if isinstance(value, list):
        return value[:-1]
    if not isinstance(value, str):
        return value
    if _DATE.fullmatch(value):
        return _other_day(value, draw)
    if _DIGIT.search(value):
        return value.translate(_SHIFTED[draw % 9])
    name = _NAMES[draw % len(_NAMES)]
    return name if name != value else _NAMES[(draw + 1) % len(_NAMES)]


def _other_number(value: int | float, draw: int) -> int | float:
    percent = _PERCENT[draw % len(_PERCENT)]
    if type(value) is int and -_LARGE < value < _LARGE:
        return _moved(value, percent)
    whole, point, decimals = (text := repr(value)).partition(".")
    if not point or len(text) > _MOST_DIGITS or not decimals.isdecimal():
        return _other_decimal(Decimal(text), percent, type(value))
    scale: int = 10 ** len(decimals)
    return _moved(int(whole + decimals), percent) / scale


def _moved(number: int, percent: int) -> int:
    """A number in units of its last decimal, moved: rounded to the even neighbour, and never the same."""
    quotient, rest = divmod(number * (100 + percent), 100)
    moved = quotient + (rest > 50 or (rest == 50 and quotient % 2))
    return moved if moved != number else moved + (1 if percent > 0 else -1)


def _other_decimal(exact: Decimal, percent: int, kind: type[int] | type[float]) -> int | float:
    exponent = exact.as_tuple().exponent
    step = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)
    moved = (exact + exact * percent / 100).quantize(step)
    if moved == exact:
        moved += step if percent > 0 else -step
    return kind(moved)


def _other_day(text: str, draw: int) -> str:
    try:
        day = datetime.date.fromisoformat(text)
    except ValueError:
        return f"{text[:-2]}01" if not text.endswith("01") else f"{text[:-2]}02"
    return (day - datetime.timedelta(days=30 + draw % 360)).isoformat()
