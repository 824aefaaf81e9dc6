"""Tasks as a corrections file leaves them (FIELD-094)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from toolenv.corrections import Correction, Corrections
from toolenv.feasibility.reference_masks import ReferenceFacts, reference_facts
from toolenv.feasibility.replaying import Script
from toolenv.suite import Suite
from toolenv.task import Task


def corrected_tasks(
    suite: Suite, tasks: Iterable[Task], corrections: Corrections, correct: Callable[[Task, Correction], Task]
) -> tuple[Task, ...]:
    """The tasks without those that are left out; the others that are named with their corrected answer.

    A corrected task is flagged ``corrected``, and what is to be said of its new answer is found by replaying
    it, as for masks. Where that uses other tools than the data set's own answer, it is flagged
    ``corrected_tools``: the masks that were made for that do not fit it.

    Args:
        suite: answers the replays; without a simulated user.
        tasks: as the data set has them.
        corrections: what is to be done.
        correct: makes a task with its corrected answer.
    """
    return tuple(
        _corrected(suite, task, corrections.by_task[task.id], correct)
        if task.id in corrections.by_task
        else task
        for task in corrections.kept(tasks)
    )


def _corrected(
    suite: Suite, shipped: Task, correction: Correction, correct: Callable[[Task, Correction], Task]
) -> Task:
    task = correct(shipped, correction)
    before, after = _facts(suite, shipped), _facts(suite, task)
    flags = {"corrected", *after.flags}
    if before.mask != after.mask:
        flags.add("corrected_tools")
    return replace(task, flags=frozenset(flags))


def _facts(suite: Suite, task: Task) -> ReferenceFacts:
    return reference_facts(suite, task, Script(task.reference.solution()))
