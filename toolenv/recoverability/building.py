"""Hazard manifests of a suite: every fitting hazard of every task, armed, proved, and counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from toolenv.hazards import kinds
from toolenv.hazards.base import HazardMisfitError, Subject
from toolenv.hazards.manifest import HazardManifest, ProvedInstance
from toolenv.plan import Plan, plan_in
from toolenv.policy import Policy
from toolenv.recoverability.derived import derived_plan
from toolenv.recoverability.proving import Unsuitable, play, prove, prove_confusable, subject_of
from toolenv.seeding import mix
from toolenv.suite import Suite, indispensable_tools
from toolenv.task import Task

ANY = "hazard"
"""The condition with one fitting hazard a task."""

CONFUSABLE = "confusable"
"""The condition whose tasks are recoverable or infeasible, and look alike for the first calls."""

FEWEST_TASKS = 20
"""A condition with fewer tasks gets no id."""


class Policies(NamedTuple):
    """The scripted policies that fit hazards and prove them.

    Attributes:
        oracle: plays reference solutions; asked where a task carries no plan.
        naive: follows a plan and takes every result at its word; an instance it is not misled by is no
        hazard.
        recover: the reference recovery policies, the least laborious first.
    """

    oracle: Policy
    naive: Policy
    recover: tuple[Policy, ...]


@dataclass
class Armed:
    """What became of one task.

    Attributes:
        task_id: the task.
        proved: the instances, one per seed, by hazard.
        reasons: why there is none, by hazard.
    """

    task_id: str
    proved: dict[str, tuple[ProvedInstance, ...]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    def chosen(self) -> str:
        """The hazard of the condition :data:`ANY`: one of those proved, drawn by the task's id; or none."""
        names = sorted(self.proved.keys() & kinds().keys())
        if not names:
            return ""
        return names[mix("hazard of a task", self.task_id) % len(names)]


def arm_tasks(
    suite: Suite,
    tasks: Iterable[Task],
    policies: Policies,
    seeds: Sequence[int] = (0,),
    hazards: Sequence[str] | None = None,
) -> Iterator[Armed]:
    """Arm every hazard on every task, one task at a time.

    Args:
        suite, tasks: the tasks, clean.
        policies: who proves.
        seeds: each gives an instance of its own, if all of them can be proved.
        hazards: which of :func:`toolenv.hazards.kinds`, and :data:`CONFUSABLE`; ``None`` is all.
    """
    for task in tasks:
        yield _armed(suite, task, policies, seeds, [*kinds(), CONFUSABLE] if hazards is None else hazards)


def _armed(
    suite: Suite, task: Task, policies: Policies, seeds: Sequence[int], hazards: Sequence[str]
) -> Armed:
    armed = Armed(task.id)
    try:
        subject = subject_of(suite, task, plan_of(suite, task, policies.oracle), policies.naive)
    except Unsuitable as reason:
        armed.reasons = dict.fromkeys(hazards, str(reason))
        return armed
    for hazard in hazards:
        try:
            armed.proved[hazard] = tuple(_prove(suite, subject, hazard, seed, policies) for seed in seeds)
        except HazardMisfitError as misfit:
            armed.reasons[hazard] = misfit.reason
        except Unsuitable as reason:
            armed.reasons[hazard] = str(reason)
    return armed


def _prove(suite: Suite, subject: Subject, hazard: str, seed: int, policies: Policies) -> ProvedInstance:
    if hazard != CONFUSABLE:
        return prove(suite, subject, hazard, seed, policies.recover, policies.naive)
    groups = indispensable_tools(suite, subject.task)
    if not groups:
        raise Unsuitable("no tool is known to be indispensable for it")
    return prove_confusable(suite, subject, groups, seed, policies.recover, policies.naive)


def plan_of(suite: Suite, task: Task, oracle: Policy) -> Plan:
    """The plan a task carries, else the one behind its reference solution.

    Raises:
        Unsuitable: there is none.
    """
    carried = plan_in(task.metadata)
    if carried is not None:
        return carried
    if task.label == "infeasible" or not task.reference.solution():
        raise Unsuitable("there is no solution to recover")
    solved = play(suite, task, oracle)
    if solved.episode.success is not True:
        raise Unsuitable("the reference solution is not judged successful")
    if not solved.trace.calls():
        raise Unsuitable("the solution calls no tool")
    return derived_plan(task, solved.trace)


def manifests(
    suite: Suite,
    data: str,
    provenance: str,
    armed: Iterable[Armed],
    fewest: int = FEWEST_TASKS,
    *,
    with_any: bool = True,
) -> dict[str, HazardManifest]:
    """The manifests of a suite by condition.

    Args:
        suite: the suite.
        data: names the version of its data.
        provenance: how instances were made.
        armed: what became of its tasks.
        fewest: those with fewer tasks are left out.
        with_any: whether all hazards were tried, so that the condition :data:`ANY` can be made of them.
    """
    every = list(armed)
    found = {name: _manifest(suite, data, provenance, name, every) for name in sorted(_tried(every))}
    if with_any:
        found[ANY] = _any_of(suite, data, provenance, every)
    return {name: manifest for name, manifest in found.items() if len(manifest.tasks) >= fewest}


def _any_of(suite: Suite, data: str, provenance: str, every: Sequence[Armed]) -> HazardManifest:
    return HazardManifest(
        suite.name,
        ANY,
        data,
        provenance,
        {one.task_id: one.proved[one.chosen()] for one in every if one.chosen()},
        {one.task_id: "no hazard was proved for it" for one in every if not one.chosen()},
    )


def _tried(armed: Iterable[Armed]) -> set[str]:
    return {hazard for one in armed for hazard in (*one.proved, *one.reasons)}


def _manifest(
    suite: Suite, data: str, provenance: str, hazard: str, armed: Iterable[Armed]
) -> HazardManifest:
    tasks, excluded = {}, {}
    for one in armed:
        if hazard in one.proved:
            tasks[one.task_id] = one.proved[hazard]
        else:
            excluded[one.task_id] = one.reasons[hazard]
    return HazardManifest(suite.name, hazard, data, provenance, tasks, excluded)
