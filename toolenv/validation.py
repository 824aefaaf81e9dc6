"""Is an environment what it claims to be? Solvable where it says so, and silent about the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from toolenv.env import ToolEnv
from toolenv.kernel.protocol import Slot
from toolenv.policy import Policy
from toolenv.rollout import rollout
from toolenv.source import TaskSource
from toolenv.task import Task
from toolenv.types import Observation, ToolCall, ToolCalls

UNKNOWN_NAME = "a_tool_that_never_was"


@dataclass(frozen=True, slots=True)
class Finding:
    """One way in which a task is not what it claims to be.

    Attributes:
        task_id: the task.
        check: ``oracle``, ``do-nothing`` or ``leak``.
        problem: what was found.
    """

    task_id: str
    check: str
    problem: str


@dataclass(frozen=True, slots=True)
class Validation:
    """What a validation looked at, and what it found.

    Attributes:
        tasks: how many tasks were checked.
        flagged: how many carry each flag; flagged tasks may fail the check their flag is about.
        findings: empty if the environment is sound.
    """

    tasks: int
    flagged: Counter[str]
    findings: tuple[Finding, ...]


def validate_source(source: TaskSource, oracle: Policy, noop: Policy) -> Iterator[tuple[Task, list[Finding]]]:
    """Check every task of a source, one at a time.

    Args:
        source: the tasks and their kernels.
        oracle: plays reference solutions, and stops where a task is infeasible.
        noop: does nothing.
    """
    env = ToolEnv(source)
    for task_id in source.task_ids:
        seed = 0
        task = source.get(task_id, seed)
        problems = [
            *_check_oracle(env, oracle, task, seed),
            *_check_noop(env, noop, task, seed),
            *_check_leaks(env, source, task, seed),
        ]
        yield task, problems


def _check_oracle(env: ToolEnv, oracle: Policy, task: Task, seed: int) -> Iterator[Finding]:
    """The reference solution is right: it succeeds where the task is feasible and stops where it is not."""
    if task.flags & {"can_never_pass", "no_reference"}:
        return
    episode = rollout(env, oracle, seed=seed, task_id=task.id).episode
    right = episode.decision == "infeasible" if task.label == "infeasible" else episode.success is True
    if not episode.valid or not right:
        yield Finding(
            task.id, "oracle", episode.error or f"decided by {episode.decided_by}, success {episode.success}"
        )


def _check_noop(env: ToolEnv, noop: Policy, task: Task, seed: int) -> Iterator[Finding]:
    """Doing nothing is no success, unless the task is flagged for it."""
    if task.label == "infeasible" or "do_nothing_passes" in task.flags:
        return
    if rollout(env, noop, seed=seed, task_id=task.id).episode.success:
        yield Finding(task.id, "do-nothing", "an agent that does nothing succeeds, and no flag says so")


def _check_leaks(env: ToolEnv, source: TaskSource, task: Task, seed: int) -> Iterator[Finding]:
    """Nothing an agent is shown depends on the label, but for the tools that are gone."""
    observation, info = env.reset(seed=seed, options={"task_id": task.id})
    if info:
        yield Finding(task.id, "leak", f"reset() tells {sorted(info)}")
    expected = Observation(task.messages, task.offered(), source.max_turns)
    if observation != expected:
        yield Finding(
            task.id, "leak", "the first observation is not the task's messages and the tools offered"
        )
    yield from _check_step_info(env, task)
    if task.mask:
        yield from _check_masked_answers(source, task, seed)


def _check_step_info(env: ToolEnv, task: Task) -> Iterator[Finding]:
    if env.source.max_turns > 1:
        *_, info = env.step(ToolCalls((ToolCall(UNKNOWN_NAME),)))
        if info:
            yield Finding(task.id, "leak", f"step() tells {sorted(info)}")


def _check_masked_answers(source: TaskSource, task: Task, seed: int) -> Iterator[Finding]:
    """A masked tool answers as one that never was."""
    kernel = source.kernel(task)
    world = kernel.start(seed)
    never = kernel.call(world, ToolCall(UNKNOWN_NAME), Slot(0)).content
    offered = {alias for tool in kernel.tools() for alias in (tool.name, tool.wire_name)}
    for name in sorted(task.mask):
        if name in offered:
            yield Finding(task.id, "leak", f"the masked tool {name!r} is offered")
        answer = kernel.call(world, ToolCall(name), Slot(0))
        if answer.content != never.replace(UNKNOWN_NAME, name) or answer.kind != "masked_tool":
            yield Finding(task.id, "leak", f"the masked tool {name!r} answers: {answer.content[:200]}")


def summarise(results: Iterator[tuple[Task, list[Finding]]]) -> Validation:
    """Collect what :func:`validate_source` yields."""
    tasks, flagged, findings = 0, Counter[str](), list[Finding]()
    for task, problems in results:
        tasks += 1
        flagged.update(task.flags)
        findings += problems
    return Validation(tasks, flagged, tuple(findings))
