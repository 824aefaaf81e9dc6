"""How fast tasks of the Workflows suite are generated and validated, on one core.

Validated means: everything :mod:`envs_registry.workflows.checks` looks at (wording, schemas, a replay of the
reference calls, leakage, what the remaining tools tell), and in the environment that the oracle succeeds and
that doing nothing does not. Processor time is measured, so that other work on the machine does not count.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence

from envs_registry.workflows import SUITE
from envs_registry.workflows.checks import problems
from envs_registry.workflows.generate import generate
from envs_registry.workflows.identifiers import TaskNumber
from toolenv.agents.constant import say_nothing
from toolenv.agents.oracle import Oracle
from toolenv.env import ToolEnv
from toolenv.rollout import rollout
from toolenv.source import TaskSource
from toolenv.task import Task

SEED = 99
"""Of no subset, so that nothing has been generated before."""

TASKS = 1008
"""Each workflow of each subtopic four times."""

MAKE = """
import time, toolenv, gymnasium
start = time.perf_counter()
gymnasium.make("ToolFeas/Workflows-clean-v0", disable_env_checker=True)
print(time.perf_counter() - start)
"""


def tasks_per_second(work: Callable[[], int]) -> float:
    """Tasks per second of processor time."""
    start = time.process_time()
    count = work()
    return count / (time.process_time() - start)


def generated(first: int) -> list[Task]:
    """Fresh tasks."""
    return [generate(TaskNumber(SEED, first + offset)) for offset in range(TASKS)]


def validated(tasks: Sequence[Task]) -> int:
    """Validate tasks in every way; their number.

    Raises:
        AssertionError: one is not sound.
    """
    env = ToolEnv(TaskSource(SUITE, "clean", {task.id: task for task in tasks}, {}, 0.0, SUITE.max_turns))
    idle, oracle = say_nothing("noop"), Oracle()
    for task in tasks:
        assert not problems(task), task.id
        assert rollout(env, oracle, seed=0, task_id=task.id).episode.success is True, task.id
        assert rollout(env, idle, seed=0, task_id=task.id).episode.success is False, task.id
    return len(tasks)


def make_seconds() -> float:
    """Wall seconds of the first ``gymnasium.make`` in a fresh interpreter: the whole frozen set."""
    command = [sys.executable, "-c", MAKE]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _rates(run: int) -> dict[str, float]:
    """What one run measures, on tasks of its own."""
    tasks: list[Task] = []

    def make() -> int:
        tasks.extend(generated(2 * run * TASKS))
        return len(tasks)

    return {
        "generated": tasks_per_second(make),
        "validated": tasks_per_second(lambda: validated(tasks)),
        "generated and validated": tasks_per_second(lambda: validated(generated((2 * run + 1) * TASKS))),
    }


def measure(report: Callable[[str], None] = print, repeats: int = 3) -> dict[str, float]:
    """The best of several runs."""
    validated(generated(0))  # derive all tools and compile all schemas
    runs = [_rates(run) for run in range(1, repeats + 1)]
    found = {name: max(rates[name] for rates in runs) for name in runs[0]}
    for name, rate in found.items():
        report(f"{name}: {rate:,.0f} tasks/s")
    found["make"] = min(make_seconds() for _ in range(repeats))
    report(f"first make of the frozen set: {found['make']:.2f} s")
    return found


if __name__ == "__main__":
    measure()
