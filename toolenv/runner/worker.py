"""What plays episodes in another process: made from what can be sent there, and kept while a run lasts."""

from __future__ import annotations

import pickle
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from toolenv.errors import ServerError, ToolEnvError
from toolenv.ledger import Ledger
from toolenv.policy import Policy, preflight_parts
from toolenv.rollout import Rollout
from toolenv.runner.batched import holds_a_model
from toolenv.runner.conduct import CONDUCT, Conduct
from toolenv.runner.local import run_jobs
from toolenv.runner.plan import Job
from toolenv.types import Usage

PATIENCE = 0.01
"""Seconds after which a worker hands in what it has played. Long episodes are thus handed in one by one, and
of short ones few at a time: those in flight wait while it packs them."""


@dataclass(frozen=True, slots=True)
class Orders:
    """What a worker must know; all of it can be pickled.

    Attributes:
        make_policy: builds the policy, once a worker.
        env_options: keywords of ``gymnasium.make``.
        path: where modules are looked for, beside the worker's own ``sys.path``.
        places: how many episodes a worker plays at a time.
        conduct: how episodes are played.
    """

    make_policy: Callable[[], Policy]
    env_options: Mapping[str, Any]
    path: tuple[str, ...] = ()
    places: int = 1
    conduct: Conduct = CONDUCT


class Played(NamedTuple):
    """What a worker hands in.

    Attributes:
        packed: finished episodes, pickled: whoever receives them from a worker would else read them on the
            spot, and the worker wait for that.
        failure: the exception that ended its work, and what it still had is dropped; ``None`` if there was
            none.
        preflight: what it has spent by role on trying its model since it handed in last.
    """

    packed: bytes
    failure: Exception | None = None
    preflight: Mapping[str, Usage] | None = None

    def rollouts(self) -> tuple[Rollout, ...]:
        """The episodes."""
        unpacked: tuple[Rollout, ...] = pickle.loads(self.packed)
        return unpacked


class Worker:
    """Plays jobs. What it has begun when it hands in, it goes on with at the next call."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._policy: Policy | None = None
        self._episodes: Iterator[Rollout] | None = None
        self._waiting: deque[Job] = deque()
        self._held = 0
        self._preflight: Ledger = {}
        sys.path.extend(one for one in orders.path if one not in sys.path)

    def play(self, jobs: Sequence[Job]) -> Played:
        """Take up jobs, and hand in at least one episode, if there is any.

        More are waited for as long as :data:`PATIENCE` lasts and there is more in hand than is played at a
        time. An exception that a run on one machine would raise comes back as ``failure``.
        """
        self._waiting.extend(jobs)
        self._held += len(jobs)
        rollouts: list[Rollout] = []
        until = time.monotonic() + PATIENCE
        try:
            while self._held:
                rollouts.append(self._next())
                self._held -= 1
                if self._held <= self._orders.places or time.monotonic() > until:
                    break
        except Exception as error:
            self._waiting.clear()
            self._held, self._episodes = 0, None
            return Played(pickle.dumps(tuple(rollouts)), portable(error), self._spent())
        return Played(pickle.dumps(tuple(rollouts)), None, self._spent())

    def _spent(self) -> Ledger:
        spent, self._preflight = self._preflight, {}
        return spent

    def _next(self) -> Rollout:
        """The next episode to end; a run that had nothing more to do is begun anew."""
        while True:
            if self._episodes is None:
                self._episodes = self._begun()
            one = next(self._episodes, None)
            if one is not None:
                return one
            self._episodes = None

    def _begun(self) -> Iterator[Rollout]:
        if self._policy is None:
            policy = self._orders.make_policy()
            if holds_a_model(policy):  # loaded here alone; what else there is was tried before the run
                self._try(policy)
            self._policy = policy
        orders, jobs = self._orders, _Taken(self._waiting)
        return run_jobs(jobs, self._policy, orders.env_options, orders.places, orders.conduct)

    def _try(self, policy: Policy) -> None:
        try:
            self._preflight = preflight_parts([("", policy)])
        except ServerError as error:
            self._preflight = error.ledger
            raise


class _Taken:
    """Takes jobs as long as there are any; more may come, so that it can be asked again."""

    def __init__(self, waiting: deque[Job]) -> None:
        self._waiting = waiting

    def __iter__(self) -> Iterator[Job]:
        return self

    def __next__(self) -> Job:
        if not self._waiting:
            raise StopIteration
        return self._waiting.popleft()


def portable(error: Exception) -> Exception:
    """The exception if it survives pickling, else one that says the same; its traceback becomes a note."""
    error.add_note("in a worker:\n" + "".join(traceback.format_exception(error)))
    try:
        copy = pickle.loads(pickle.dumps(error))
    except Exception:
        copy = None
    if type(copy) is type(error):
        return error
    return ToolEnvError(f"{type(error).__name__}: {error}")
