"""Ctrl-C, or SIGTERM where it is handled, at a moment when nothing may be left half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

STOPPING = frozenset({signal.SIGINT, signal.SIGTERM})
"""What a run is stopped by: Ctrl-C, and what Slurm and ``timeout`` send."""


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """What stops a run waits until the block is left, and never reaches the processes started in it.

    A terminal sends Ctrl-C to all of them, and Slurm SIGTERM, also while they start and have not yet said
    that they leave it to their parent. They inherit that it is blocked.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        # Blocked in this thread alone: another may take it, and the main thread would handle it at once.
        with ExitStack() as handlers:
            for number in filter(_handled_here, sorted(STOPPING)):
                handlers.enter_context(_handled_later(number))
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _handled_here(number: signal.Signals) -> bool:
    """Whether this is the thread that Python's handlers run in, and there is one of Python's."""
    return threading.current_thread() is threading.main_thread() and callable(signal.getsignal(number))


@contextmanager
def _handled_later(number: signal.Signals) -> Iterator[None]:
    came: list[int] = []
    handler = signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(number, handler)
        if came:
            signal.raise_signal(number)  # waits until it is unblocked
