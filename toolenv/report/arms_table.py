"""The arms of studies as a table for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from toolenv.metrics.stats import Estimate
from toolenv.report.arms import ArmRow, ArmsReport
from toolenv.report.format import Cell, difference_cell, p_value, percent, rests_on, sentence
from toolenv.report.safe import safe_line
from toolenv.report.terminal import estimate_text, lines_of, plain_table
from toolenv.runner.arms import ARMS, CONTINUING

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

CAPTION = (
    "Over all tasks of the baseline, whose successes count in tts and hint as they are. Differences are "
    "paired by task. Gap closed: the share of what the oracle arm has more than the baseline."
)


def render_arms(report: ArmsReport) -> Group:
    """A table for each study; nothing where there is none."""
    from rich.console import Group
    from rich.text import Text

    studies = groupby(report.rows, lambda row: (row.env, row.agent))
    tables: list[Table | Text] = [_table(list(rows)) for _, rows in studies]
    caption = [Text(CAPTION + "\n", style="dim")] if tables else []
    return Group(*tables, *caption, *(Text(f"• {safe_line(note, 1000)}") for note in report.notes))


def arms_facts(report: ArmsReport) -> dict[str, str]:
    """Each study on a line, by name, for the facts at the top of a page."""
    facts: dict[str, list[str]] = {}
    for row in report.rows:
        parts = [f"{row.arm} {sentence(row.success_rate, 'rate')}"]
        if row.comparison is not None:
            parts.append(f"{difference_cell(row.comparison.difference, 'rate').value} points")
        if row.closed.n:
            parts.append(f"gap closed {_share(row.closed).value}")
        facts.setdefault(f"arms of {row.agent} in {row.env}", []).append(", ".join(parts))
    return {name: "; ".join(arms) for name, arms in facts.items()}


def _table(rows: Sequence[ArmRow]) -> Table:
    table = plain_table(f"Arms of {safe_line(rows[0].agent)} in {safe_line(rows[0].env)}")
    table.add_column("arm")
    for head in (
        "planned\nvalid\ninvalid",
        "went on\nrecovered",
        "SR",
        "less baseline\n(points)",
        "McNemar\np",
        "only arm\nonly base-\nline",
        "gap closed",
    ):
        table.add_column(head, justify="right")
    for row in rows:
        table.add_row(*_cells(row))
    return table


def _cells(row: ArmRow) -> Iterator[Text | str]:
    yield f"{row.arm}\n{ARMS[row.arm]}"
    yield f"{row.planned:,}\n{row.valid:,}\n{row.invalid:,}"
    yield f"{row.went_on:,}\n{row.recovered:,}" if row.arm in CONTINUING else ""
    yield estimate_text(row.success_rate, "rate")
    found = row.comparison
    if found is None:
        yield from ("", "", "")
    else:
        pairs = found.pairs
        yield lines_of(difference_cell(found.difference, "rate"))
        yield p_value(found.p)
        yield "" if pairs is None else f"{pairs.only_first:,}\n{pairs.only_second:,}"
    yield lines_of(_share(row.closed)) if row.closed.n else ""


def _share(estimate: Estimate) -> Cell:
    """A share that may lie outside [0, 1]."""
    numbers = (estimate.value, estimate.low, estimate.high)
    value, low, high = ("?" if math.isnan(one) else _percent(one) for one in numbers)
    return Cell(f"{value}%", f"{low} to {high}", rests_on(estimate))


def _percent(share: float) -> str:
    return percent(share) if 0 <= share <= 1 else f"{round(100 * share, 1) + 0.0:.1f}"
