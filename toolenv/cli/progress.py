"""Progress on stderr: a bar on a terminal, a plain line now and then anywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

from toolenv.cli.output import console
from toolenv.report.safe import safe_line
from toolenv.rollout import Rollout
from toolenv.runner.progress import Tally

LINE_SECONDS = 30.0
"""How often a line is printed where stderr is no terminal; a run that takes less long prints none."""

FRAME_SECONDS = 0.2
"""How often the bar on a terminal moves."""


@contextmanager
def following(title: str, tally: Tally) -> Iterator[Callable[[Rollout], None]]:
    """Shows how a run gets on; call what it gives with each episode."""
    shown = on_a_terminal if sys.stderr.isatty() else in_lines
    with shown(title, tally) as show:

        def follow(one: Rollout) -> None:
            tally.add(one)
            show()

        yield follow


@contextmanager
def on_a_terminal(title: str, tally: Tally) -> Iterator[Callable[[], None]]:
    """A bar with the tally beside it."""
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.table import Column

    beside = TextColumn(
        "{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis")
    )
    with Progress(BarColumn(20), beside, console=console(stderr=True), transient=True) as bar:
        name, last = safe_line(title, 40), 0.0
        task = bar.add_task(f"{name} {tally.line()}", total=tally.total, completed=tally.done)

        def show() -> None:
            nonlocal last
            if time.monotonic() - last >= FRAME_SECONDS:
                last = time.monotonic()
                told = f"{name} {tally.line()}"
                bar.update(task, completed=tally.done + tally.ended, description=told)

        yield show


@contextmanager
def in_lines(
    title: str, tally: Tally, now: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[], None]]:
    """A line every :data:`LINE_SECONDS`, without control characters."""
    last = now()

    def show() -> None:
        nonlocal last
        if now() - last >= LINE_SECONDS:
            last = now()
            typer.echo(f"{safe_line(title, 80)}: {tally.line()}", err=True)

    yield show
