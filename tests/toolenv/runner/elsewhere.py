"""Runs that leave this process: real suites, since a process of its own knows no toy ids."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from toolenv import Policy, Rollout
from toolenv.agents.registry import make_agent
from toolenv.runner.given_up import given_up
from toolenv.runner.local import run_jobs
from toolenv.runner.plan import Job, RunConfig, plan

ENVS = ("ToolFeas/Workflows-clean-v0", "ToolFeas/Workflows-infeasible-v0")
"""They need no data, and their oracle and random agent make several calls an episode."""


def jobs_of(limit: int, trials: int = 1) -> list[Job]:
    return list(plan(RunConfig(ENVS, "x", limit=limit, trials=trials))[0])


def maker(spec: str = "random") -> Callable[[], Policy]:
    return partial(make_agent, spec, {})


def here(jobs: Iterable[Job], spec: str = "random") -> list[Any]:
    """The records of a run in this process."""
    return records(run_jobs(list(jobs), make_agent(spec), {}))


def records(rollouts: Iterable[Rollout]) -> list[Any]:
    """Whole records, usage and raw output included, in the order of their keys."""
    ordered = sorted(rollouts, key=lambda one: one.episode.key)
    return [(one.episode.to_json(), one.trace.to_json()) for one in ordered]


def give_up(job: Job, why: str) -> Rollout:
    return given_up(job, why, "random", {})


def killing(
    rollouts: Iterator[Rollout], pids: Callable[[], Iterable[int]], moments: Iterable[int], seed: int
) -> Iterator[Rollout]:
    """Pass episodes on; at each of the moments, counted in episodes, SIGKILL a worker drawn by the seed.

    Where none is up, the next episode is waited for.
    """
    chance, left, killed = random.Random(seed), sorted(moments, reverse=True), set[int]()
    for number, one in enumerate(rollouts, 1):
        yield one
        up = sorted(set(pids()) - killed) if left and number >= left[-1] else []
        if up:
            left.pop()
            killed.add(victim := chance.choice(up))
            with suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
    assert not left, "the run was over before all workers had been killed"
