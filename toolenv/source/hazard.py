"""The tasks of a hazard condition: those with a proved instance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from toolenv.errors import DataCorruptError, UsageError
from toolenv.hashed_json import given_path
from toolenv.hazards.base import Instance
from toolenv.hazards.checks import check_fit
from toolenv.hazards.manifest import HazardManifest
from toolenv.masks import check_ids, data_of
from toolenv.source.conditions import DRAWN
from toolenv.source.task_source import TaskSource
from toolenv.suite import OWN_MODE, BringsHazards, Suite, hazard_manifests
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
        DataCorruptError: the manifest is of another suite or condition, or of a task, tool or parameter that
            is not there.
    """
    found, where = _checked(suite, condition, clean, manifest)
    proved = found.choose(_uncorrected(clean, wanted, f"{suite.name}-{condition}"), wanted, seed)
    for task_id, one in proved.items():
        _check_own(one.instance, suite, where)
        check_fit(one.instance, clean[task_id], where)
    feasible = {task_id: one.recoverable(clean[task_id]) for task_id, one in proved.items()}
    lost = _infeasible(feasible) if condition in DRAWN else {}
    hazards = {task_id: one.instance for task_id, one in proved.items()}
    return TaskSource(suite, condition, feasible, lost, prior, max_turns, found.hash, hazards=hazards)


def _checked(
    suite: Suite, condition: str, clean: Mapping[str, Task], manifest: str | Path | None
) -> tuple[HazardManifest, str]:
    """The manifest, found to be of this suite, condition and data and of these tasks; what errors call it."""
    found, where = _found(suite, condition, manifest)
    found.check(suite.name, condition, where)
    if manifest is not None:
        _check_data(found, suite, where)
    check_ids((*found.tasks, *found.excluded), clean, suite, where)
    return found, where


def _infeasible(tasks: Mapping[str, Task]) -> dict[str, Task]:
    return {task_id: replace(task, label="infeasible") for task_id, task in tasks.items()}


def _uncorrected(clean: Mapping[str, Task], wanted: Sequence[str] | None, where: str) -> list[str]:
    """The tasks that may be armed: no instance is proved for a corrected answer."""
    uncorrected = [task_id for task_id, task in clean.items() if "corrected" not in task.flags]
    for task_id in wanted or ():
        if task_id not in uncorrected:
            raise UsageError(f"task {task_id!r} is not in {where}: its answer is corrected")
    return uncorrected


def _check_data(found: HazardManifest, suite: Suite, where: str) -> None:
    """Refuse hazards proved on other data: its tasks of the same ids may be other tasks."""
    own = data_of(suite, suite.default_subset)
    if own is not None and found.data != own:
        raise DataCorruptError(
            f"{where}: hazards proved on data {found.data!r}; {suite.name} here has {own!r}"
        )


def _check_own(instance: Instance, suite: Suite, where: str) -> None:
    """Refuse perturbed tools that the data set does not have."""
    if instance.mode != OWN_MODE:
        return
    if not isinstance(suite, BringsHazards) or not _is_brought(instance, suite):
        raise DataCorruptError(
            f"{where}: task {instance.task_id!r} has no tools of {suite.name}'s own perturbed by "
            f"{instance.hazard}, as mode {OWN_MODE!r} needs"
        )


def _is_brought(instance: Instance, suite: BringsHazards) -> bool:
    known = instance.hazard in suite.own_hazards
    return known and instance.task_id in suite.hazard_manifest(instance.hazard).tasks


def _found(suite: Suite, condition: str, manifest: str | Path | None) -> tuple[HazardManifest, str]:
    """The manifest, and what errors call it."""
    if manifest is None and isinstance(suite, BringsHazards):
        return suite.hazard_manifest(condition), f"hazard manifest of {suite.name}-{condition}"
    path = hazard_manifests(suite)[condition] if manifest is None else given_path("hazards", manifest)
    return _manifest(path), str(path)


def _manifest(path: Path) -> HazardManifest:
    """The manifest in a file; read again only if it has changed: one source is made per environment."""
    if not path.is_file():
        return HazardManifest.read(path)
    state = path.stat()
    return _read(path.absolute(), state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=64)
def _read(path: Path, changed: int, size: int) -> HazardManifest:
    return HazardManifest.read(path)
