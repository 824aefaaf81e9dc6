"""Which tasks a caller asks for, by their ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TypeAlias

from toolenv.errors import UnknownNameError, UsageError
from toolenv.feasibility.manifest import MaskManifest
from toolenv.masks import left_out
from toolenv.suite import Suite, corrections_of
from toolenv.task import Task

MOST_NAMED = 20_000
"""Task ids among which the nearest to an unknown one is looked for."""

TaskIds: TypeAlias = str | Iterable[str] | None
"""Ids to keep: a list, or one string with commas; ``None`` keeps all."""


def wanted_ids(tasks: TaskIds, clean: Mapping[str, Task], suite: Suite) -> list[str] | None:
    """The ids asked for, each once; ``None`` for all.

    Raises:
        UsageError: no list of ids, none is named, or one that is not there; the nearest, or why it is left
            out, is told.
    """
    if tasks is None:
        return None
    if isinstance(tasks, str):
        listed = [one.strip() for one in tasks.split(",")]
    else:
        listed = list(tasks) if isinstance(tasks, Iterable) else [tasks]
    if not all(isinstance(one, str) for one in listed):
        raise UsageError(f"tasks={tasks!r}: give ids in a list, or in one string with commas")
    wanted = list(dict.fromkeys(one for one in listed if one))
    if not wanted:
        raise UsageError(f"tasks={tasks!r} names no task")
    corrections = corrections_of(suite)
    for task_id in wanted:
        if corrections and corrections.excludes(task_id):
            raise UsageError(f"task {task_id!r}: {left_out(corrections, task_id)}")
        if task_id not in clean:
            named = islice(clean, MOST_NAMED)
            raise UnknownNameError("task id", task_id, named, where=f"suite {suite.name}")
    return wanted


def check_masked(
    wanted: Iterable[str], masked: Mapping[str, Task], manifest: MaskManifest, where: str
) -> None:
    """Refuse a task that has no infeasible form.

    Args:
        wanted: ids.
        masked: the tasks that have one.
        manifest: says why others have none.
        where: the environment, for the error.

    Raises:
        UsageError: with the manifest's reason.
    """
    for task_id in wanted:
        if task_id not in masked:
            reason = manifest.excluded.get(task_id, "it has no mask")
            raise UsageError(f"task {task_id!r} is not in {where}: {reason}")
