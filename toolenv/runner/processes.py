"""Runs many episodes in processes of this machine, for work that keeps more than one processor busy."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

from toolenv.runner.garbage import collect_seldom
from toolenv.runner.interrupts import STOPPING, interrupts_deferred
from toolenv.runner.plan import Job
from toolenv.runner.worker import Orders, Played, Worker


class ProcessCrew:
    """Processes of this machine, each started when it is first given something.

    Each has an executor of its own, so that one that dies takes none of the others with it.

    Args:
        orders: what each must know.
        size: how many.
    """

    lost: tuple[type[BaseException], ...] = (BrokenProcessPool,)

    def __init__(self, orders: Orders, size: int) -> None:
        self.size, self.places, self._orders = size, orders.places, orders
        self._context = _Spawning()
        self._executors: dict[int, ProcessPoolExecutor] = {}

    def submit(self, worker: int, jobs: Sequence[Job]) -> Future[Played]:
        """See :class:`toolenv.runner.remote.Crew`."""
        if worker in self._executors:
            return self._executors[worker].submit(_play, jobs)
        with interrupts_deferred():  # its locks have names in the system, which outlast a half-made one
            executor = self._executors[worker] = ProcessPoolExecutor(1, self._context)
            # Orders go with the first call: what goes with the start is written by this thread, which would
            # wait for ever for a process that dies before it has read it all.
            return executor.submit(_begin, self._orders, jobs)

    def replace(self, worker: int) -> None:
        """See :class:`toolenv.runner.remote.Crew`."""
        self._executors.pop(worker).shutdown(wait=False, cancel_futures=True)

    def has_room(self) -> bool:
        """See :class:`toolenv.runner.remote.Crew`."""
        return True

    def close(self) -> None:
        """See :class:`toolenv.runner.remote.Crew`."""
        with interrupts_deferred():  # Ctrl-C is often pressed twice
            for process in self._context.started:
                if process.pid:
                    process.kill()
            while self._executors:  # waited for: what they hold of the system is given back with them
                self._executors.popitem()[1].shutdown(wait=True, cancel_futures=True)

    def pids(self) -> set[int]:
        """The ids of the processes that are up."""
        return {process.pid for process in self._context.started if process.pid and process.is_alive()}


class _Spawning(SpawnContext):
    """Keeps the processes it makes; forking one with threads (progress bars have them) may deadlock those."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[SpawnProcess] = []

    def Process(self, *given: Any, **options: Any) -> SpawnProcess:  # type: ignore[override]
        """A process of a pool, which starts it at once."""
        process = SpawnProcess(*given, **options)
        self.started.append(process)
        return process


_worker: Worker | None = None


def _begin(orders: Orders, jobs: Sequence[Job]) -> Played:
    """Make the worker of a new process, which ends with the one that started it and leaves signals to it."""
    global _worker
    for number in STOPPING:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    collect_seldom()
    _worker = Worker(orders)
    return _play(jobs)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _play(jobs: Sequence[Job]) -> Played:
    assert _worker is not None
    played = _worker.play(jobs)
    with suppress(AttributeError, OSError, ValueError):  # a policy may have closed it
        sys.stdout.flush()  # what was printed would else go with the process, which is killed in the end
    return played
