"""Runs many episodes in this process, in threads where a policy decides each by itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from queue import SimpleQueue
from typing import Any

import gymnasium

from toolenv.errors import UsageError
from toolenv.model_server.circumstances import under
from toolenv.policy import Policy
from toolenv.rollout import Rollout, rollout
from toolenv.runner.batched import decides_together, run_batched
from toolenv.runner.conduct import CONDUCT, Conduct, Services
from toolenv.runner.plan import Envs, Job
from toolenv.runner.retrying import retrying, with_troubles
from toolenv.types import Action, Observation


def run_jobs(
    jobs: Iterable[Job],
    policy: Policy,
    env_options: Mapping[str, Any],
    concurrency: int = 1,
    conduct: Conduct = CONDUCT,
) -> Iterator[Rollout]:
    """Run every job and yield each episode as it ends.

    The episodes are the same at any concurrency; only the order they come in differs. An iterator that is
    given up waits for nothing: episodes in flight end by themselves and are lost.

    Args:
        jobs: what to run.
        policy: who decides; shared by all threads.
        env_options: keywords of ``gymnasium.make``.
        concurrency: episodes at a time, at least 1.
        conduct: how episodes are played.

    Raises:
        UsageError: a concurrency below 1, or a cache that cannot be written; or, once the episodes in flight
            have been yielded, that the policy returned something that is no action.
    """
    if concurrency < 1:
        raise UsageError(f"concurrency={concurrency}: give a whole number of at least 1")
    if concurrency > 1 and decides_together(policy):
        return run_batched(jobs, policy, env_options, concurrency, conduct)
    play = player(policy, env_options, conduct)
    return map(play, jobs) if concurrency == 1 else _in_threads(play, jobs, concurrency)


def player(
    policy: Policy, env_options: Mapping[str, Any], conduct: Conduct = CONDUCT
) -> Callable[[Job], Rollout]:
    """A function that plays a job; each thread that calls it has environments of its own.

    Their tasks and kernels, which never change, are shared.
    """
    local, services, makes = threading.local(), Services(conduct), Envs(env_options)

    def play(job: Job) -> Rollout:
        envs: dict[str, gymnasium.Env[Observation, Action]] = local.__dict__.setdefault("envs", {})
        if job.env not in envs:
            envs[job.env] = makes.make(job.env)
        with under(services.episode(job.seed)) as around:
            one = rollout(
                envs[job.env], policy, seed=job.seed, task_id=job.task_id, env_id=job.env, trial=job.trial
            )
        return with_troubles(one, around.failed, around.recalled)

    return retrying(play, conduct.retries)


def _in_threads(play: Callable[[Job], Rollout], jobs: Iterable[Job], concurrency: int) -> Iterator[Rollout]:
    """Submits at most twice as many jobs as run at a time, so that memory does not grow with the run."""
    waiting = enumerate(jobs)
    running: dict[Future[Rollout], int] = {}
    # concurrent.futures.wait looks at every future each time; with hundreds, that would be most of the work.
    ended: SimpleQueue[Future[Rollout]] = SimpleQueue()
    failure: BaseException | None = None
    pool = ThreadPoolExecutor(concurrency)
    try:
        while True:
            for number, job in islice(waiting, 2 * concurrency - len(running)):
                future = pool.submit(play, job)
                running[future] = number
                future.add_done_callback(ended.put)
            if not running:
                break
            future = ended.get()
            number = running.pop(future)
            if future.cancelled():
                continue
            error = future.exception()
            if error is None:
                yield future.result()
            else:
                failure, waiting = failure or error, enumerate(())
                for one in [one for one, its_number in running.items() if its_number > number]:
                    one.cancel()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    if failure is not None:
        raise failure
