"""A table that never cuts a number: columns without room go into further tables below it."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Column, Table

LABEL_WIDTH = 12
"""A column of words may be folded down to so many characters, unless it says otherwise."""

GAP, EDGE = 2, 1
"""Characters between columns, and at either side: those of :func:`toolenv.report.terminal.plain_table`."""


class FittedTable(Table):
    """A table whose first column, which says what a row is, is repeated beside the columns that had no room.

    Columns of numbers are as wide as their contents. Columns of words are folded where it is narrow.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for part in self._parts(console, options):
            yield from Table.__rich_console__(part, console, options)

    def _parts(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        if not self.columns:
            yield self
            return
        first, *others = self.columns
        # Nothing stands behind the last column, so that there is one gap less than there are columns.
        room = options.max_width - 2 * EDGE + GAP - _needed(first, console, options)
        while True:
            taken: list[Column] = []
            left = room
            while others and (not taken or _needed(others[0], console, options) <= left):
                left -= _needed(others[0], console, options)
                taken.append(others.pop(0))
            yield self._of([first, *taken], titled=taken[:1] == self.columns[1:2])
            if not others:
                return

    def _of(self, columns: list[Column], titled: bool) -> Table:
        part = copy(self)
        part.columns = [
            replace(column, _index=index, no_wrap=column.no_wrap or column.justify == "right")
            for index, column in enumerate(columns)
        ]
        part.title = self.title if titled else None
        return part


def _needed(column: Column, console: Console, options: ConsoleOptions) -> int:
    """The characters that a column cannot do without, the gap beside it included."""
    wide = options.update(width=10_000)
    cells = (column.header, *column.cells)
    whole = max(Measurement.get(console, wide, cell).maximum for cell in cells)
    folds = not column.no_wrap and column.justify != "right"
    least = column.min_width or 0  # rich keeps a column that wide, whatever is in it
    return GAP + max(least, min(whole, least or LABEL_WIDTH) if folds else whole)
