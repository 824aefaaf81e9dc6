"""What a hazard costs: the time of a step in perturbed episodes against clean ones, on the Workflows suite.

Both kinds of episode play the recovery witness of an instance, so that they take the same decisions; on the
clean kernel some of its calls (a renamed parameter, say) are merely refused. A step costs at most
:data:`ALLOWED` times a clean one. Beside it: how fast instances are proved and validated. Processor time is
measured, so that other work on the machine does not count.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import gymnasium

import envs_registry
from envs_registry.workflows import Workflows
from toolenv.agents.registry import make_agent
from toolenv.env import ToolEnv
from toolenv.hazards import kinds
from toolenv.hazards.manifest import as_shipped
from toolenv.recoverability.building import Policies, arm_tasks
from toolenv.recoverability.proving import play
from toolenv.source import TaskSource, make_source
from toolenv.types import Action
from toolenv.wrappers import RecordReward, RecordTokens, RecordTrace

SUITE = "Workflows"
ALLOWED = 1.3
TASKS = 60
ROUNDS = 14
KINDS = ("perturbed", "clean")


def wrapped(source: TaskSource) -> gymnasium.Env[Any, Any]:
    """An environment with the wrappers that ``gymnasium.make`` puts on."""
    return RecordReward(RecordTokens(RecordTrace(ToolEnv(source))))


def seconds(env: gymnasium.Env[Any, Any], task_id: str, actions: Sequence[Action]) -> float:
    """How long the steps of one script take together."""
    env.reset(seed=0, options={"task_id": task_id})
    start = time.process_time()
    for action in actions:
        *_, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            break
    return time.process_time() - start


def sources(hazard: str) -> tuple[TaskSource, TaskSource]:
    """Some tasks of the suite, perturbed and clean; all new each time, so that nothing is remembered."""
    suite = envs_registry.get_suite(SUITE)
    every = make_source(suite, hazard)
    ids = every.task_ids[:: max(1, len(every.task_ids) // TASKS)]
    tasks = {task_id: every.get(task_id) for task_id in ids}
    armed = {task_id: replace(every.hazards[task_id]) for task_id in ids}
    clean = {task_id: as_shipped(task) for task_id, task in tasks.items()}
    return (
        TaskSource(suite, hazard, tasks, {}, 0.0, every.max_turns, hazards=armed),
        TaskSource(suite, "clean", clean, {}, 0.0, every.max_turns),
    )


class Ratios(NamedTuple):
    """The time of a perturbed step by that of a clean one.

    Attributes:
        first: where each result is met for the first time in the process.
        again: where the same episodes were played before, as in training.
    """

    first: float
    again: float


def step_ratios(hazard: str) -> Ratios:
    """The best time of each script in several rounds, all of them together.

    Which kind goes first changes from round to round, for the second finds the processor's caches warm.
    """
    source, _ = sources(hazard)
    scripts = {task_id: source.get(task_id).reference.solution() for task_id in source.task_ids}
    best: dict[tuple[str, int], dict[str, float]] = {}
    for number in range(ROUNDS):
        envs = dict(zip(KINDS, map(wrapped, sources(hazard)), strict=True))
        for task_id, actions in scripts.items():
            for kind in KINDS[:: -1 if number % 2 else 1]:
                for time_played in range(2):
                    taken = seconds(envs[kind], task_id, actions)
                    known = best.setdefault((kind, time_played), {})
                    known[task_id] = min(taken, known.get(task_id, taken))
    total = {key: sum(taken.values()) for key, taken in best.items()}
    return Ratios(*(total["perturbed", played] / total["clean", played] for played in range(2)))


def armed_per_second(hazards: Sequence[str] | None = None) -> float:
    """Tasks per second that are armed, each instance proved: the clean path, the naive one, the recovery."""
    suite = envs_registry.get_suite(SUITE)
    tasks = suite.tasks(suite.default_subset)[::10]
    recover = (make_agent("recovery:trusting"), make_agent("recovery"))
    policies = Policies(make_agent("oracle"), make_agent("recovery:naive"), recover)
    start = time.process_time()
    count = sum(1 for _ in arm_tasks(suite, tasks, policies, hazards=hazards))
    return count / (time.process_time() - start)


def validated_per_second() -> float:
    """Tasks per second that are generated anew and validated: the clean path, and the witness of a hazard."""
    suite = envs_registry.get_suite(SUITE)
    assert isinstance(suite, Workflows)
    every, oracle = make_source(suite, "hazard"), make_agent("oracle")
    ids = every.task_ids[::5]
    start = time.process_time()
    for task_id in ids:
        task = suite.variant(task_id, 0)
        assert play(suite, task, oracle).episode.success is True
        witness = replace(every.get(task_id).reference, truth=task.reference)  # type: ignore[type-var]
        armed = replace(task, reference=witness)
        assert play(suite, armed, oracle, every.hazards[task_id]).episode.success is True
    return len(ids) / (time.process_time() - start)


def measure(report: Callable[[str], None] = print) -> dict[str, float]:
    """Measure and report; step ratios by hazard."""
    found = {hazard: step_ratios(hazard) for hazard in kinds()}
    for hazard, (first, again) in found.items():
        report(f"{hazard}: a step costs {again:.2f} × a clean one, {first:.2f} × when first met")
    report(f"generated and validated, a witness included: {validated_per_second():,.0f} tasks/s")
    report(f"armed and proved, one hazard a task: {armed_per_second(['output-drift']):,.0f} tasks/s")
    report(f"armed and proved, all five: {armed_per_second():,.0f} tasks/s")
    return {hazard: ratios.again for hazard, ratios in found.items()}


if __name__ == "__main__":
    measure()
