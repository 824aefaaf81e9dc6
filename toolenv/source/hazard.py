"""The tasks of a hazard condition: those with a proved instance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from toolenv.errors import DataCorruptError, UnknownNameError, UsageError
from toolenv.hazards.manifest import HazardManifest, ProvedInstance
from toolenv.source.conditions import DRAWN
from toolenv.source.task_source import TaskSource
from toolenv.suite import BringsHazards, Suite, hazard_manifests
from toolenv.task import Task


def hazard_source(
    suite: Suite,
    condition: str,
    clean: Mapping[str, Task],
    wanted: Sequence[str] | None,
    prior: float,
    max_turns: int,
    manifest: str | Path | None = None,
    seed: int | None = None,
) -> TaskSource:
    """The tasks with a proved instance of a hazard, each with its witness as solution.

    Args:
        suite, condition: what the id names.
        clean: the subset's tasks.
        wanted: those to keep; ``None`` keeps all that have an instance.
        prior, max_turns: see :class:`toolenv.source.TaskSource`.
        manifest: a hazard manifest to use instead of the suite's own.
        seed: which of a task's instances is armed; ``None`` is the first.

    Raises:
        UsageError: a task that is wanted has no instance; the message says why.
        DataCorruptError: the manifest is of another suite or condition, or of a tool that a task lacks.
    """
    found = _found(suite, condition, manifest)
    found.check(suite.name, condition)
    # An instance is proved for one answer: it says nothing of a corrected one.
    uncorrected = [task_id for task_id, task in clean.items() if "corrected" not in task.flags]
    for task_id in wanted or ():
        if task_id not in uncorrected:
            raise UsageError(f"task {task_id!r} is not in {suite.name}-{condition}: its answer is corrected")
    proved = found.choose(uncorrected, wanted, seed)
    for task_id, one in proved.items():
        _check_tool(clean[task_id], one, f"{suite.name}-{condition}")
    feasible = {task_id: one.recoverable(clean[task_id]) for task_id, one in proved.items()}
    lost = {task_id: replace(task, label="infeasible") for task_id, task in feasible.items()}
    return TaskSource(
        suite,
        condition,
        feasible,
        lost if condition in DRAWN else {},
        prior,
        max_turns,
        found.hash,
        hazards={task_id: one.instance for task_id, one in proved.items()},
    )


def _check_tool(task: Task, proved: ProvedInstance, where: str) -> None:
    """Refuse a hazard on a tool that the task does not have: it would never fire."""
    names = {tool.name for tool in task.tools}
    if proved.instance.tool not in names:
        unknown = UnknownNameError("tool", proved.instance.tool, names, where=f"task {task.id!r}")
        raise DataCorruptError(f"hazard manifest of {where}: {unknown}")


def _found(suite: Suite, condition: str, manifest: str | Path | None) -> HazardManifest:
    if manifest is None and isinstance(suite, BringsHazards):
        return suite.hazard_manifest(condition)
    return _manifest(hazard_manifests(suite)[condition] if manifest is None else Path(manifest))


def _manifest(path: Path) -> HazardManifest:
    """The manifest in a file; read again only if it has changed: one source is made per environment."""
    if not path.is_file():
        return HazardManifest.read(path)
    state = path.stat()
    return _read(path.absolute(), state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=64)
def _read(path: Path, changed: int, size: int) -> HazardManifest:
    return HazardManifest.read(path)
