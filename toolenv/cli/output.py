"""What commands print and write: tables, progress, pages."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

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

from toolenv.errors import StoreError, UsageError
from toolenv.metrics.failures import MEDIANS, Thresholds
from toolenv.report.about import about, origin_lines
from toolenv.report.arms import arm_of
from toolenv.report.build import Report, build_report, check_dimensions
from toolenv.report.notes import exclusion_lines
from toolenv.report.page import render_page
from toolenv.report.rows import Row, Run
from toolenv.report.safe import safe_line
from toolenv.report.samples import pick_samples
from toolenv.report.terminal import render_rows
from toolenv.runner.arms import BASELINE
from toolenv.runner.reading import find_runs, read_episodes, read_header

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


def rows_of(folders: Iterable[Path]) -> list[Row]:
    """The table's rows of run directories; see :func:`report_of`."""
    return list(report_of(folders).rows)


def report_of(folders: Iterable[Path], by: Iterable[str] = (), thresholds: Thresholds = MEDIANS) -> Report:
    """The report of run directories; arms of a study beside its baseline have a table of their own.

    Args:
        folders: run directories, or folders of them.
        by: what to group episodes by.
        thresholds: where failure behaviours part.

    Raises:
        StoreError: a folder that is no run directory, or cannot be read.
        UsageError: two runs repeat each other, or nothing that episodes can be grouped by.
    """
    dimensions = check_dimensions(by)
    runs = find_runs(list(folders))
    try:
        return build_report(
            (run_of(one) for one in runs if arm_of(read_header(one)) == BASELINE), dimensions, thresholds
        )
    except UsageError as error:
        raise UsageError(
            f"{error}; report runs that repeat each other apart: {', '.join(map(str, runs))}"
        ) from error


def run_of(folder: Path) -> Run:
    """A run directory as reports take it; its episodes are read when they are asked for."""
    told = bool(read_header(folder).get("privileged", False))
    return Run(read_episodes(folder), planned_of(folder), settings_of(folder), told)


def planned_of(folder: Path) -> dict[tuple[str, str], int]:
    """How many episodes a run was to have, by (env id, agent)."""
    header = read_header(folder)
    return {(env, header["agent"]): count for env, count in header["planned"].items()}


def settings_of(folder: Path) -> dict[str, Any]:
    """What runs must agree in to be pooled: the settings of their environments and of their agent."""
    config = read_header(folder)["config"]
    agent = {f"agent option {name}": value for name, value in config.get("agent_options", {}).items()}
    return {**config.get("env_options", {}), **agent}


def show(rows: list[Row]) -> None:
    """Print the table."""
    console().print(render_rows(rows))


def check_page(path: Path) -> None:
    """Find out before long work whether a page can be written; see :func:`check_writable`."""
    check_writable("--html", path)


def check_writable(option: str, path: Path) -> None:
    """Find out before long work whether a file can be written.

    Raises:
        UsageError: it cannot; names the option, the path and what is in the way.
    """
    there = next(one for one in (path, *path.absolute().parents) if one.exists())
    if there == path and there.is_dir():
        raise UsageError(f"{option} {path} is a folder; give the name of a file")
    if there != path and not there.is_dir():
        raise UsageError(f"{option} {path} cannot be written: {there} is no folder")
    if not os.access(there, os.W_OK):
        raise UsageError(f"{option} {path} cannot be written: no permission for {there}")


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
