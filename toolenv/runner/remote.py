"""Runs many episodes in workers that may die: what they lose is played again, and nothing counts twice.

The processes and the actors are those of :mod:`concurrent.futures` and of Ray. What is here is which jobs are
given to whom, the same for both.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import islice
from typing import NamedTuple, Protocol

from toolenv.errors import ToolEnvError
from toolenv.rollout import Rollout
from toolenv.runner.keys import Key
from toolenv.runner.plan import Job
from toolenv.runner.worker import Played

CHUNK = 32
"""Jobs given to a worker at a time, at most; see :data:`toolenv.runner.worker.PATIENCE`."""

ALONE_FROM = 2
"""A job that has lost so many workers is played with no other beside it, so that the next one tells."""

MOST_LOST_ALONE = 3
"""A job that has lost so many workers that had nothing else to play is given up."""

LOST_IN_A_ROW = 16
"""A run ends when so many workers, and two for each that there is, were lost with no episode in between."""


class WorkersLost(ToolEnvError):
    """A run stopped because its workers die before they play anything; what had finished is kept."""


class Crew(Protocol):
    """Workers beside this process, numbered from 0.

    Attributes:
        size: how many there are.
        slots: how many calls each takes at a time.
        chunk: how many jobs a call takes.
        lost: what a call raises whose worker is no more.
    """

    size: int
    slots: int
    chunk: int
    lost: tuple[type[BaseException], ...]

    def submit(self, worker: int, jobs: Sequence[Job]) -> Future[Played]:
        """Give jobs to a worker; raises one of ``lost``, or the future does, if it is no more."""
        ...

    def replace(self, worker: int) -> None:
        """Put a new worker in the place of one that was lost."""
        ...

    def close(self) -> None:
        """End the workers, whatever they are doing."""
        ...


class _Call(NamedTuple):
    """Jobs in the hands of a worker, the ``life``-th one in its place."""

    worker: int
    life: int
    jobs: Sequence[Job]
    alone: bool


def run_remote(jobs: Iterable[Job], crew: Crew, give_up: Callable[[Job, str], Rollout]) -> Iterator[Rollout]:
    """Run every job on a crew and yield each episode as it comes in; the crew is closed at the end.

    No more calls are out than workers take at a time, so that memory does not grow with the run.

    Args:
        jobs: what to run, taken as needed.
        crew: who plays.
        give_up: the invalid episode of a job that again and again loses its worker, and why.

    Raises:
        WorkersLost: workers die whatever they play.
        Exception: once the calls in flight have been yielded, what a worker's policy raised.
    """
    return _Run(jobs, crew, give_up).episodes()


class _Run:
    """Jobs that wait, and calls in flight."""

    def __init__(self, jobs: Iterable[Job], crew: Crew, give_up: Callable[[Job, str], Rollout]) -> None:
        self.waiting, self.crew, self.give_up = iter(jobs), crew, give_up
        self.again: deque[Job] = deque()
        self.suspects: deque[Job] = deque()
        self.losses: Counter[Key] = Counter()
        self.losses_alone: Counter[Key] = Counter()
        self.calls: dict[Future[Played], _Call] = {}
        self.lives, self.load = [0] * crew.size, [0] * crew.size
        self.lost_in_a_row = 0
        self.failure: BaseException | None = None

    def episodes(self) -> Iterator[Rollout]:
        try:
            self.hand_out()
            while self.calls:
                done, _ = wait(self.calls, return_when=FIRST_COMPLETED)
                for future in done:
                    yield from self.take_in(future, self.calls.pop(future))
                self.hand_out()
        finally:
            self.crew.close()
        if self.failure is not None:
            raise self.failure

    def hand_out(self) -> None:
        """Give every worker what it can take."""
        for _ in range(self.crew.slots):
            for worker in range(self.crew.size):
                jobs, alone = self.next_for(worker)
                if jobs:
                    self.submit(worker, jobs, alone)

    def next_for(self, worker: int) -> tuple[Sequence[Job], bool]:
        """What a worker gets next, and whether nothing may be played beside it."""
        load = self.load[worker]
        alone = any(call.alone for call in self.calls.values() if call.worker == worker)
        if self.failure is not None or alone or load >= self.crew.slots:
            return (), False
        if self.suspects and load == 0:
            return (self.suspects.popleft(),), True
        if self.suspects and worker == 0:  # it is kept free for them
            return (), False
        back = [self.again.popleft() for _ in range(min(self.crew.chunk, len(self.again)))]
        return back or tuple(islice(self.waiting, self.crew.chunk)), False

    def submit(self, worker: int, jobs: Sequence[Job], alone: bool) -> None:
        call = _Call(worker, self.lives[worker], jobs, alone)
        try:
            future = self.crew.submit(worker, jobs)
        except self.crew.lost as error:
            future = Future()
            future.set_exception(error)
        self.calls[future] = call
        self.load[worker] += 1

    def take_in(self, future: Future[Played], call: _Call) -> Iterator[Rollout]:
        """The episodes of a call that has ended; what is left of it waits again."""
        self.load[call.worker] -= 1
        error = future.exception()
        if isinstance(error, self.crew.lost):
            yield from self.lose(call, error)
        elif error is not None:
            self.failure = self.failure or error
        else:
            played = future.result()
            yield from played.rollouts
            self.lost_in_a_row = 0
            self.failure = self.failure or played.failure
            done = {one.episode.key for one in played.rollouts}
            self.again.extend(job for job in call.jobs if job.key not in done)

    def lose(self, call: _Call, error: BaseException) -> Iterator[Rollout]:
        """Replace a lost worker, and play again what it had, if that has not lost too many."""
        if call.life == self.lives[call.worker]:
            self.lives[call.worker] += 1
            self.lost_in_a_row += 1
            self.crew.replace(call.worker)
        if self.lost_in_a_row >= LOST_IN_A_ROW + 2 * self.crew.size:
            self.failure = self.failure or WorkersLost(
                f"stopped: {self.lost_in_a_row} workers in a row died before they had played an episode"
                f" ({type(error).__name__}: {str(error)[:300]})"
            )
            return
        for job in call.jobs:
            self.losses[job.key] += 1
            self.losses_alone[job.key] += call.alone
            lost, alone = self.losses[job.key], self.losses_alone[job.key]
            if alone >= MOST_LOST_ALONE:
                yield self.give_up(job, f"{lost} workers died playing it, {alone} with nothing else to play")
            elif lost >= ALONE_FROM:
                self.suspects.append(job)
            else:
                self.again.append(job)
