"""What plays episodes in another process: made from what can be sent there, and kept while a run lasts."""

from __future__ import annotations

import pickle
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from toolenv.errors import ToolEnvError
from toolenv.policy import Policy
from toolenv.rollout import Rollout
from toolenv.runner.conduct import CONDUCT, Conduct
from toolenv.runner.local import player, run_jobs
from toolenv.runner.plan import Job

PATIENCE = 0.25
"""Seconds after which a worker hands in what it has played; long episodes are thus handed in one by one."""


@dataclass(frozen=True, slots=True)
class Orders:
    """What a worker must know; all of it can be pickled.

    Attributes:
        make_policy: builds the policy, once a worker.
        env_options: keywords of ``gymnasium.make``.
        path: where modules are looked for, beside the worker's own ``sys.path``.
        together: how many episodes one call plays at a time; above 1 for policies that decide for many.
        conduct: how episodes are played.
    """

    make_policy: Callable[[], Policy]
    env_options: Mapping[str, Any]
    path: tuple[str, ...] = ()
    together: int = 1
    conduct: Conduct = CONDUCT


class Played(NamedTuple):
    """What a worker did of the jobs it was given; what is not in it is to be given out again.

    Attributes:
        rollouts: the finished episodes.
        failure: the exception that ended it; ``None`` if there was none.
    """

    rollouts: tuple[Rollout, ...]
    failure: Exception | None = None


class Worker:
    """Plays jobs. Its policy is shared by all calls; each thread that calls has environments of its own."""

    def __init__(self, orders: Orders) -> None:
        self._orders, self._lock = orders, threading.Lock()
        self._made: tuple[Policy, Callable[[Job], Rollout]] | None = None
        sys.path.extend(one for one in orders.path if one not in sys.path)

    def play(self, jobs: Sequence[Job]) -> Played:
        """Play as many of the jobs, at least one, as end before :data:`PATIENCE` does.

        An exception that a run on one machine would raise comes back as ``failure``.
        """
        rollouts: list[Rollout] = []
        until = time.monotonic() + PATIENCE
        try:
            for rollout in self._episodes(jobs):
                rollouts.append(rollout)
                if self._orders.together == 1 and time.monotonic() > until:
                    break
        except Exception as error:
            return Played(tuple(rollouts), portable(error))
        return Played(tuple(rollouts))

    def _episodes(self, jobs: Sequence[Job]) -> Iterator[Rollout]:
        policy, play = self._policy_and_player()
        orders = self._orders
        if orders.together == 1:
            return map(play, jobs)
        return run_jobs(jobs, policy, orders.env_options, orders.together, orders.conduct)

    def _policy_and_player(self) -> tuple[Policy, Callable[[Job], Rollout]]:
        with self._lock:
            if self._made is None:
                policy = self._orders.make_policy()
                self._made = policy, player(policy, self._orders.env_options, self._orders.conduct)
            return self._made


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
