"""Rows as tables for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from toolenv.metrics.registry import Kind, Metric, TableName, catalogue
from toolenv.metrics.stats import Estimate
from toolenv.report.format import Cell, cell
from toolenv.report.notes import caption, notes
from toolenv.report.rows import Row
from toolenv.report.safe import safe_line
from toolenv.report.troubles import render_troubles

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

TOLD = "told the truth"
"""What stands below the name of an agent that is told the truth: its rows are references, no results."""

TITLES: Mapping[TableName, str] = {
    "main": "{}",
    "recovery": "{}: accuracy, and what follows the first failed call",
    "failures": "{}: behaviour in failed episodes",
}

OUTCOME_HEADS = {
    "stop": "stop",
    "continued": "con-\ntinued",
    "unparsable": "un-\npars-\nable",
    "truncated": "trun-\ncated",
    "truncated_by_length": "cut at\nlength",
    "no_call": "no\ncall",
}


def render_rows(rows: Sequence[Row]) -> Group:
    """Tables of metrics for each env, then counts and notes, for ``rich.print`` or a console.

    What paper 2 measures has tables of its own, below an env whose episodes have something to say of it.

    Names come from users and servers: they are shown as plain text, markup and control characters inert.
    """
    from rich.console import Group
    from rich.text import Text

    if not rows:
        return Group(Text("no episodes"))
    grouped = [(env, list(members)) for env, members in groupby(rows, lambda row: row.env)]
    tables = [table for env, members in grouped for table in _metrics_tables(env, members)]
    lines = [Text(f"• {safe_line(note, 1000)}") for note in notes(rows)]
    wrong = render_troubles(rows)
    below = [_counts_table(rows), *([] if wrong is None else [wrong])]
    return Group(*tables, Text(caption(rows) + "\n", style="dim"), *below, *lines)


def _metrics_tables(env: str, rows: Sequence[Row]) -> Iterator[Table]:
    for name, title in TITLES.items():
        if name != "main" and not tells_of(rows, name):
            continue
        shown = [one for one in catalogue().values() if one.table == name and _is_shown(one, rows)]
        if shown:
            yield _metrics_table(title.format(safe_line(env)), rows, shown, name)


def tells_of(rows: Sequence[Row], table: TableName) -> bool:
    """Whether rows have anything for one of paper 2's tables: accuracy, or an armed hazard."""
    armed = any(row.exposure.armed for row in rows)
    return armed or (table == "recovery" and any(row.metrics["accuracy"].n for row in rows))


def _metrics_table(
    title: str, rows: Sequence[Row], shown: Sequence[Metric], name: TableName = "main"
) -> Table:
    table = plain_table(title)
    table.add_column("agent", min_width=12)
    heads, counts = _COUNTS[name]
    counted = name != "recovery" or any(any(counts(row)) for row in rows)  # nothing is armed in clean runs
    if counted:
        table.add_column(heads, justify="right")
    for metric in shown:
        table.add_column(metric.title.replace(" ", "\n", 1), justify="right")
    for row in rows:
        numbers = ["\n".join(f"{number:,}" for number in counts(row))] if counted else []
        estimates = (estimate_text(row.metrics[one.name], one.kind) for one in shown)
        table.add_row(agent_text(row), *numbers, *estimates)
    return table


_COUNTS: Mapping[TableName, tuple[str, Callable[[Row], tuple[int, ...]]]] = {
    "main": ("planned\nvalid\ninvalid", lambda row: (row.planned, row.valid, row.invalid)),
    "recovery": (
        "armed\nfired\nseen",
        lambda row: (row.exposure.armed, row.exposure.fired, row.exposure.seen),
    ),
    "failures": ("failed", lambda row: (row.metrics["early_abandonment"].n,)),
}


def _is_shown(metric: Metric, rows: Sequence[Row]) -> bool:
    """Whether any row has data; where a false-continue rate is shown, the false-stop rate is, too."""
    names = [metric.name, *(("fcr_strict", "fcr_lenient") if metric.name == "false_stop_rate" else ())]
    estimates = [row.metrics[name] for row in rows for name in names]
    return any(one.n or one.withheld for one in estimates)


def safe_name(name: str) -> Text:
    """A name as plain text on one line."""
    from rich.text import Text

    return Text(safe_line(name))


def agent_text(row: Row) -> Text:
    """An agent's name, and whether it was told the truth."""
    name = safe_name(row.agent)
    return name.append(f"\n{TOLD}", style="dim") if row.privileged else name


def estimate_text(estimate: Estimate, kind: Kind) -> Text:
    """Value, interval and n below each other; how many tasks n is of, below it."""
    return lines_of(cell(estimate, kind))


def lines_of(parts: Cell) -> Text:
    """The texts of a cell below each other."""
    from rich.text import Text

    n = parts.n.replace(" of ", " of\n")  # a column no wider than its intervals
    lines = [Text(parts.value, style="bold"), Text(parts.interval), Text(n, style="dim")]
    return Text("\n").join(line for line in lines if line.plain)


def _counts_table(rows: Sequence[Row]) -> Table:
    table = plain_table("How valid episodes ended, and what is known of their tokens")
    table.add_column("environment\nagent")
    outcomes = [OUTCOME_HEADS.get(name, name) for name in rows[0].outcomes]
    for head in [*outcomes, "tokens\nexact", "tokens\nesti-\nmated", "tokens\nun-\nknown"]:
        table.add_column(head, justify="right")
    for row in rows:
        if not row.pooled:
            table.add_row(safe_name(row.env).append("\n").append(safe_name(row.agent)), *_counts(row))
    return table


def _counts(row: Row) -> Iterator[str]:
    for number in (*row.outcomes.values(), row.tokens.exact, row.tokens.estimated, row.tokens.unknown):
        yield f"{number:,}"


def plain_table(title: str) -> Table:
    """An empty table in the style of all."""
    from rich import box
    from rich.text import Text

    from toolenv.report.fitted import FittedTable

    return FittedTable(
        title=Text(title, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        collapse_padding=True,
    )
