"""Runs of the toy suite: ids, policies and stores for the tests of running and keeping."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium

from tests.support.toy import toy_source
from toolenv import Message, Observation, Policy, Rollout, ToolCall, ToolCalls, ToolEnv, Usage
from toolenv.runner.local import run_jobs
from toolenv.runner.plan import Job, RunConfig, plan
from toolenv.runner.store import RunStore, make_header

IDS = {condition: f"Toy/Bank-{condition}-v0" for condition in ("clean", "infeasible", "mixed")}
CLEAN, INFEASIBLE, MIXED = IDS.values()


@contextmanager
def toy_ids() -> Iterator[None]:
    """The toy suite's ids in gymnasium's registry, where they are not there already."""
    added = {condition: name for condition, name in IDS.items() if name not in gymnasium.registry}
    for condition, name in added.items():
        gymnasium.register(name, entry_point=f"{__name__}:make_toy", kwargs={"condition": condition})
    try:
        yield
    finally:
        for name in added.values():
            del gymnasium.registry[name]


def make_toy(condition: str, render_mode: str | None = None, **keywords: Any) -> ToolEnv:
    return ToolEnv(toy_source(condition, **keywords), render_mode=render_mode)


class Payer:
    """Pays 7 from A1, then says so; each decision costs 10 + 3 tokens."""

    name = "payer"

    def act(self, observation: Observation, memory: Any) -> tuple[Any, Any]:
        usage = Usage(10, 3)
        if observation.messages[-1].role == "tool":
            return Message("Paid.", usage=usage), memory
        return ToolCalls((ToolCall("pay", {"account": "A1", "amount": 7}),), usage=usage), memory


def ten_episodes(**changes: Any) -> RunConfig:
    """Two tasks, five times each."""
    settings: dict[str, Any] = {"envs": (CLEAN,), "agent": "payer", "tasks": ("pay-7", "pay-30"), "trials": 5}
    return RunConfig(**{**settings, **changes})


def header_of(config: RunConfig, policy: object = None) -> dict[str, Any]:
    jobs, manifests = plan(config)
    return make_header(config, policy or Payer(), manifests, {CLEAN: len(jobs)})


def open_store(folder: Path, config: RunConfig, *, resume: bool = False, policy: object = None) -> RunStore:
    return RunStore(folder, header_of(config, policy), resume=resume)


def play(config: RunConfig, policy: Policy | None = None, concurrency: int = 1) -> list[Rollout]:
    """Every episode of a run, in the order of its plan."""
    jobs, _ = plan(config)
    episodes = run_jobs(jobs, policy or Payer(), config.make_options, concurrency)
    order: Mapping[Any, int] = {job.key: number for number, job in enumerate(jobs)}
    return sorted(episodes, key=lambda one: order[one.episode.key])


def plain(rollouts: Iterable[Rollout]) -> list[Any]:
    """The whole records; rollouts themselves are compared without usage and raw output."""
    return [(one.episode.to_json(), one.trace.to_json()) for one in rollouts]


def go_on(
    folder: Path, config: RunConfig, *, resume: bool = True, stop_after: int | None = None
) -> list[Job]:
    """Run what is missing, or so many of it, into the folder, and return what was run."""
    jobs, _ = plan(config)
    with open_store(folder, config, resume=resume) as store:
        todo = [job for job in jobs if job.key not in store.done][:stop_after]
        for rollout in run_jobs(todo, Payer(), config.make_options):
            store.append(rollout)
    return todo
