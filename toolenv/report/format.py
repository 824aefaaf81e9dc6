"""Estimates as short text: percent for rates, K for tokens."""

from __future__ import annotations

import math
from dataclasses import dataclass

from toolenv.metrics.registry import Kind
from toolenv.metrics.stats import Estimate

NONE = "–"
"""Stands where there is no number."""


@dataclass(frozen=True, slots=True)
class Cell:
    """An estimate as three short texts; the last two are empty where there is nothing to say.

    The interval is a dash where there is a value that nothing tells the spread of.
    """

    value: str
    interval: str
    n: str


def cell(estimate: Estimate, kind: Kind) -> Cell:
    """``25.8%``, ``21.9–30.1``, ``n=445``; a dash without data, ``withheld`` with worst-case bounds."""
    n = rests_on(estimate)
    if estimate.withheld:
        return Cell("withheld", f"[{_interval(estimate, kind)}]" if kind == "rate" else "", n)
    if math.isnan(estimate.value):
        return Cell(NONE, "", "n=0")
    mark = "~" if estimate.estimated else ""
    return Cell(mark + _point(estimate.value, kind), _interval(estimate, kind) or NONE, n)


def rests_on(estimate: Estimate) -> str:
    """``n=445``; ``n=15 of 5 tasks`` where the interval rests on fewer tasks than there are episodes."""
    of = "" if estimate.tasks is None else f" of {counted(estimate.tasks, 'task')}"
    return f"n={estimate.n:,}{of}"


def sentence(estimate: Estimate, kind: Kind) -> str:
    """One line: ``25.8% [21.9–30.1], n=445``."""
    parts = cell(estimate, kind)
    interval = f" [{parts.interval.strip('[]')}]" if parts.interval not in ("", NONE) else ""
    return f"{parts.value}{interval}, {parts.n}"


def difference_cell(estimate: Estimate, kind: Kind) -> Cell:
    """A difference as ``+12.5``, ``+3.1 to +21.4``, ``n=445``; of rates in percentage points."""
    low, high = (_signed(bound, kind) for bound in (estimate.low, estimate.high))
    interval = "" if math.isnan(estimate.low) else f"{low} to {high}"
    if estimate.withheld:
        return Cell("withheld", f"[{interval}]" if interval else "", rests_on(estimate))
    if math.isnan(estimate.value):
        return Cell(NONE, "", "n=0")
    return Cell(_signed(estimate.value, kind), interval or NONE, rests_on(estimate))


def p_value(p: float | None) -> str:
    """A p-value: ``0.034``, ``<0.001``; empty where there is none."""
    if p is None:
        return ""
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _signed(value: float, kind: Kind) -> str:
    size = abs(value)
    points = percent(size) if size in (0, 1) else f"{100 * size:.1f}"
    text = points if kind == "rate" else tokens(size) if kind == "tokens" else f"{size:.2f}"
    is_zero = not text.strip("0.")
    return text if is_zero else f"{'+' if value > 0 else '-'}{text}"


def _point(value: float, kind: Kind) -> str:
    if kind == "rate":
        return f"{percent(value)}%"
    if kind == "calls":
        return f"{value:.2f}"
    return f"{value:.2f}×" if kind == "ratio" else tokens(value)


def _interval(estimate: Estimate, kind: Kind) -> str:
    low, high = estimate.low, estimate.high
    if math.isnan(low) or math.isnan(high):
        return ""
    if kind == "rate":
        return f"{percent(low)}–{percent(high)}"
    if kind in ("ratio", "calls"):
        return f"{low:.2f}–{high:.2f}" if high < 1000 else f"{low:.2f}–∞"
    return f"{tokens(low)}–{tokens(high)}"


def percent(share: float) -> str:
    """A share as percent with one decimal; only 0 and 1 themselves print as ``0`` and ``100``."""
    if share in (0, 1):
        return f"{100 * share:.0f}"
    text = f"{100 * share:.1f}"
    return {"0.0": "<0.1", "100.0": ">99.9"}.get(text, text)


def tokens(number: float) -> str:
    """A number of tokens: ``950``, ``1.7K``, ``2.1M``."""
    if not math.isfinite(number) or number >= 1e12:
        return "∞"
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "K")):
        if number >= size * 0.9995:
            return f"{number / size:.1f}{letter}"
    return f"{number:.0f}"


def counted(number: int, noun: str) -> str:
    """``1 episode``, ``1,453 episodes``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
