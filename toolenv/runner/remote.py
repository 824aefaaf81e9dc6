"""Runs many episodes in workers that may die: what they lose is played again, and nothing counts twice.

The processes and the actors are those of :mod:`concurrent.futures` and of Ray. What is here is which jobs are
given to whom, the same for both.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Protocol

from toolenv.errors import ToolEnvError
from toolenv.rollout import Rollout
from toolenv.runner.keys import Key
from toolenv.runner.plan import Job
from toolenv.runner.worker import Played
from toolenv.types import Usage

MOST_AHEAD = 64
"""Jobs a worker has beside those it is playing, at most. It has twice as many as it handed in at a time of
late: enough until the next call, also where episodes end together that began together; and few where episodes
are long, for none should wait at one worker while another is idle."""

CALLS = 2
"""Calls that a worker has at a time: while one is taken in here, the next one is worked on there."""

FEW_FROM, FEW = 2, 8
"""A job that has lost so many workers is played with few others beside it, which have lost as many."""

ALONE_FROM = 3
"""A job that has lost so many workers is played with no other beside it, so that the next one tells."""

MOST_LOST_ALONE = 3
"""A job that has lost so many workers that had nothing else to play is given up."""

LOST_IN_A_ROW = 16
"""A run ends when so many workers, and two for each that there is, were lost with no episode in between."""

TOGETHER_SECONDS = 5.0
"""How long the first workers that are up wait for the others, so that few jobs are not all theirs."""

LOOK_SECONDS, LOOKS = 30.0, 10
"""After so long without an episode it is looked whether any worker is up, or can be; a run ends when that was
not so as often in a row."""

NEVER_UP = (
    "; none of them came up: what each said is on stderr, and a script that starts processes needs"
    ' `if __name__ == "__main__":` around what does so'
)


class WorkersLost(ToolEnvError):
    """A run stopped because its workers die before they play anything, or no other has a place.

    What had finished is kept.
    """


class Crew(Protocol):
    """Workers beside this process, numbered from 0; each works on its calls one after the other.

    Attributes:
        size: how many there are.
        places: how many episodes each plays at a time.
        lost: what a call raises whose worker is no more.
    """

    size: int
    places: int
    lost: tuple[type[BaseException], ...]

    def submit(self, worker: int, jobs: Sequence[Job]) -> Future[Played]:
        """Have a worker take up jobs, perhaps none, and hand in what it has finished of all it has.

        Raises one of ``lost``, or the future does, if it is no more.
        """
        ...

    def replace(self, worker: int) -> None:
        """Put a new worker in the place of one that was lost; it may be long until that one is up."""
        ...

    def has_room(self) -> bool:
        """Whether a worker that is not up may still come up."""
        ...

    def close(self) -> None:
        """End the workers, whatever they are doing."""
        ...


def tell_nobody(spent: Mapping[str, Usage]) -> None:
    """Whoever runs episodes without a store keeps no account of what came before them."""


def run_remote(
    jobs: Iterable[Job],
    crew: Crew,
    give_up: Callable[[Job, str], Rollout],
    tried: Callable[[Mapping[str, Usage]], None] = tell_nobody,
) -> Iterator[Rollout]:
    """Run every job on a crew and yield each episode as it comes in; the crew is closed at the end.

    Workers hold no more jobs than keep them busy, so that memory does not grow with the run.

    Args:
        jobs: what to run, taken as needed.
        crew: who plays.
        give_up: the invalid episode of a job that again and again loses its worker, and why.
        tried: told what each worker spent, by role, on trying its model.

    Raises:
        WorkersLost: workers die whatever they play.
        Exception: once the calls in flight have been yielded, what a worker's policy raised.
    """
    return _Run(jobs, crew, give_up, tried).episodes()


class _Hands:
    """What one worker has.

    Attributes:
        jobs: those it has not handed in, by key.
        most: how many it may have, if these have lost workers; ``None`` otherwise.
        ahead: how many it may have beside those it plays.
        calls: how many it works on.
        up: whether it has answered. Before that it has no jobs: it may never come up, as where the node of
            a cluster was lost on which there was room for it.
    """

    def __init__(self) -> None:
        self.jobs: dict[Key, Job] = {}
        self.most: int | None = None
        self.ahead, self.calls, self.up = 2, 0, False

    def hand_in(self, rollouts: Sequence[Rollout]) -> None:
        """It has played these."""
        for one in rollouts:
            del self.jobs[one.episode.key]
        self.most = self.most if self.jobs else None
        self.ahead = min(MOST_AHEAD, max(2 * len(rollouts), self.ahead - 1, 2))


class _Run:
    """Jobs that wait, and calls in flight."""

    def __init__(
        self,
        jobs: Iterable[Job],
        crew: Crew,
        give_up: Callable[[Job, str], Rollout],
        tried: Callable[[Mapping[str, Usage]], None],
    ) -> None:
        self.waiting, self.crew, self.give_up, self.tried = iter(jobs), crew, give_up, tried
        self.next_new = next(self.waiting, None)
        self.again: deque[Job] = deque()
        self.suspects: deque[Job] = deque()
        self.losses: Counter[Key] = Counter()
        self.losses_alone: Counter[Key] = Counter()
        self.hands = [_Hands() for _ in range(crew.size)]
        self.calls: dict[Future[Played], tuple[int, _Hands]] = {}
        self.lost_in_a_row = self.without_room = 0
        self.came_up = False
        self.failure: BaseException | None = None

    def episodes(self) -> Iterator[Rollout]:
        try:
            for worker in range(self.crew.size):
                self.submit(worker, ())  # answered when it is up
            wait(self.calls, TOGETHER_SECONDS)
            while self.is_going_on():
                done, _ = wait(self.calls, LOOK_SECONDS, FIRST_COMPLETED)
                for future in [one for one in self.calls if one in done]:  # a worker's in their order
                    yield from self.take_in(future, *self.calls.pop(future))
                self.hand_out()
                if not done:
                    self.look()
        finally:
            self.crew.close()
        if self.failure is not None:
            raise self.failure

    def is_going_on(self) -> bool:
        """Whether there are episodes to come; whoever is not up has none."""
        if any(hands.up for _, hands in self.calls.values()):
            return True
        return self.failure is None and bool(self.again or self.suspects or self.next_new)

    def look(self) -> None:
        """Give up a run of which no worker is up or can be."""
        stuck = not any(hands.up for hands in self.hands) and not self.crew.has_room()
        self.without_room = self.without_room + 1 if stuck else 0
        if self.without_room >= LOOKS:
            minutes = LOOK_SECONDS * LOOKS / 60
            self.failure = self.failure or WorkersLost(
                f"stopped: all workers are lost, and for {minutes:g} minutes there was no room for another"
            )

    def hand_out(self) -> None:
        """Give every worker what it can take."""
        if self.failure is not None:
            return
        given: dict[int, list[Job]] = {
            worker: [] for worker, hands in enumerate(self.hands) if hands.up and hands.calls < CALLS
        }
        took = True
        while took:  # in turns, or the last jobs would all be one worker's
            took = False
            for worker, jobs in given.items():
                job = self.next_for(worker)
                if job is not None:
                    self.hands[worker].jobs[job.key] = job
                    jobs.append(job)
                    took = True
        for worker, jobs in given.items():
            if self.hands[worker].jobs:
                self.submit(worker, jobs)
        if any(hands.jobs and hands.calls < CALLS for hands in self.hands):
            self.hand_out()

    def new_job(self) -> Job | None:
        """The next that nobody has had."""
        job, self.next_new = self.next_new, next(self.waiting, None)
        return job

    def next_for(self, worker: int) -> Job | None:
        """Another job for a worker, if there is one and it has room for it."""
        hands = self.hands[worker]
        if self.suspects and (not hands.jobs or hands.most is not None):
            most = 1 if self.losses[self.suspects[0].key] >= ALONE_FROM else FEW
            if len(hands.jobs) >= min(most, hands.most or most):
                return None
            hands.most = most
            return self.suspects.popleft()
        if hands.most is not None or len(hands.jobs) >= self.crew.places + hands.ahead:
            return None
        if self.suspects and worker == 0:  # it is kept free for them
            return None
        return self.again.popleft() if self.again else self.new_job()

    def submit(self, worker: int, jobs: Sequence[Job]) -> None:
        try:
            future = self.crew.submit(worker, jobs)
        except self.crew.lost as error:
            future = Future()
            future.set_exception(error)
        self.calls[future] = worker, self.hands[worker]
        self.hands[worker].calls += 1

    def take_in(self, future: Future[Played], worker: int, hands: _Hands) -> Iterator[Rollout]:
        """The episodes that a worker has handed in."""
        hands.calls -= 1
        hands.up, error = True, future.exception()
        if isinstance(error, self.crew.lost):
            if hands is self.hands[worker]:  # or it was lost with an earlier call
                yield from self.lose(worker, error)
        elif error is not None:
            self.failure = self.failure or error
        else:
            self.came_up, played = True, future.result()
            if played.preflight:
                self.tried(played.preflight)
            rollouts = played.rollouts()
            hands.hand_in(rollouts)
            if rollouts:
                self.lost_in_a_row = 0
            self.failure = self.failure or played.failure
            yield from rollouts

    def lose(self, worker: int, error: BaseException) -> Iterator[Rollout]:
        """Replace a lost worker, and play again what it had, if that has not lost too many."""
        had, self.hands[worker] = self.hands[worker], _Hands()
        self.lost_in_a_row += 1
        self.crew.replace(worker)
        self.submit(worker, ())
        if self.lost_in_a_row >= LOST_IN_A_ROW + 2 * self.crew.size:
            self.failure = self.failure or WorkersLost(
                f"stopped: {self.lost_in_a_row} workers in a row died before they had played an episode"
                f" ({type(error).__name__}: {str(error)[:300]}){'' if self.came_up else NEVER_UP}"
            )
            return
        for job in had.jobs.values():
            self.losses[job.key] += 1
            self.losses_alone[job.key] += had.most == 1
            lost, alone = self.losses[job.key], self.losses_alone[job.key]
            if alone >= MOST_LOST_ALONE:
                yield self.give_up(job, f"{lost} workers died playing it, {alone} with nothing else to play")
            elif lost >= FEW_FROM:
                self.suspects.append(job)
            else:
                self.again.append(job)
