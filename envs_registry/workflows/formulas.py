"""The kinds of calculation a declared world may have, each with the words that document it."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class FormulaKind:
    """A calculation.

    Attributes:
        arity: how many inputs it takes.
        compute: from the inputs to the value; numbers are rounded to two decimals by the tool.
        text: the documentation, with the inputs' names to be filled in.
        is_date: whether the first input and the value are dates (ISO 8601 texts).
    """

    arity: int
    compute: Callable[..., Any]
    text: str
    is_date: bool = False


def _shift(date: str, days: float) -> str:
    return (datetime.date.fromisoformat(date) + datetime.timedelta(days=int(days))).isoformat()


FORMULAS: Mapping[str, FormulaKind] = {
    "product": FormulaKind(2, lambda a, b: a * b, "{0} × {1}"),
    "product_plus_percent": FormulaKind(
        3, lambda a, b, p: a * b * (1 + p / 100), "{0} × {1} × (1 + {2} / 100)"
    ),
    "product_less_percent": FormulaKind(
        3, lambda a, b, p: a * b * (1 - p / 100), "{0} × {1} × (1 − {2} / 100)"
    ),
    "sum": FormulaKind(2, lambda a, b: a + b, "{0} + {1}"),
    "minus": FormulaKind(2, lambda a, b: a - b, "{0} − {1}"),
    "percent": FormulaKind(2, lambda a, p: a * p / 100, "{0} × {1} / 100"),
    "plus_percent_plus": FormulaKind(3, lambda a, p, b: a * (1 + p / 100) + b, "{0} × (1 + {1} / 100) + {2}"),
    "plus_percent_minus": FormulaKind(
        3, lambda a, p, b: a * (1 + p / 100) - b, "{0} × (1 + {1} / 100) − {2}"
    ),
    "less_percent_plus": FormulaKind(3, lambda a, p, b: a * (1 - p / 100) + b, "{0} × (1 − {1} / 100) + {2}"),
    "less_percent_minus": FormulaKind(
        3, lambda a, p, b: a * (1 - p / 100) - b, "{0} × (1 − {1} / 100) − {2}"
    ),
    "product_percent_plus": FormulaKind(3, lambda a, p, b: a * p / 100 + b, "{0} × {1} / 100 + {2}"),
    "after_days": FormulaKind(2, _shift, "{0} plus {1} days", is_date=True),
    "before_days": FormulaKind(2, lambda day, days: _shift(day, -days), "{0} less {1} days", is_date=True),
}
