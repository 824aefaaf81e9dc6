"""Ctrl-C at a moment when nothing may be left half done: it comes behind that, and not to children."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from toolenv.runner.interrupts import interrupts_deferred

BLOCKED = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))"


@pytest.fixture(autouse=True)
def _as_from_a_terminal() -> Iterator[None]:
    """Where tests run in the background, Ctrl-C is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def is_blocked_here() -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_it_comes_when_the_block_is_left_and_once() -> None:
    steps = []

    def work() -> None:
        with interrupts_deferred():
            for step in range(3):
                signal.raise_signal(signal.SIGINT)
                steps.append(step)
        steps.append(-1)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert steps == [0, 1, 2]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not is_blocked_here()


def test_sigterm_waits_too_where_it_is_handled() -> None:
    """Slurm sends it; the command line handles it."""
    came = []
    before = signal.signal(signal.SIGTERM, lambda number, _: came.append(number))
    try:
        with interrupts_deferred():
            signal.raise_signal(signal.SIGTERM)
            assert came == []
        assert came == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_where_sigterm_is_not_handled_no_handler_is_put() -> None:
    """A library installs none: it ends the program."""
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    with interrupts_deferred():
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_an_error_in_the_block_leaves_all_as_it_was() -> None:
    with pytest.raises(ValueError, match=r"^no$"), interrupts_deferred():
        raise ValueError("no")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not is_blocked_here()


def test_it_comes_late_also_where_another_thread_takes_it() -> None:
    """A thread that does not block it: Python's handler runs in the main thread all the same."""
    begin, end = threading.Event(), threading.Event()

    def take() -> None:
        begin.wait()
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        end.set()

    thread = threading.Thread(target=take)
    thread.start()
    steps = []

    def work() -> None:
        with interrupts_deferred():
            begin.set()
            steps.append(end.wait(60))
        steps.append(False)

    with pytest.raises(KeyboardInterrupt):
        work()
    thread.join()
    assert steps == [True]


def test_processes_that_are_started_inherit_that_it_is_blocked() -> None:
    with interrupts_deferred():
        told = subprocess.check_output([sys.executable, "-c", BLOCKED], text=True)
    assert told == "True\n"


def test_in_another_thread_it_is_only_blocked() -> None:
    found = []

    def block() -> None:
        with interrupts_deferred():
            found.append(is_blocked_here())
        found.append(is_blocked_here())

    thread = threading.Thread(target=block)
    thread.start()
    thread.join()
    assert found == [True, False]
