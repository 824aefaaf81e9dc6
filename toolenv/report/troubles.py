"""What went wrong around episodes, as a table for a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from toolenv.metrics.troubles import Troubles
from toolenv.report.format import counted
from toolenv.report.rows import Row
from toolenv.report.safe import safe_line
from toolenv.trouble import TROUBLES

if TYPE_CHECKING:
    from rich.table import Table

NUMBERS = ("invalid\nepi-\nsodes", "failed\nepi-\nsodes", "failed\nre-\nquests")
HEADS = ("environment\nagent", "what\nmeaning", *NUMBERS)


def trouble_lines(rows: Sequence[Row]) -> Iterator[tuple[Row, str, tuple[int, int, int], str]]:
    """A row, a trouble, its counts (invalid episodes, failed ones, requests), and what it means."""
    for row in rows:
        if row.pooled:
            continue
        for name, count in row.troubles.counts.items():
            whose = ", ".join(f"{role} {number:,}" for role, number in count.roles.items())
            meaning = TROUBLES.get(name, "")
            numbers = (count.invalid, count.failed, count.requests)
            yield row, name, numbers, f"{meaning} ({whose})" if whose else meaning


def trouble_notes(row: Row) -> Iterator[str]:
    """What is worth a sentence below the tables."""
    if row.troubles.played_again:
        yield (
            f"{counted(row.troubles.played_again, 'episode')} played again that had met a failed server;"
            " their tokens count"
        )
    if row.troubles.recalled:
        told = "reply" if row.troubles.recalled == 1 else "replies"
        yield f"{row.troubles.recalled:,} {told} out of the response cache, paid for by an earlier run"


def render_troubles(rows: Sequence[Row]) -> Table | None:
    """The table; ``None`` where nothing went wrong."""
    from rich.text import Text

    from toolenv.report.terminal import plain_table

    lines = list(trouble_lines(rows))
    if not lines:
        return None
    table = plain_table("What went wrong")
    table.add_column(HEADS[0])
    # A name is searched for, so is never broken.
    table.add_column(HEADS[1], min_width=max(len(safe_line(name)) for _, name, _, _ in lines))
    for head in NUMBERS:
        table.add_column(head, justify="right")
    above: Row | None = None
    for row, name, numbers, meaning in lines:
        who = Text("" if row is above else f"{safe_line(row.env)}\n{safe_line(row.agent)}")
        above = row
        counts = (f"{number:,}" if number else "" for number in numbers)
        what = Text(safe_line(name))
        if meaning:
            what.append(f"\n{safe_line(meaning, 300)}", style="dim")
        table.add_row(who, what, *counts)
    return table


def troubles_to_json(troubles: Troubles) -> Mapping[str, Any]:
    """``{"counts": {NAME: {"invalid", "failed", "requests", "roles"}}, "played_again", "recalled"}``."""
    return asdict(troubles)
