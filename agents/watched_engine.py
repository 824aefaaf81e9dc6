"""Steps of an engine that works in processes of its own, which may be killed.

The out-of-memory killer does so. vLLM's ``step`` then waits for ever for what the process was to say: it is
called in a thread here, and whoever waits for it is told when a process ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")

EXIT_CODE_SECONDS = 1.0
"""How long the exit code of a process that has ended is waited for."""


class WatchedSteps(Generic[T]):
    """Takes the steps of an engine one by one; none is asked for after one that failed, or after the end.

    Args:
        step: one step; called in a thread of its own.
        processes: without which there will be no step any more.
    """

    def __init__(self, step: Callable[[], T], processes: Sequence[BaseProcess]) -> None:
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
            raise came
        return came

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
    ended = wait([one.sentinel for one in processes])
    gone = [one for one in processes if one.sentinel in ended]
    for one in gone:
        one.join(EXIT_CODE_SECONDS)
    told = [f"{one.name} (exit code {one.exitcode})" for one in gone]
    came.put(ChildProcessError(f"a process of the engine has ended: {', '.join(told)}"))
