"""The few numbers of a suite that a reader looks at first: one row an agent, over all conditions played."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from toolenv.metrics.stats import Estimate
from toolenv.report.format import cell, counted, rests_on
from toolenv.report.rows import Row
from toolenv.report.safe import safe_line
from toolenv.report.terminal import TOLD, agent_text, lines_of, plain_table

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

COLUMNS = (
    ("SR\nclean", "sr", "clean"),
    ("SR\nhazard", "sr", "hazard"),
    ("FCR\nstrict", "fcr_strict", "infeasible"),
    ("False\nstop", "false_stop_rate", "clean"),
    ("FASS", "fass", "pooled"),
)
"""Head, metric, and the condition whose environment it is of; ``pooled``: clean and infeasible together."""

LEGEND = (
    "95% intervals. SR: solved. FCR: went on where no tool can do it; means little beside many false stops.",
    "False stop: gave up on a clean task. FASS: solved, or rightly stopped, of clean and infeasible tasks.",
)


def summary_table(title: str, rows: Sequence[Row], agents: Sequence[str]) -> Table:
    """One suite's table, which fits 80 columns; a column without any data is left out.

    Args:
        title: what stands above it.
        rows: those of one suite.
        agents: the agents' names, in the table's order.
    """
    table = plain_table(safe_line(title))
    table.add_column("agent", min_width=12)
    of_agent = {row.agent: row for row in rows}
    columns = [(head, _column(rows, metric, condition)) for head, metric, condition in COLUMNS]
    shown = [(head, found) for head, found in columns if found]
    for head, found in shown:
        table.add_column(head + _common_n(found), justify="right")
    for agent in agents:
        cells = (_text(found.get(agent), bool(_common_n(found))) for _, found in shown)
        table.add_row(agent_text(of_agent[agent]), *cells)
    return table


def summary_notes(rows: Iterable[Row]) -> Iterator[str]:
    """What a reader must know beside the tables, a line each."""
    every = [row for row in rows if not row.pooled]
    yield from LEGEND
    told = ", ".join(dict.fromkeys(row.agent for row in every if row.privileged))
    if told:
        yield f"{TOLD.capitalize()}, and so a reference and no result: {told}."
    invalid = sum(row.planned - row.valid for row in every)
    if invalid:
        planned = sum(row.planned for row in every)
        yield f"{counted(invalid, 'episode')} of {planned:,} without a valid outcome, and so not counted."


def _column(rows: Sequence[Row], metric: str, condition: str) -> dict[str, Estimate]:
    """By agent, of those that played the condition and have something to show."""
    found = {row.agent: row.metrics[metric] for row in rows if _is_of(row, condition)}
    return {agent: one for agent, one in found.items() if one.n or one.withheld}


def _is_of(row: Row, condition: str) -> bool:
    return bool(row.pooled) if condition == "pooled" else f"-{condition}-v" in row.env and not row.pooled


def _common_n(found: Mapping[str, Estimate]) -> str:
    """The line of a head that says what all of a column's numbers rest on; empty where they differ."""
    counts = {rests_on(one) for one in found.values()}
    return "\n" + counts.pop().replace(" of ", " of\n") if len(counts) == 1 else ""


def _text(estimate: Estimate | None, has_n_above: bool) -> Text | str:
    """Value and interval, and n unless the head says it."""
    if estimate is None:
        return ""
    parts = cell(estimate, "rate")
    return lines_of(type(parts)(parts.value, parts.interval, "" if has_n_above else parts.n))
