"""Runs many episodes in processes of this machine, for work that keeps more than one processor busy."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from toolenv.runner.garbage import collect_seldom
from toolenv.runner.plan import Job
from toolenv.runner.worker import Orders, Played, Worker


class ProcessCrew:
    """Processes of this machine.

    Each has an executor of its own, so that one that dies takes none of the others with it.

    Args:
        orders: what each must know.
        size: how many.
    """

    lost: tuple[type[BaseException], ...] = (BrokenProcessPool,)

    def __init__(self, orders: Orders, size: int) -> None:
        self.size, self.places, self._orders = size, orders.places, orders
        # Forking a process that has threads (progress bars do) may deadlock the child.
        self._context = multiprocessing.get_context("spawn")
        self._pids: dict[int, Future[int]] = {}
        self._executors = [self._start(worker) for worker in range(size)]

    def _start(self, worker: int) -> ProcessPoolExecutor:
        executor = ProcessPoolExecutor(1, self._context, _begin, (self._orders,))
        self._pids[worker] = executor.submit(os.getpid)
        return executor

    def submit(self, worker: int, jobs: Sequence[Job]) -> Future[Played]:
        """See :class:`toolenv.runner.remote.Crew`."""
        return self._executors[worker].submit(_play, jobs)

    def replace(self, worker: int) -> None:
        """See :class:`toolenv.runner.remote.Crew`."""
        self._executors[worker].shutdown(wait=False, cancel_futures=True)
        self._executors[worker] = self._start(worker)

    def close(self) -> None:
        """See :class:`toolenv.runner.remote.Crew`."""
        for executor in self._executors:
            executor.shutdown(wait=False, cancel_futures=True)
        ours = self.pids()
        for process in multiprocessing.active_children():
            if process.pid in ours:
                process.kill()

    def pids(self) -> set[int]:
        """The ids of the processes that are up."""
        up = (one for one in self._pids.values() if one.done() and not one.cancelled())
        return {one.result() for one in up if one.exception() is None}


_worker: Worker | None = None


def _begin(orders: Orders) -> None:
    """Make the worker of a new process, which ends with the one that started it and leaves Ctrl-C to it."""
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    collect_seldom()
    _worker = Worker(orders)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _play(jobs: Sequence[Job]) -> Played:
    assert _worker is not None
    return _worker.play(jobs)
