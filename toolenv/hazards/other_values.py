"""Values that are wrong and plausible: of the same type and form, and never the same."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from typing import Any

from toolenv.hazards.forms import is_number

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
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
    if any(sign.isascii() and sign.isdigit() for sign in value):
        shift = 1 + draw % 9
        return "".join(_other_digit(sign, shift) for sign in value)
    return next(name for name in _NAMES[draw % len(_NAMES) :] + _NAMES if name != value)


def _other_number(value: int | float, draw: int) -> int | float:
    percent = _PERCENT[draw % len(_PERCENT)]
    exact = Decimal(repr(value))
    exponent = exact.as_tuple().exponent
    step = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)
    moved = (exact + exact * percent / 100).quantize(step)
    if moved == exact:
        moved += step if percent > 0 else -step
    return int(moved) if isinstance(value, int) else float(moved)


def _other_day(text: str, draw: int) -> str:
    try:
        day = datetime.date.fromisoformat(text)
    except ValueError:
        return f"{text[:-2]}01" if not text.endswith("01") else f"{text[:-2]}02"
    return (day - datetime.timedelta(days=30 + draw % 360)).isoformat()


def _other_digit(sign: str, shift: int) -> str:
    return str((int(sign) + shift) % 10) if sign.isascii() and sign.isdigit() else sign
