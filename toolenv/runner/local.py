"""Runs many episodes on this machine, in threads: a policy that waits for a server waits in parallel."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
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

    The episodes are the same at any concurrency; only the order they come in differs. An iterator that is
    given up waits for nothing: episodes in flight end by themselves and are lost.

    Args:
        jobs: what to run.
        policy: who decides; shared by all threads.
        env_options: keywords of ``gymnasium.make``.
        concurrency: episodes at a time, at least 1.

    Raises:
        UsageError: a concurrency below 1; or, once the episodes in flight have been yielded, that the
            policy returned something that is no action.
    """
    if concurrency < 1:
        raise UsageError(f"concurrency={concurrency}: give a whole number of at least 1")
    play = _player(policy, env_options)
    return map(play, jobs) if concurrency == 1 else _in_threads(play, jobs, concurrency)


def _player(policy: Policy, env_options: Mapping[str, Any]) -> Callable[[Job], Rollout]:
    """A function that plays a job; each thread that calls it has environments of its own."""
    local = threading.local()

    def play(job: Job) -> Rollout:
        envs: dict[str, gymnasium.Env[Observation, Action]] = local.__dict__.setdefault("envs", {})
        if job.env not in envs:
            envs[job.env] = make(job.env, env_options)
        return rollout(
            envs[job.env], policy, seed=job.seed, task_id=job.task_id, env_id=job.env, trial=job.trial
        )

    return play


def _in_threads(play: Callable[[Job], Rollout], jobs: Sequence[Job], concurrency: int) -> Iterator[Rollout]:
    """Submits at most twice as many jobs as run at a time, so that memory does not grow with the run."""
    waiting = iter(jobs)
    running: set[Future[Rollout]] = set()
    failure: BaseException | None = None
    pool = ThreadPoolExecutor(concurrency)
    try:
        while True:
            running.update(pool.submit(play, job) for job in islice(waiting, 2 * concurrency - len(running)))
            if not running:
                break
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                if future.exception() is None:
                    yield future.result()
                else:
                    failure, waiting = failure or future.exception(), iter(())
                    running = {one for one in running if not one.cancel()}
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    if failure is not None:
        raise failure
