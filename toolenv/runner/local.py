"""Runs many episodes on this machine, in threads: a policy that waits for a server waits in parallel."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

import gymnasium

from toolenv.errors import UsageError
from toolenv.policy import Policy
from toolenv.rollout import Rollout, rollout
from toolenv.runner.plan import Job, make
from toolenv.types import Action, Observation


def run_jobs(
    jobs: Sequence[Job], policy: Policy, env_options: Mapping[str, Any], concurrency: int = 1
) -> Iterator[Rollout]:
    """Run every job and yield each episode as it ends.

    The episodes are the same at any concurrency; only the order they come in differs.

    Args:
        jobs: what to run.
        policy: who decides; shared by all threads.
        env_options: keywords of ``gymnasium.make``.
        concurrency: episodes at a time, at least 1.

    Raises:
        UsageError: the policy returned something that is no action; the rest is not run.
    """
    if concurrency < 1:
        raise UsageError(f"concurrency={concurrency}: give a whole number of at least 1")
    local = threading.local()

    def play(job: Job) -> Rollout:
        envs: dict[str, gymnasium.Env[Observation, Action]] = local.__dict__.setdefault("envs", {})
        if job.env not in envs:
            envs[job.env] = make(job.env, env_options)
        return rollout(
            envs[job.env], policy, seed=job.seed, task_id=job.task_id, env_id=job.env, trial=job.trial
        )

    if concurrency == 1:
        yield from map(play, jobs)
        return
    with ThreadPoolExecutor(concurrency) as pool:
        try:
            yield from _as_they_end(pool, play, jobs, concurrency)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _as_they_end(
    pool: ThreadPoolExecutor, play: Any, jobs: Sequence[Job], concurrency: int
) -> Iterator[Rollout]:
    """Keep twice as many jobs submitted as run at a time, so that memory does not grow with the run."""
    waiting = iter(jobs)
    running: set[Future[Rollout]] = set()
    while True:
        for job in waiting:
            running.add(pool.submit(play, job))
            if len(running) >= 2 * concurrency:
                break
        if not running:
            return
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            yield future.result()
