"""The other tables of a report on a terminal: by workflow and so on, degradation, tokens by role."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from toolenv.metrics.registry import Metric, catalogue
from toolenv.report.build import Report
from toolenv.report.degradation import Degradation, degradation_notes
from toolenv.report.format import difference_cell, p_value
from toolenv.report.groups import GroupRow
from toolenv.report.notes import ACCURACY_LEGEND, is_above
from toolenv.report.rows import Row
from toolenv.report.safe import safe_line
from toolenv.report.terminal import estimate_text, lines_of, plain_table, safe_name

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

DEGRADATION = "Degradation V(P0) - V(Ph): clean against hazard, paired by task"


def render_more(report: Report) -> Group:
    """All of a report but its rows, for a console; nothing where there is nothing."""
    from rich.console import Group
    from rich.text import Text

    parts: list[Table | Text] = list(_role_tables(report.rows))
    compared = [row for row in report.degradation if not row.differing]
    parts += [_degradation_table(compared)] if compared else []
    parts += [Text(f"• {safe_line(note, 1000)}") for note in degradation_notes(report.degradation)]
    for name, rows in report.by.items():
        parts += _group_tables(name, rows)
    if any(is_above(one.metrics) for rows in report.by.values() for one in rows):
        parts.append(Text(f"{ACCURACY_LEGEND}\n", style="dim"))
    return Group(*parts)


def _role_tables(rows: Sequence[Row]) -> Iterator[Table]:
    composed = [row for row in rows if row.roles]
    if not composed:
        return
    table = plain_table("Tokens by role")
    for head in ("environment\nagent", "role"):
        table.add_column(head)
    for head in ("TC\nearly-stop", "TC\ntask-failure", "per\nepisode"):
        table.add_column(head, justify="right")
    for row in composed:
        for role, costs in row.roles.items():
            name = safe_name(row.env).append("\n").append(safe_name(row.agent))
            spent = (costs.early_stop, costs.task_failure, costs.episode)
            table.add_row(name, safe_name(role), *(estimate_text(one, "tokens") for one in spent))
    yield table


def _degradation_table(rows: Sequence[Degradation]) -> Table:
    table = plain_table(DEGRADATION)
    table.add_column("hazard\nagent")
    for head in (
        "V",
        "clean",
        "hazard",
        "difference\n(points)",
        "McNemar p",
        "pairs\nonly clean\nonly hazard",
    ):
        table.add_column(head, justify="right")
    for row in rows:
        table.add_row(*_degradation_cells(row))
    return table


def _degradation_cells(row: Degradation) -> Iterator[Text | str]:
    found = row.comparison
    yield safe_name(row.hazard).append("\n").append(safe_name(row.agent))
    yield row.metric
    yield estimate_text(found.first, "rate")
    yield estimate_text(found.second, "rate")
    yield lines_of(difference_cell(found.difference, "rate"))
    yield p_value(found.p)
    pairs = found.pairs
    yield "0" if pairs is None else f"{pairs.n:,}\n{pairs.only_first:,}\n{pairs.only_second:,}"


def _group_tables(dimension: str, rows: Sequence[GroupRow]) -> Iterator[Table]:
    for env, members in groupby(rows, lambda row: row.env):
        yield _group_table(f"{safe_line(env)} by {dimension}", list(members))


def _group_table(title: str, rows: Sequence[GroupRow]) -> Table:
    shown = [metric for metric in catalogue().values() if shown_in_groups(metric, rows)]
    table = plain_table(title)
    for head in ("agent", "value"):
        table.add_column(head)
    table.add_column("planned\nvalid\ninvalid", justify="right")
    for metric in shown:
        table.add_column(metric.title.replace(" ", "\n", 1), justify="right")
    for row in rows:
        counts = f"{row.planned:,}\n{row.valid:,}\n{row.invalid:,}"
        estimates = (estimate_text(row.metrics[one.name], one.kind) for one in shown)
        table.add_row(safe_name(row.agent), safe_name(row.value), counts, *estimates)
    return table


def shown_in_groups(metric: Metric, rows: Sequence[GroupRow]) -> bool:
    """Whether tables by a dimension have a column of a metric: the rates of success that have data."""
    if metric.kind != "rate" or not (metric.table == "main" or metric.name.startswith("accuracy")):
        return False
    return any(row.metrics[metric.name].n or row.metrics[metric.name].withheld for row in rows)
