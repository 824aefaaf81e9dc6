"""Where episodes are played: this process, several, or a Ray cluster, by name."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolenv.errors import UnknownNameError, UsageError
from toolenv.policy import Policy
from toolenv.rollout import Rollout
from toolenv.runner.batched import holds_a_model
from toolenv.runner.conduct import CONDUCT, Conduct
from toolenv.runner.given_up import given_up
from toolenv.runner.local import run_jobs
from toolenv.runner.plan import Job
from toolenv.runner.processes import ProcessCrew
from toolenv.runner.ray import Cluster, RayCrew, import_ray
from toolenv.runner.remote import Crew, run_remote, tell_nobody
from toolenv.runner.worker import Orders
from toolenv.types import Usage

RUNNERS = ("local", "processes", "ray")
ANYWHERE = Cluster()


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where the episodes of a run are played; no part of what a run is.

    Attributes:
        runner: one of :data:`RUNNERS`. ``local``: this process, which waits for servers together.
            ``processes``: of this machine, one for each processor. ``ray``: actors on a cluster.
        concurrency: episodes at a time, of all together.
        cluster: of the runner ``ray``.
        conduct: how they are played.

    Raises:
        UsageError: no such runner, a concurrency below 1, settings of ray for another runner, or a deadline
            that comes before the turns that a limit on requests allows.
    """

    runner: str = "local"
    concurrency: int = 1
    cluster: Cluster = ANYWHERE
    conduct: Conduct = CONDUCT

    def __post_init__(self) -> None:
        if self.runner not in RUNNERS:
            raise UnknownNameError("runner", self.runner, RUNNERS)
        if self.concurrency < 1:
            raise UsageError(f"concurrency={self.concurrency}: give a whole number of at least 1")
        if self.runner != "ray" and self.cluster != ANYWHERE:
            raise UsageError(f"settings of ray are of no use to runner {self.runner!r}; add --runner ray")
        if self.runner == "ray":
            import_ray()
        self._check_turns()

    def _check_turns(self) -> None:
        """Refuse a queue in which episodes run out of time before they have asked anything."""
        per_minute, deadline = self.conduct.limits.per_minute, self.conduct.deadline
        if per_minute is None or deadline is None:
            return
        last = 60 / per_minute * (self.concurrency - 1)
        if last > deadline:
            raise UsageError(
                f"{self.concurrency} episodes at a time and {per_minute:g} requests a minute: the last one"
                f" has its turn after {last:g} s, and its deadline after {deadline:g} s; give a concurrency"
                f" of at most {int(deadline * per_minute / 60) + 1}, or a deadline of at least"
                f" {math.ceil(last)} s"
            )


HERE = Workplace()
"""This process, one episode at a time."""


def run_at(
    place: Workplace,
    jobs: Sequence[Job],
    policy: Policy,
    make_policy: Callable[[], Policy],
    env_options: Mapping[str, Any],
    tried: Callable[[Mapping[str, Usage]], None] = tell_nobody,
) -> Generator[Rollout]:
    """Run every job and yield each episode as it ends: the same ones everywhere, in another order.

    Args:
        place: where.
        jobs: what to run.
        policy: who decides, in this process.
        make_policy: builds it elsewhere; it must survive pickling, e.g. a ``functools.partial``.
        env_options: keywords of ``gymnasium.make``.
        tried: told what workers spent, by role, on trying a model of their own.

    Raises:
        UsageError: once the episodes in flight have been yielded, that the policy gave no action.
        WorkersLost: workers die whatever they play.
        ServerError: a Ray cluster that cannot be reached.
    """
    if place.runner == "local":
        yield from run_jobs(jobs, policy, env_options, place.concurrency, place.conduct)
        return
    if not jobs:
        return

    def give_up(job: Job, why: str) -> Rollout:
        return given_up(job, why, policy.name, env_options)

    yield from run_remote(jobs, crew_at(place, policy, make_policy, env_options), give_up, tried)


def crew_at(
    place: Workplace, policy: Policy, make_policy: Callable[[], Policy], env_options: Mapping[str, Any]
) -> Crew:
    """The workers of a place that is not this process; see :func:`run_at`."""
    path = tuple(map(os.path.abspath, sys.path))
    orders = Orders(make_policy, env_options, path, conduct=place.conduct)
    if place.runner == "ray":
        return RayCrew(orders, place.cluster, place.concurrency)
    if holds_a_model(policy):
        raise UsageError(
            f"agent {policy.name!r} decides for many episodes at once, and each process would have one of its"
            " own; take --runner local"
        )
    size = min(place.concurrency, os.cpu_count() or 1)
    shared, places = place.conduct.shared_by(size), -(-place.concurrency // size)
    return ProcessCrew(replace(orders, conduct=shared, places=places), size)
