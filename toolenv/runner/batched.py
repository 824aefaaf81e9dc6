"""Runs many episodes at once with policies that decide for many at once: local models in batches.

Episodes are moved by threads (an environment's step may wait for a simulated user's server, a part of a
policy for its own), and each rests where it needs a decision of a batched policy:

- Of a :class:`~toolenv.policy.Continuous` one it is submitted at once. An episode whose decision has come
  moves on and asks for the next one, so that the engine never runs dry while there are episodes.
- Of a :class:`~toolenv.policy.Batched` one it is decided when no episode can move any more. What is decided
  together is then a function of the jobs and the concurrency, and of no thread's speed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from queue import SimpleQueue
from typing import Any, TypeAlias

import gymnasium

from toolenv.deliberation import Outcome, advance, leaves
from toolenv.errors import UsageError
from toolenv.model_server.circumstances import Circumstances, under
from toolenv.policy import Answer, Ask, Batched, Continuous, Policy
from toolenv.rollout import Rollout, play
from toolenv.runner.conduct import CONDUCT, Conduct, Services
from toolenv.runner.plan import Job, make
from toolenv.runner.retrying import is_to_be_played_again, joined, with_troubles
from toolenv.types import Action, Observation

Env: TypeAlias = gymnasium.Env[Observation, Action]
Reached: TypeAlias = Rollout | Ask | Future[Answer]
"""Where an episode comes to rest: its end, a question for the next batch, or an answer that will come."""


def decides_together(policy: Policy) -> bool:
    """Whether a policy, or a part of one that is made of others, decides for many episodes at once."""
    return any(isinstance(leaf, Batched | Continuous) for leaf in leaves(policy))


def run_batched(
    jobs: Iterable[Job],
    policy: Policy,
    env_options: Mapping[str, Any],
    concurrency: int,
    conduct: Conduct = CONDUCT,
) -> Iterator[Rollout]:
    """Run every job and yield each episode as it ends; see :func:`toolenv.runner.local.run_jobs`.

    Args:
        jobs: what to run.
        policy: who decides; parts of it that decide alone are asked in threads.
        env_options: keywords of ``gymnasium.make``.
        concurrency: episodes at a time, at least 1.
        conduct: how episodes are played.

    Raises:
        UsageError: a cache that cannot be written; or, once the episodes in flight have been yielded, that
            a policy returned something that is no action.
    """
    return _Table(jobs, policy, env_options, concurrency, conduct).serve()


class _Envs:
    """Environments that are free; one is made only where none is."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.options, self.free = options, dict[str, list[Env]]()

    def take(self, name: str) -> Env:
        free = self.free.setdefault(name, [])
        return free.pop() if free else make(name, self.options)

    def give_back(self, name: str, env: Env) -> None:
        self.free[name].append(env)


@dataclass(slots=True)
class _Seat:
    """One episode in flight.

    Attributes:
        number: counts the episodes begun.
        job: what is played.
        env: where.
        earlier: plays of it that met infrastructure which failed.
        around: the circumstances of the play under way.
        played: that play.
    """

    number: int
    job: Job
    env: Env
    earlier: list[Rollout]
    around: Circumstances
    played: Generator[Ask, Answer, Rollout]


