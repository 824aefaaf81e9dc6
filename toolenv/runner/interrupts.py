"""Ctrl-C at a moment when nothing may be left half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Ctrl-C waits until the block is left, and never reaches the processes that are started in it.

    A terminal sends it to all of them, also while they start and have not yet said that they leave it to
    their parent. They inherit that it is blocked.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        # Blocked in this thread alone: another may take it, and the main thread would handle it at once.
        with _handled_later() if _handled_here() else nullcontext():
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _handled_here() -> bool:
    """Whether this is the thread that Python's handlers run in, and there is one of Python's."""
    return threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT))


@contextmanager
def _handled_later() -> Iterator[None]:
    came: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            signal.raise_signal(signal.SIGINT)  # waits until it is unblocked
