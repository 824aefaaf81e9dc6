"""Progress on stderr, also while nothing ends: a bar on a terminal, a line now and then anywhere else."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolenv.cli.output import console
from toolenv.cli.streams import tell
from toolenv.model_server.failures import Failures
from toolenv.report.safe import safe_line
from toolenv.rollout import Rollout
from toolenv.runner.costs import Tariff
from toolenv.runner.interrupts import STOPPING
from toolenv.runner.progress import Tally
from toolenv.runner.select import Workplace

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

LINE_SECONDS = 30.0
"""How often a line is printed where stderr is no terminal; a run that takes less long prints none."""

QUIET_SECONDS = 60.0
"""How often while no episode ends."""

FRAME_SECONDS = 0.2
"""How often the bar on a terminal moves."""

LONGEST = 600
"""Characters of the tally that are shown; servers' words are part of it."""


def watched(place: Workplace) -> Workplace:
    """The place, with failed requests counted as they fail; those of other processes never come here."""
    if place.runner != "local":
        return place
    return replace(place, conduct=replace(place.conduct, failures=Failures()))


def tally_of(place: Workplace, settings: Mapping[str, Any], total: int, left: int) -> Tally:
    """The tally of a run that begins or is resumed.

    Args:
        place: where it is played.
        settings: its agent's, which say whose model has which price.
        total: its episodes.
        left: those that have not ended yet.
    """
    conduct = place.conduct
    return Tally(
        total,
        total - left,
        time.monotonic,
        Tariff(conduct.prices, settings) if conduct.prices else None,
        at_once=place.concurrency,
        failures=conduct.failures,
    )


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
    """A bar with the tally beside it, which its own thread asks for again."""
    from rich.progress import BarColumn, Progress

    with Progress(BarColumn(20), _beside(title, tally), console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=tally.total, completed=tally.done)
        last = 0.0

        def show() -> None:
            nonlocal last
            if time.monotonic() - last >= FRAME_SECONDS:
                last = time.monotonic()
                bar.update(task, completed=tally.done + tally.ended)

        yield show


def _beside(title: str, tally: Tally) -> ProgressColumn:
    from rich.progress import ProgressColumn, Task
    from rich.table import Column
    from rich.text import Text

    name = safe_line(title, 40)

    class Beside(ProgressColumn):
        max_refresh = FRAME_SECONDS

        def render(self, task: Task) -> Text:
            return Text(f"{name} {safe_line(tally.line(), LONGEST)}")

    return Beside(Column(no_wrap=True, overflow="ellipsis"))


@contextmanager
def in_lines(
    title: str, tally: Tally, now: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[], None]]:
    """A line every :data:`LINE_SECONDS`, or :data:`QUIET_SECONDS`, without control characters."""
    last, lock = now(), threading.Lock()

    def show(seconds: float = LINE_SECONDS) -> None:
        nonlocal last
        with lock:
            if now() - last >= seconds:
                last = now()
                tell(f"{safe_line(title, 80)}: {safe_line(tally.line(), LONGEST)}")

    with _again_and_again(lambda: show(QUIET_SECONDS)):
        yield show


@contextmanager
def _again_and_again(look: Callable[[], None]) -> Iterator[None]:
    """Calls ``look`` from time to time, in a thread that takes no signals: they wake the main thread only."""
    over = threading.Event()

    def watch() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
        while not over.wait(QUIET_SECONDS / 4):
            look()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
