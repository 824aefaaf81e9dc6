"""Runs many episodes at once with policies that can decide for many at once: models on servers, or in here.

One thread does whatever only computes. Each episode rests where it needs a decision:

- Of a :class:`~toolenv.policy.Waitable` policy: its requests are sent, and one reactor waits for all of them.
- Of a :class:`~toolenv.policy.Continuous` one: it is submitted at once. An episode whose decision has come
  moves on and asks for the next one, so that the engine never runs dry while there are episodes.
- Of a :class:`~toolenv.policy.Batched` one: it is decided when no episode can move any more. What is decided
  together is then a function of the jobs and the concurrency, and of no thread's speed.

Where an episode may wait otherwise (a step of its environment for a simulated user's server, a part of a
policy for whatever it likes) it is moved by a thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeAlias, cast

import gymnasium

from toolenv.actions import shown
from toolenv.deliberation import Outcome, advance, generator_of, leaves
from toolenv.env import ToolEnv
from toolenv.errors import RAISED, UsageError
from toolenv.model_server.circumstances import Circumstances, under
from toolenv.model_server.reactor import Reactor
from toolenv.policy import Answer, Ask, Batched, Continuous, Policy, Waitable
from toolenv.rollout import Rollout, play
from toolenv.runner.conduct import CONDUCT, Conduct, Services
from toolenv.runner.one_batch import in_one_batch
from toolenv.runner.plan import Envs, Job
from toolenv.runner.retrying import is_to_be_played_again, joined, with_troubles
from toolenv.suite import only_computes
from toolenv.types import Action, Observation
from toolenv.waiting import Waiting

Env: TypeAlias = gymnasium.Env[Observation, Action]
Reached: TypeAlias = Rollout | Ask | Future[Answer] | Exception
"""Where an episode comes to rest: its end, a question to others, an answer that will come, or a fault of the
caller's."""


def decides_together(policy: Policy) -> bool:
    """Whether a policy, or a part of one that is made of others, can decide for many episodes at once."""
    return not all(map(_decides_alone, leaves(policy)))


def holds_a_model(policy: Policy) -> bool:
    """Whether a policy, or a part of one, decides for many episodes at once by itself: there is one of it."""
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


class _Place(NamedTuple):
    """An environment, and whether moving an episode in it only computes, so that no thread is needed."""

    env: Env
    computes: bool


class _Places:
    """Environments that are free; one is made only where none is."""

    def __init__(self, options: Mapping[str, Any], asks_nobody: bool) -> None:
        self.envs, self.asks_nobody = Envs(options), asks_nobody
        self.free: dict[str, list[_Place]] = {}

    def take(self, name: str) -> _Place:
        free = self.free.setdefault(name, [])
        if free:
            return free.pop()
        env = self.envs.make(name)
        suite = cast(ToolEnv, env.unwrapped).source.suite
        return _Place(env, self.asks_nobody and only_computes(suite))

    def give_back(self, name: str, place: _Place) -> None:
        self.free[name].append(place)


