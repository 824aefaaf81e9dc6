"""Rows as tables for a terminal, readable at 120 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from toolenv.metrics.registry import Metric, catalogue
from toolenv.report.format import cell
from toolenv.report.notes import CAPTION, notes
from toolenv.report.rows import Row
from toolenv.report.safe import safe_line

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

WIDE = 110
"""Columns that all metrics fit into."""

OUTCOME_HEADS = {
    "stop": "stop",
    "continued": "con-\ntinued",
    "unparsable": "un-\nparsable",
    "truncated": "trun-\ncated",
    "truncated_by_length": "cut at\nlength",
    "no_call": "no\ncall",
}


def render_rows(rows: Sequence[Row], width: int = WIDE) -> Group:
    """A table of metrics for each env, then counts and notes, for ``rich.print`` or a console.

    Names come from users and servers: they are shown as plain text, markup and control characters inert.

    Args:
        rows: what to show.
        width: columns of the terminal; below :data:`WIDE`, token costs get a table of their own.
    """
    from rich.console import Group
    from rich.text import Text

    if not rows:
        return Group(Text("no episodes"))
    grouped = [(env, list(members)) for env, members in groupby(rows, lambda row: row.env)]
    tables = [table for env, members in grouped for table in _metrics_tables(env, members, width)]
    lines = [Text(f"• {safe_line(note, 1000)}") for note in notes(rows)]
    return Group(*tables, Text(CAPTION + "\n", style="dim"), _counts_table(rows), *lines)


def _metrics_tables(env: str, rows: Sequence[Row], width: int) -> Iterator[Table]:
    shown = [metric for metric in catalogue().values() if _is_shown(metric, rows)]
    rates = [metric for metric in shown if metric.kind == "rate"]
    costs = [metric for metric in shown if metric.kind != "rate"]
    parts = [shown] if width >= WIDE else [rates, costs]
    yield from (_metrics_table(env, rows, part) for part in parts if part)


def _metrics_table(env: str, rows: Sequence[Row], shown: Sequence[Metric]) -> Table:
    table = _table(safe_line(env))
    table.add_column("agent", overflow="fold", min_width=12)
    table.add_column("planned\nvalid\ninvalid", justify="right", overflow="fold")
    for metric in shown:
        table.add_column(metric.title.replace(" ", "\n", 1), justify="right", overflow="fold")
    for row in rows:
        table.add_row(_safe_name(row.agent), _episodes(row), *(_metric_text(row, metric) for metric in shown))
    return table


def _is_shown(metric: Metric, rows: Sequence[Row]) -> bool:
    """Whether any row has data; where a false-continue rate is shown, the false-stop rate is, too."""
    names = [metric.name, *(("fcr_strict", "fcr_lenient") if metric.name == "false_stop_rate" else ())]
    estimates = [row.metrics[name] for row in rows for name in names]
    return any(one.n or one.withheld for one in estimates)


def _safe_name(name: str) -> Text:
    """A name as plain text on one line."""
    from rich.text import Text

    return Text(safe_line(name))


def _episodes(row: Row) -> Text:
    from rich.text import Text

    return Text(f"{row.planned:,}\n{row.valid:,}\n{row.invalid:,}")


def _metric_text(row: Row, metric: Metric) -> Text:
    from rich.text import Text

    parts = cell(row.metrics[metric.name], metric.kind)
    lines = [Text(parts.value, style="bold"), Text(parts.interval), Text(parts.n, style="dim")]
    return Text("\n").join(line for line in lines if line.plain)


def _counts_table(rows: Sequence[Row]) -> Table:
    table = _table("How valid episodes ended, and what is known of their tokens")
    table.add_column("environment\nagent", overflow="fold", min_width=28)
    outcomes = [OUTCOME_HEADS.get(name, name) for name in rows[0].outcomes]
    for head in [*outcomes, "tokens\nexact", "tokens\nestimated", "tokens\nunknown"]:
        table.add_column(head, justify="right")
    for row in rows:
        if not row.pooled:
            table.add_row(_safe_name(row.env).append("\n").append(_safe_name(row.agent)), *_counts(row))
    return table


def _counts(row: Row) -> Iterator[str]:
    for number in (*row.outcomes.values(), row.tokens.exact, row.tokens.estimated, row.tokens.unknown):
        yield f"{number:,}"


def _table(title: str) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    return Table(
        title=Text(title, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        collapse_padding=True,
    )
