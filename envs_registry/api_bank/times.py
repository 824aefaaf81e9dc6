"""Dates as upstream's APIs read and write them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

DATE = "%Y-%m-%d"
DATETIME = "%Y-%m-%d %H:%M:%S"
MONTH_DAY = "%m-%d"


def parse(value: Any, form: str) -> datetime:
    """The moment a text of that form names.

    Raises:
        ValueError: it is of another form; the text is Python's, and agents read it.
        TypeError: it is no text.
    """
    return datetime.strptime(value, form)


def read(value: Any, form: str) -> datetime | ValueError:
    """The moment, or why there is none: some APIs test other arguments before they complain of a date.

    Years may have fewer than four digits.
    """
    try:
        return parse(_padded(value), form)
    except ValueError as error:
        return error


def _padded(value: Any) -> str:
    """A date without blanks around it, its year in four digits."""
    parts = value.strip().split("-")
    if len(parts) == 3:
        parts[0] = parts[0].zfill(4)
    return "-".join(parts)


def settled(moment: datetime | ValueError) -> datetime:
    """The moment; raises the error where there is none."""
    if isinstance(moment, ValueError):
        raise moment
    return moment


def normal(value: Any, form: str) -> str:
    """A date in normal form.

    Raises:
        ValueError: it is of another form.
    """
    return write(settled(read(value, form)), form)


def normal_date(value: Any) -> str:
    """A date in the form :data:`DATE`; raises as :func:`normal`."""
    return normal(value, DATE)


def normal_time(value: Any) -> str:
    """A moment in the form :data:`DATETIME`; raises as :func:`normal`."""
    return normal(value, DATETIME)


def write(moment: datetime, form: str) -> str:
    """The text of a moment. Years below 1000 are not padded, as on upstream's platform."""
    return moment.strftime(form.replace("%Y", str(moment.year)))


def month_day(value: Any) -> str:
    """The ``mm-dd`` of a date with or without a year.

    Raises:
        ValueError: it is neither; the text names the form without a year.
    """
    whole = read(value, DATE)
    if isinstance(whole, ValueError):
        whole = _without_year(_padded(value))
    return f"{whole:%m-%d}"


def _without_year(text: str) -> datetime:
    # Python warns of forms that name a day and no year; 1900 is the year it would take.
    try:
        return parse(f"1900-{text}", DATE)
    except ValueError as error:
        if "does not match" not in str(error):
            raise
        raise ValueError(f"time data {text!r} does not match format {MONTH_DAY!r}") from error
