"""Proofs that an instance of a hazard can be recovered from (paper 2, automatic recovery-path validation)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolenv.env import ToolEnv
from toolenv.hazards import Instance, exposure, get_kind
from toolenv.hazards.base import Subject, candidates
from toolenv.hazards.execution_failure import confusable_instances
from toolenv.hazards.manifest import ProvedInstance
from toolenv.hazards.witness import restored, stored
from toolenv.plan import Plan
from toolenv.policy import Policy
from toolenv.rollout import Rollout, rollout
from toolenv.source import TaskSource
from toolenv.suite import Suite
from toolenv.task import Task
from toolenv.trace import Trace
from toolenv.types import Action, Message, Observation

MOST_CANDIDATES = 24
"""Instances of one hazard that are tried on a task before it is given up."""


class Unsuitable(Exception):
    """A task that no hazard can be fitted to; its text is the reason."""


class Replay:
    """Plays recorded decisions, then closes with empty messages."""

    name = "witness"

    def __init__(self, actions: tuple[Action, ...]) -> None:
        self._actions = actions

    def act(self, observation: Observation, memory: Any) -> tuple[Action, int]:
        """The next decision; memory counts them."""
        at = memory or 0
        return (self._actions[at] if at < len(self._actions) else Message("")), at + 1


def subject_of(suite: Suite, task: Task, plan: Plan, naive: Policy) -> Subject:
    """What hazards are fitted to: a task, and how it is solved on the clean kernel by following ``plan``.

    ``naive`` follows the plan and does nothing else, so that its calls are the plan's.

    Raises:
        Unsuitable: following the plan does not solve it.
    """
    planned = with_plan(task, plan)
    solved = play(suite, planned, naive)
    if solved.episode.success is not True:
        raise Unsuitable("following the plan does not solve the clean task")
    return Subject(planned, plan, solved.trace.calls())


def with_plan(task: Task, plan: Plan) -> Task:
    """The task with a plan for scripted policies to follow."""
    return replace(task, metadata={**task.metadata, "plan": plan})


def prove(
    suite: Suite, subject: Subject, hazard: str, seed: int, recover: Sequence[Policy], naive: Policy
) -> ProvedInstance:
    """The first instance in the order of ``seed`` that both disrupts and can be recovered from (paper 2, §1).

    Args:
        suite, subject: the task and its clean solution.
        hazard: which of :func:`toolenv.hazards.kinds`.
        seed: orders the candidates.
        recover: reference recovery policies, which see what an agent sees, the least laborious first; one of
            them must succeed.
        naive: takes every result at its word and must fail.

    Raises:
        HazardMisfitError: the hazard does not fit the task.
        Unsuitable: there is no such instance.
    """
    harmless = lost = 0
    for instance in candidates(get_kind(hazard), subject, seed)[:MOST_CANDIDATES]:
        if play(suite, subject.task, naive, instance).episode.success is not False:
            harmless += 1
            continue
        for policy in recover:
            proved = try_instance(suite, subject, instance, policy)
            if proved is not None:
                return proved
        lost += 1
    raise Unsuitable(_failed(harmless, lost))


def prove_confusable(
    suite: Suite,
    subject: Subject,
    groups: Sequence[Sequence[str]],
    seed: int,
    recover: Sequence[Policy],
    naive: Policy,
) -> ProvedInstance:
    """A transient failure of indispensable tools: gone for good, they would make the task infeasible.

    Under the instance the task is recovered. Under its withdrawn twin, which looks the same for the first
    calls, nobody among ``recover`` succeeds.

    Args:
        suite, subject, seed, recover, naive: as for :func:`prove`.
        groups: see :func:`toolenv.suite.indispensable_tools`.

    Raises:
        Unsuitable: there is none.
    """
    for instance in confusable_instances(subject, groups, seed):
        twin = instance.withdrawn()
        if any(
            play(suite, subject.task, one, twin).episode.success is not False for one in (*recover, naive)
        ):
            continue
        if play(suite, subject.task, naive, instance).episode.success is False:
            for policy in recover:
                proved = try_instance(suite, subject, instance, policy)
                if proved is not None:
                    return proved
    raise Unsuitable("no failure of an indispensable tool could be told from its loss by recovering")


def _failed(harmless: int, lost: int) -> str:
    if not lost:
        return "no instance disrupts the solution"
    return (
        "no instance could be recovered from" if not harmless else "what disrupts could not be recovered from"
    )


def try_instance(
    suite: Suite, subject: Subject, instance: Instance, recover: Policy
) -> ProvedInstance | None:
    """The proof for one instance, if the policy recovers from it and the hazard really struck."""
    recovered = play(suite, subject.task, recover, instance)
    if recovered.episode.success is not True or not exposure(recovered.trace).seen:
        return None
    solution = subject.task.reference.solution()
    witness = stored(list(_decisions(recovered.trace)), solution)
    replayed = play(suite, subject.task, Replay(restored(witness, solution)), instance)
    if replayed.episode.success is not True or _results(replayed.trace) != _results(recovered.trace):
        return None
    return ProvedInstance(instance, witness, recovered.episode.calls - len(subject.calls))


def play(suite: Suite, task: Task, policy: Policy, instance: Instance | None = None) -> Rollout:
    """One episode of a task with seed 0, clean or under an instance of a hazard."""
    armed: Mapping[str, Instance] = {} if instance is None else {task.id: instance}
    condition = "clean" if instance is None else instance.hazard
    source = TaskSource(suite, condition, {task.id: task}, {}, 0.0, suite.max_turns, hazards=armed)
    return rollout(ToolEnv(source), policy, seed=0, task_id=task.id)


def _decisions(trace: Trace) -> Iterator[Action]:
    return (step.action for step in trace.steps)


def _results(trace: Trace) -> list[tuple[str, ...]]:
    return [tuple(result.content for result in step.results) for step in trace.steps]
