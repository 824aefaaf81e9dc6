"""An engine that works in processes of its own, which may be killed.

The out-of-memory killer does so. vLLM's ``step`` then waits for ever for what the process was to say, or it
or the next request fails with an error that does not tell why. Steps are taken in a thread here, whoever
waits for one is told when a process ends, and what the engine raises once one has ended is told as that.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")

EXIT_CODE_TRIES, EXIT_CODE_PAUSE = 100, 0.01
"""How often, and after how many seconds each, the exit code of a process that has ended is looked for."""


class WatchedSteps(Generic[T]):
    """Takes the steps of an engine one by one; none is asked for after one that failed, or after the end.

    Args:
        step: one step; called in a thread of its own.
        processes: without which there will be no step any more.
    """

    def __init__(self, step: Callable[[], T], processes: Sequence[BaseProcess]) -> None:
        self._processes = processes
        self._asked: SimpleQueue[bool] = SimpleQueue()
        self._came: SimpleQueue[T | Exception] = SimpleQueue()
        Thread(target=_take_steps, args=(step, self._asked, self._came), daemon=True).start()
        Thread(target=_watch, args=(processes, self._came), daemon=True).start()

    def __call__(self) -> T:
        """One step.

        Raises:
            ChildProcessError: a process has ended.
            Exception: whatever the step raised.
        """
        self._asked.put(True)
        came = self._came.get()
        if isinstance(came, Exception):
            with self.naming_the_dead():
                raise came
        return came

    @contextmanager
    def naming_the_dead(self) -> Iterator[None]:
        """Whatever else is asked of the engine: an error after a process has ended tells of that.

        Raises:
            ChildProcessError: an exception came, and a process has ended.
        """
        try:
            yield
        except Exception as error:
            gone = wait([one.sentinel for one in self._processes], timeout=0)
            if not gone or isinstance(error, ChildProcessError):
                raise
            raise _end_of(self._processes) from error

    def close(self) -> None:
        """Take no more of them."""
        self._asked.put(False)


def _take_steps(step: Callable[[], T], asked: SimpleQueue[bool], came: SimpleQueue[T | Exception]) -> None:
    while asked.get():
        try:
            came.put(step())
        except Exception as error:
            came.put(error)
        except BaseException as error:  # the end of this thread, too
            came.put(RuntimeError(f"{type(error).__name__}: {error}"))
            return


def _watch(processes: Sequence[BaseProcess], came: SimpleQueue[T | Exception]) -> None:
    came.put(_end_of(processes))


def _end_of(processes: Sequence[BaseProcess]) -> ChildProcessError:
    """What to tell of the first processes that end; waits for them."""
    ended = wait([one.sentinel for one in processes])
    gone = [f"{one.name} ({_exit_code(one)})" for one in processes if one.sentinel in ended]
    return ChildProcessError(f"a process of the engine has ended: {', '.join(gone)}")


def _exit_code(process: BaseProcess) -> str:
    """How a process ended; another thread that asks at the same time may be told first."""
    for _ in range(EXIT_CODE_TRIES):
        if process.exitcode is not None:
            return f"exit code {process.exitcode}"
        time.sleep(EXIT_CODE_PAUSE)
    return "exit code unknown"