class _Table:
    """The episodes in flight and what each of them waits for."""

    def __init__(
        self,
        jobs: Iterable[Job],
        policy: Policy,
        env_options: Mapping[str, Any],
        places: int,
        conduct: Conduct,
    ) -> None:
        self.jobs, self.policy, self.envs = iter(jobs), policy, _Envs(env_options)
        self.services, self.retries = Services(conduct), conduct.retries
        self.free_places, self.pool = places, ThreadPoolExecutor(places)
        self.begun = self.under_way = 0
        self.resting: list[tuple[_Seat, Ask]] = []
        self.events: SimpleQueue[Callable[[], Rollout | None]] = SimpleQueue()
        self.failure: BaseException | None = None

    def serve(self) -> Iterator[Rollout]:
        """Every job's episode as it ends; a run that is given up waits for nothing."""
        try:
            yield from self.episodes()
        finally:
            self.pool.shutdown(wait=False, cancel_futures=True)
        if self.failure is not None:
            raise self.failure

    def episodes(self) -> Iterator[Rollout]:
        while True:
            for job in islice(self.jobs, self.free_places):
                self.begin(job)
            if self.under_way:
                ended = self.events.get()()
                if ended is not None:
                    yield ended
            elif self.resting:
                self.decide()
            else:
                return

    def begin(self, job: Job) -> None:
        try:
            env = self.envs.take(job.env)
        except Exception as error:
            self.fail(error)
            return
        self.begun, self.free_places = self.begun + 1, self.free_places - 1
        self.move(self.seat(self.begun, job, env, []), None)

    def seat(self, number: int, job: Job, env: Env, earlier: list[Rollout]) -> _Seat:
        around = self.services.episode(job.seed)
        played = play(env, self.policy, seed=job.seed, task_id=job.task_id, env_id=job.env, trial=job.trial)
        return _Seat(number, job, env, earlier, around, played)

    def move(self, seat: _Seat, outcome: Outcome) -> None:
        """Let an episode go on in a thread."""
        moving = self.pool.submit(_go_on, seat, outcome)
        self.watch(moving, lambda: self.moved(seat, moving))

    def watch(self, future: Future[Any], then: Callable[[], Rollout | None]) -> None:
        self.under_way += 1
        future.add_done_callback(lambda _: self.events.put(then))

    def moved(self, seat: _Seat, moving: Future[Reached]) -> Rollout | None:
        self.under_way -= 1
        error = moving.exception()
        if error is not None:
            self.free_places += 1
            self.fail(error)
            return None
        reached = moving.result()
        if isinstance(reached, Rollout):
            return self.ended(seat, reached)
        if isinstance(reached, Ask):
            self.resting.append((seat, reached))
        else:
            self.watch(reached, lambda: self.decided(seat, reached))
        return None

    def ended(self, seat: _Seat, played: Rollout) -> Rollout | None:
        """The episode; or none yet, where a failure that may pass lets it be played again."""
        one = with_troubles(played, seat.around.failed, seat.around.recalled)
        if is_to_be_played_again(one, len(seat.earlier), self.retries):
            self.move(self.seat(seat.number, seat.job, seat.env, [*seat.earlier, one]), None)
            return None
        self.free_places += 1
        self.envs.give_back(seat.job.env, seat.env)
        return joined(seat.earlier, one)

    def decided(self, seat: _Seat, deciding: Future[Answer]) -> None:
        self.under_way -= 1
        error = deciding.exception()
        if error is not None and not isinstance(error, Exception):
            raise error
        self.move(seat, deciding.result() if error is None else error)

    def decide(self) -> None:
        """One batch of each policy for all that rest at it, in the order in which they began."""
        resting, self.resting = sorted(self.resting, key=lambda one: one[0].number), []
        for policy in {id(ask.policy): ask.policy for _, ask in resting}.values():
            seats = [seat for seat, ask in resting if ask.policy is policy]
            asks = [ask for _, ask in resting if ask.policy is policy]
            for seat, outcome in zip(seats, _in_one_batch(policy, asks), strict=True):
                self.move(seat, outcome)

    def fail(self, error: BaseException) -> None:
        """Begin nothing new; what is in flight is brought to its end first."""
        self.failure, self.jobs = self.failure or error, iter(())


def _go_on(seat: _Seat, outcome: Outcome) -> Reached:
    """Let an episode go on, and submit what it asks of a policy that takes up work at any time."""
    with under(seat.around):
        reached = advance(seat.played, outcome, _decides_alone)
        while isinstance(reached, Ask) and isinstance(reached.policy, Continuous):
            try:
                return reached.policy.submit(reached.observation, reached.memory)
            except Exception as error:
                reached = advance(seat.played, error, _decides_alone)
        return reached


def _decides_alone(policy: Policy) -> bool:
    return not isinstance(policy, Batched | Continuous)


def _in_one_batch(policy: Policy, asks: Sequence[Ask]) -> Sequence[Answer | Exception]:
    assert isinstance(policy, Batched)
    try:
        answers = policy.act_batch([ask.observation for ask in asks], [ask.memory for ask in asks])
    except Exception as error:
        return [_own_copy(error) for _ in asks]
    if len(answers) == len(asks):
        return answers
    wrong = UsageError(f"policy {policy.name!r}: act_batch gave {len(answers)} answers for {len(asks)}")
    return [wrong] * len(asks)


def _own_copy(error: Exception) -> Exception:
    """What each episode gets: an error collects what its episode had spent."""
    try:
        twin = copy.copy(error)
    except Exception:  # one that cannot be made anew from its own arguments
        return error
    twin.__cause__ = error.__cause__
    return twin.with_traceback(error.__traceback__)
