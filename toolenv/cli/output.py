"""What commands print and write: tables, progress, pages."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from toolenv.errors import StoreError
from toolenv.report.about import about, origin_lines
from toolenv.report.build import Report
from toolenv.report.notes import exclusion_lines
from toolenv.report.page import render_page
from toolenv.report.rows import Row
from toolenv.report.safe import safe_line
from toolenv.report.samples import pick_samples
from toolenv.report.terminal import render_rows
from toolenv.runner.reading import find_runs, read_header

T = TypeVar("T")

PIPE_WIDTH = 160
"""Columns of a table that goes into a file or a pipe."""


def console(stderr: bool = False, least: int = 0) -> Console:
    """A console as wide as the terminal; wide enough for the table where output is a file or a pipe.

    Args:
        stderr: whether it writes to stderr.
        least: columns that it has in any case, where output is a file or a pipe.
    """
    stream = sys.stderr if stderr else sys.stdout
    if stream.isatty():
        return Console(stderr=stderr)
    shown = Console(stderr=stderr, width=None if "COLUMNS" in os.environ else PIPE_WIDTH)
    shown.width = max(shown.width, least)
    return shown


@contextmanager
def progress(title: str, total: int, done: int = 0) -> Iterator[Callable[[], None]]:
    """A progress bar where stderr is a terminal, nothing elsewhere; call what it gives for each step."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    shown, hidden = console(stderr=True), not sys.stderr.isatty()
    with Progress(*columns, console=shown, transient=True, disable=hidden) as bar:
        task = bar.add_task(title, total=total, completed=done)
        yield lambda: bar.advance(task)


def with_progress(items: Iterable[T], total: int, title: str) -> Iterator[T]:
    """Pass items on, with a progress bar where stderr is a terminal."""
    with progress(title, total) as advance:
        for item in items:
            yield item
            advance()


def show(rows: list[Row]) -> None:
    """Print the table."""
    console().print(render_rows(rows))


def show_origins(folders: Iterable[Path]) -> None:
    """Print which data, masks and corrections the tasks of runs are of, and which tasks are left out."""
    headers = [read_header(folder) for folder in find_runs(list(folders))]
    for line in (*origin_lines(headers), *exclusion_lines(headers).values()):
        console().print(Text(f"• {safe_line(line, 2000)}"))


def write_page(
    path: Path,
    rows: list[Row],
    folders: Iterable[Path],
    title: str,
    more: Mapping[str, str] | None = None,
    report: Report | None = None,
) -> None:
    """Write an HTML page: the rows, what their runs were made of, and a sample of final texts.

    Args:
        path: the file.
        rows: what to show.
        folders: run directories.
        title: the page's title.
        more: facts to show at the top, beside those of the runs.
        report: what to show beside the rows.

    Raises:
        StoreError: it cannot be written, or a run cannot be read.
    """
    runs = find_runs(list(folders))
    headers = [read_header(folder) for folder in runs]
    left_out = {f"left out of {env}": line for env, line in exclusion_lines(headers).items()}
    page = render_page(
        rows, pick_samples(runs), {**about(headers), **left_out, **(more or {})}, title, report
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}") from error
