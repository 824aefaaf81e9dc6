"""A table that never cuts a number or a name: columns without room go into further tables below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import takewhile

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

from toolenv.report.broken import broken, width_of_words

LABEL_WIDTH = 12
"""A column of words may be folded down to so many characters, unless its names or itself say otherwise."""

NAME_WIDTH = 28
"""The most that a column gets for names to be broken at most once: every env id fits."""

GAP, EDGE = 2, 1
"""Characters between columns, and at either side: those of :func:`toolenv.report.terminal.plain_table`."""


class FittedTable(Table):
    """A table whose columns before the first number say what a row is: they stand in each of its parts.

    Columns of numbers are as wide as their contents. Columns of words are folded where it is narrow, and
    what room is left goes to the first of them first.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for part in self._parts(console, options):
            yield from Table.__rich_console__(part, console, options)

    def _parts(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        if not self.columns:
            yield self
            return
        whole = {one._index: _whole(one, console, options) for one in self.columns}
        # Nothing stands behind the last column, so that there is one gap less than there are columns.
        room = options.max_width - 2 * EDGE + GAP
        least = _least(self.columns, whole, room)
        keys = _keys(self.columns, least, room)
        others, title = self.columns[len(keys) :], self.title
        while True:
            taken: list[Column] = []
            left = room - sum(least[one._index] + GAP for one in keys)
            while others and (not taken or least[others[0]._index] + GAP <= left):
                left -= least[others[0]._index] + GAP
                taken.append(others.pop(0))
            part = copy(self)
            part.title, title = title, None
            part.columns = list(_of_widths([*keys, *taken], least, whole, left))
            yield part
            if not others:
                return


def _of_widths(
    columns: Sequence[Column], least: Mapping[int, int], whole: Mapping[int, int], left: int
) -> Iterator[Column]:
    """The columns of a part, with ``left`` characters to give to those that are folded."""
    for number, column in enumerate(columns):
        more = max(0, min(left, whole[column._index] - least[column._index]))
        left -= more
        yield _of_width(column, number, least[column._index] + more)


def _is_words(column: Column) -> bool:
    return column.justify != "right"


def _keys(columns: Sequence[Column], least: Mapping[int, int], room: int) -> list[Column]:
    """What stands in each part: the columns before the first number; the first alone where it is narrow."""
    keys = list(takewhile(_is_words, columns)) or [columns[0]]
    widest = max((least[one._index] + GAP for one in columns[len(keys) :]), default=0)
    fits = sum(least[one._index] + GAP for one in keys) + widest <= room
    return keys if fits else keys[:1]


def _whole(column: Column, console: Console, options: ConsoleOptions) -> int:
    """The characters that a column needs where nothing in it is folded."""
    wide = options.update(width=10_000)
    return max(Measurement.get(console, wide, cell).maximum for cell in (column.header, *column.cells))


def _least(columns: Sequence[Column], whole: Mapping[int, int], room: int) -> dict[int, int]:
    """The characters that each column cannot do without.

    Where not even the first has room beside the widest, its names may be broken more than once.
    """
    found = {one._index: _needed(one, whole[one._index]) for one in columns}
    first, *others = columns
    widest = max((found[one._index] + GAP for one in others), default=0)
    if _folds(first):
        found[first._index] = min(found[first._index], max(room - widest - GAP, 1))
    return found


def _folds(column: Column) -> bool:
    return _is_words(column) and not column.no_wrap


def _needed(column: Column, whole: int) -> int:
    if not _folds(column):
        return whole
    if column.min_width:
        return min(whole, column.min_width)
    names = max((width_of_words(_plain(cell), NAME_WIDTH) for cell in column.cells), default=0)
    return min(whole, max(LABEL_WIDTH, names))


def _of_width(column: Column, number: int, width: int) -> Column:
    """A copy of a column for a part, its cells broken to fit."""
    cells = [_fitting(cell, width) for cell in column.cells] if _folds(column) else list(column.cells)
    kept = column.no_wrap or not _is_words(column)
    return replace(column, _index=number, _cells=cells, width=width, no_wrap=kept, overflow="fold")


def _fitting(cell: RenderableType, width: int) -> RenderableType:
    text = Text(cell) if isinstance(cell, str) else cell
    return broken(text, width) if isinstance(text, Text) else cell


def _plain(cell: RenderableType) -> str:
    return cell.plain if isinstance(cell, Text) else cell if isinstance(cell, str) else ""
