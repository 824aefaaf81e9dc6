"""Canonical answers, and whether a text holds one as a whole token.

Both sides are normalised: case, accents, and repeated white space do not count. A *number* is held by any
number token of equal value: signs of currency, units behind it, trailing zeros and separators of thousands
(``,``, ``'``, ``_`` or a narrow space) do not count; a number inside a longer number, a date, an identifier
or a word is no token (FIELD-030). A *date* is held in ISO form or with the month in words (``4 March 2031``,
``March 4th, 2031``).
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal, TypeAlias

AnswerKind: TypeAlias = Literal["number", "date", "text", "id"]

MAX_SCANNED = 100_000
"""Characters of a message that are looked at."""

_THIN = "\u00a0\u202f\u2009"
_NUMBER = re.compile(
    rf"([-+−]?)(\d{{1,3}}(?:[,'’_{_THIN}]\d{{3}})+(?!\d)|\d{{1,40}}(?!\d))(\.\d{{1,40}}(?!\d))?([eE][-+]?\d{{1,3}}(?!\d))?"
)
_JOINERS = ".-/:−"
_SEPARATORS = str.maketrans("", "", f",'’_{_THIN}")
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_MONTH = "|".join(f"{name}|{name[:3]}\\.?" for name in MONTHS)
_DATES = (
    re.compile(r"(?<![\w-])(?P<year>\d{4})[-/.](?P<number>\d{1,2})[-/.](?P<day>\d{1,2})(?![\w-])"),
    re.compile(
        rf"(?<!\w)(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH}),? (?P<year>\d{{4}})(?!\w)"
    ),
    re.compile(rf"(?<!\w)(?P<month>{_MONTH}) (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})(?!\w)"),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """The one right answer.

    Attributes:
        kind: what it is.
        value: as the tools return it.
        unit: of a number, ``""`` if it has none.
    """

    kind: AnswerKind
    value: Any
    unit: str = ""

    @property
    def text(self) -> str:
        """The canonical form."""
        return number_text(self.value) if self.kind == "number" else str(self.value)

    def is_in(self, text: str) -> bool:
        """Whether a text holds it as a whole token; see the module."""
        text = text[:MAX_SCANNED]
        if self.kind == "number":
            return Decimal(self.text) in numbers_in(text)
        folded = fold(text)
        if self.kind == "date":
            return self.value in dates_in(folded)
        return _whole(fold(str(self.value))).search(folded) is not None


def number_text(value: float) -> str:
    """A number in plain decimal notation without trailing zeros."""
    text = format(Decimal(repr(value)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def fold(text: str) -> str:
    """Lower case, without accents, white space as single spaces."""
    if not text.isascii():
        text = "".join(one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one))
    return " ".join(text.casefold().split())


def numbers_in(text: str) -> Iterator[Decimal]:
    """The values of the number tokens of a text."""
    for match in _NUMBER.finditer(text):
        sign, whole, fraction, exponent = match.groups()
        if _stands_alone(text, match.start(), match.end(), bool(fraction)):
            minus = "-" if sign in ("-", "−") else ""
            yield Decimal(f"{minus}{whole.translate(_SEPARATORS)}{fraction or ''}{exponent or ''}")


def _stands_alone(text: str, start: int, end: int, has_fraction: bool) -> bool:
    """Whether a number is no part of a word, an identifier, a date, a time, or a number written otherwise."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before[-1:].isalnum() or before[-1:] == "_":
        return False
    if before[-1:] in _JOINERS and before[:-1].isalnum():
        return False
    joined = _JOINERS if has_fraction else f"{_JOINERS},"
    return not (after[:1] in joined and after[1:].isdigit()) if after[:1] else True


def dates_in(folded: str) -> Iterator[str]:
    """The dates of a folded text, in ISO form."""
    for pattern in _DATES:
        for match in pattern.finditer(folded):
            found = match.groupdict()
            month = int(found["number"]) if "number" in found else _month_number(found["month"])
            try:
                yield datetime.date(int(found["year"]), month, int(found["day"])).isoformat()
            except ValueError:
                continue


def _month_number(word: str) -> int:
    return next(at for at, name in enumerate(MONTHS, 1) if name.startswith(word[:3]))


@lru_cache(maxsize=4096)
def _whole(folded: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?<!\w-){re.escape(folded)}(?!\w)(?!-\w)")