@dataclass(slots=True)
class _Seat:
    """One episode in flight.

    Attributes:
        number: counts the episodes begun.
        job: what is played.
        place: where.
        earlier: plays of it that met infrastructure which failed.
        around: the circumstances of the play under way.
        played: that play.
    """

    number: int
    job: Job
    place: _Place
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
        self.jobs, self.policy = iter(jobs), policy
        # Looked up by identity: to ask a policy each time what it can do would be a tenth of all work.
        asked = tuple(leaves(policy))
        self.together = {id(one) for one in asked if not _decides_alone(one)}
        self.waitable = {id(one) for one in asked if isinstance(one, Waitable)}
        self.places = _Places(env_options, all(id(one) in self.together for one in asked))
        self.services, self.retries = Services(conduct), conduct.retries
        self.concurrency = self.free_places = places
        self.pool: ThreadPoolExecutor
        self.reactor: Reactor
        self.begun = self.under_way = 0
        self.ready: deque[tuple[_Seat, Outcome]] = deque()
        self.resting: list[tuple[_Seat, Ask]] = []
        self.over: deque[Rollout] = deque()
        self.failure: BaseException | None = None

    def serve(self) -> Iterator[Rollout]:
        """Every job's episode as it ends; a run that is given up waits for nothing."""
        self.pool, self.reactor = ThreadPoolExecutor(self.concurrency), Reactor()
        try:
            yield from self.episodes()
        finally:
            self.pool.shutdown(wait=False, cancel_futures=True)
            self.reactor.close()
        if self.failure is not None:
            raise self.failure

    def episodes(self) -> Iterator[Rollout]:
        while True:
            for job in islice(self.jobs, self.free_places):
                self.begin(job)
            for _ in range(len(self.ready)):
                seat, outcome = self.ready.popleft()
                self.moved(seat, self.go_on(seat, outcome))
            can_go_on = bool(self.ready or self.over)
            if self.under_way:  # looked at though others can go on for ever, with replies from the cache
                self.reactor.run(patient=not can_go_on)
            elif self.resting and not can_go_on:
                self.decide()
            elif not can_go_on:
                return
            while self.over:
                yield self.over.popleft()

    def begin(self, job: Job) -> None:
        try:
            place = self.places.take(job.env)
        except Exception as error:
            self.fail(error)
            return
        self.begun, self.free_places = self.begun + 1, self.free_places - 1
        self.move(self.seat(self.begun, job, place, []), None)

    def seat(self, number: int, job: Job, place: _Place, earlier: list[Rollout]) -> _Seat:
        around = self.services.episode(job.seed)
        played = play(
            place.env, self.policy, seed=job.seed, task_id=job.task_id, env_id=job.env, trial=job.trial
        )
        return _Seat(number, job, place, earlier, around, played)

    def move(self, seat: _Seat, outcome: Outcome) -> None:
        """Let an episode go on: in its turn, or in a thread."""
        if seat.place.computes:
            self.ready.append((seat, outcome))
            return
        self.under_way += 1
        moving = self.pool.submit(self.go_on, seat, outcome)
        moving.add_done_callback(lambda _: self.reactor.say(lambda: self.came(moving, self.moved, seat)))

    def came(self, future: Future[Any], take: Callable[[_Seat, Any], None], seat: _Seat) -> None:
        """What a thread, or an engine, has brought about."""
        self.under_way -= 1
        try:
            result = future.result()
        except RAISED as error:  # an engine's that gave the work up, too
            result = error
        take(seat, result)

    def moved(self, seat: _Seat, reached: Reached) -> None:
        """An episode has come to rest."""
        if isinstance(reached, Rollout):
            self.ended(seat, reached)
        elif isinstance(reached, Future):
            self.under_way += 1
            reached.add_done_callback(lambda _: self.reactor.say(lambda: self.came(reached, self.move, seat)))
        elif isinstance(reached, Exception):
            self.free_places += 1
            self.fail(reached)
        elif id(reached.policy) in self.waitable:
            self.under_way += 1
            with under(seat.around):
                self.reactor.drive(_deciding(reached), partial(self.decided, seat))
        else:
            self.resting.append((seat, reached))

    def decided(self, seat: _Seat, outcome: Outcome) -> None:
        self.under_way -= 1
        self.move(seat, outcome)

    def ended(self, seat: _Seat, played: Rollout) -> None:
        """The episode is over, unless a failure that may pass lets it be played again."""
        one = with_troubles(played, seat.around.failed, seat.around.recalled)
        if is_to_be_played_again(one, len(seat.earlier), self.retries):
            self.move(self.seat(seat.number, seat.job, seat.place, [*seat.earlier, one]), None)
            return
        self.free_places += 1
        self.places.give_back(seat.job.env, seat.place)
        self.over.append(joined(seat.earlier, one))

    def go_on(self, seat: _Seat, outcome: Outcome) -> Reached:
        """Let an episode go on, and submit what it asks of a policy that takes up work at any time."""
        try:
            with under(seat.around):
                reached = advance(seat.played, outcome, self.answers_alone)
                while isinstance(reached, Ask) and hasattr(reached.policy, "submit"):
                    policy = cast(Continuous, reached.policy)
                    try:
                        return _future(policy.submit(reached.observation, reached.memory), reached.policy)
                    except RAISED as error:
                        reached = advance(seat.played, error, self.answers_alone)
                return reached
        except Exception as error:
            return error

    def answers_alone(self, policy: Policy) -> bool:
        return id(policy) not in self.together

    def decide(self) -> None:
        """One batch of each policy for all that rest at it, in the order in which they began."""
        resting, self.resting = sorted(self.resting, key=lambda one: one[0].number), []
        for policy in {id(ask.policy): ask.policy for _, ask in resting}.values():
            seats = [seat for seat, ask in resting if ask.policy is policy]
            asks = [ask for _, ask in resting if ask.policy is policy]
            for seat, outcome in zip(seats, in_one_batch(policy, asks), strict=True):
                self.move(seat, outcome)

    def fail(self, error: BaseException) -> None:
        """Begin nothing new; what is in flight is brought to its end first."""
        self.failure, self.jobs = self.failure or error, iter(())


def _decides_alone(policy: Policy) -> bool:
    return not isinstance(policy, Batched | Continuous | Waitable)


def _future(taken: object, policy: Policy) -> Future[Answer]:
    if issubclass(type(taken), Future):
        return cast("Future[Answer]", taken)
    raise UsageError(f"policy {policy.name!r}: submit gave {shown(taken)}, no concurrent.futures.Future")


def _deciding(ask: Ask) -> Waiting[Answer]:
    """As the policy's, begun where a failure is the episode's own."""
    deciding = cast(Waitable, ask.policy).deciding(ask.observation, ask.memory)
    answer: Answer = yield from generator_of(deciding, ask.policy, "deciding")
    return answer
