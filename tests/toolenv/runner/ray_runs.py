"""Runs on one Ray cluster of this machine, in a process of their own: ``python ray_runs.py``; prints JSON.

Ray leaves threads and sockets behind that pytest, where warnings are errors, must not meet.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

import ray

from tests.toolenv.runner.elsewhere import give_up, here, jobs_of, killing, maker, records
from toolenv import Observation
from toolenv.agents.registry import make_agent
from toolenv.errors import UsageError
from toolenv.runner.ray import Cluster, RayCrew
from toolenv.runner.remote import run_remote
from toolenv.runner.select import Workplace, run_at
from toolenv.runner.worker import Orders

PATH = tuple(map(os.path.abspath, sys.path))


def crew_of(make_policy: Any, concurrency: int, actors: int = 2) -> RayCrew:
    return RayCrew(Orders(make_policy, {}, PATH), Cluster(actors=actors), concurrency)


def killed() -> dict[str, Any]:
    """2,000 episodes; ten times an actor is killed, drawn by chance like the moments."""
    jobs = jobs_of(limit=500, trials=2)
    local = here(jobs)
    crew = crew_of(maker(), concurrency=2)
    moments = random.Random(2000).sample(range(1, 1900), 10)
    replaced, replace = 0, crew.replace

    def counted(worker: int) -> None:
        nonlocal replaced
        replaced += 1
        replace(worker)

    crew.replace = counted  # type: ignore[method-assign]
    there = list(killing(run_remote(jobs, crew, give_up), crew.pids, moments, seed=2000))
    return {
        "episodes": len(there),
        "equal": json.dumps(records(there)) == json.dumps(local),
        "distinct": len({one.episode.key for one in there}),
        "replaced": replaced,
    }


def in_threads() -> dict[str, Any]:
    """Four episodes at a time in each of two actors."""
    jobs = jobs_of(limit=60)
    place = Workplace("ray", 8, Cluster(actors=2))
    there = list(run_at(place, jobs, make_agent("oracle"), maker("oracle"), {}))
    return {"equal": records(there) == here(jobs, "oracle")}


class InBatches:
    """The random agent, decided for in batches."""

    name = "random"

    def __init__(self) -> None:
        self.inner = make_agent("random")

    def start(self, seed: int) -> Any:
        return self.inner.start(seed)  # type: ignore[attr-defined]

    def act(self, observation: Observation, memory: Any) -> Any:
        raise RuntimeError("asked alone")

    def act_batch(self, observations: Sequence[Observation], memories: Sequence[Any]) -> list[Any]:
        return list(map(self.inner.act, observations, memories))


class AtAnyTime(InBatches):
    """The random agent as an engine that takes up work at any time."""

    def submit(self, observation: Observation, memory: Any) -> Future[Any]:
        answer: Future[Any] = Future()
        threading.Thread(target=lambda: answer.set_result(self.inner.act(observation, memory))).start()
        return answer


def decided_together() -> dict[str, Any]:
    """Three episodes at a time in each of two actors, a policy of its own in each."""
    jobs, place = jobs_of(limit=30), Workplace("ray", 6, Cluster(actors=2))
    local = here(jobs)
    kinds: tuple[type[InBatches], ...] = (InBatches, AtAnyTime)
    return {kind.__name__: records(list(run_at(place, jobs, kind(), kind, {}))) == local for kind in kinds}


class DeadlyIn:
    """The oracle, which kills its process in one task."""

    name = "random"

    def __init__(self, task_id: str) -> None:
        self.task_id, self.other = task_id, make_agent("oracle")

    def brief(self, task: Any) -> Any:
        if task.id == self.task_id:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.other.brief(task)  # type: ignore[attr-defined]

    def act(self, observation: Observation, memory: Any) -> tuple[Any, Any]:
        return self.other.act(observation, memory)


def deadly() -> dict[str, Any]:
    """One job kills whoever plays it."""
    jobs = jobs_of(limit=40)
    task_id = jobs[20].task_id
    crew = crew_of(partial(DeadlyIn, task_id), concurrency=2)
    there = [one.episode for one in run_remote(jobs, crew, give_up)]
    return {
        "episodes": len(there),
        "given up": sorted({(one.task_id == task_id, one.decided_by) for one in there if not one.valid}),
        "invalid": sum(not one.valid for one in there),
    }


class Confused:
    name = "confused"

    def act(self, observation: Observation, memory: Any) -> tuple[Any, Any]:
        return {"tool": "pay"}, memory


def mistaken() -> dict[str, Any]:
    try:
        list(run_at(Workplace("ray", 2, Cluster(actors=2)), jobs_of(5), Confused(), Confused, {}))  # type: ignore[arg-type]
    except UsageError as error:
        return {"told": str(error)}
    return {}


def crowded() -> dict[str, Any]:
    try:
        crew_of(maker(), concurrency=9, actors=3)
    except UsageError as error:
        return {"told": str(error)}
    return {}


def main() -> None:
    ray.init(
        "local", num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100 * 2**20
    )
    runs = (killed, in_threads, decided_together, deadly, mistaken, crowded)
    found = {run.__name__: run() for run in runs}
    ray.shutdown()
    Path(sys.argv[1]).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
