"""Which tasks of a subset an environment leaves out, and why: a result is of the others alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolenv.feasibility.manifest import MaskManifest
from toolenv.hazards.manifest import HazardManifest
from toolenv.masks import manifest_for
from toolenv.source import CONDITIONS, TaskSource
from toolenv.suite import Generated, Suite, hazard_manifests
from toolenv.task import Task

NO_FORM = "infeasible as the data set ships it, so that it has no feasible form"
CORRECTED = "its answer is corrected"
NO_MASK = "it has no mask"
NOT_PROVED = "no instance was proved for it"


@dataclass(frozen=True, slots=True)
class Exclusions:
    """What an environment leaves out.

    Attributes:
        tasks: how many tasks the subset has, without those that corrections exclude.
        excluded: the ids left out by reason, in the suite's order.
    """

    tasks: int
    excluded: Mapping[str, tuple[str, ...]]

    @property
    def counts(self) -> dict[str, int]:
        """How many are left out for each reason."""
        return {reason: len(ids) for reason, ids in self.excluded.items()}


def exclusions(source: TaskSource, options: Mapping[str, Any]) -> Exclusions:
    """What a source of all tasks of a subset leaves out.

    Args:
        source: made without ``tasks``.
        options: the keywords of ``gymnasium.make`` it was made with.

    Raises:
        DataError: a manifest that cannot be read.
    """
    suite, condition = source.suite, source.condition
    subset = options.get("subset") or suite.default_subset
    if isinstance(suite, Generated) and subset in suite.on_demand:  # made to be played, so none is left out
        return Exclusions(len(source.task_ids), {})
    tasks, kept = suite.tasks(subset), frozenset(source.task_ids)
    absent = [task for task in tasks if task.id not in kept]
    if not absent:
        return Exclusions(len(tasks), {})
    found: dict[str, list[str]] = {}
    if condition in CONDITIONS:
        masks = manifest_for(suite, subset, options.get("masks"))
        reasons = {task.id: _without_mask(task, masks) for task in absent}
    else:
        hazards = _hazards(suite, condition, options.get("hazards"))
        reasons = {task.id: _without_hazard(task, hazards) for task in absent}
    for task_id, reason in reasons.items():
        found.setdefault(reason, []).append(task_id)
    return Exclusions(len(tasks), {reason: tuple(ids) for reason, ids in found.items()})


def _without_mask(task: Task, manifest: MaskManifest) -> str:
    return NO_FORM if task.label == "infeasible" else manifest.excluded.get(task.id, NO_MASK)


def _hazards(suite: Suite, condition: str, path: str | Path | None) -> HazardManifest:
    return HazardManifest.read(hazard_manifests(suite)[condition] if path is None else Path(path))


def _without_hazard(task: Task, manifest: HazardManifest) -> str:
    return CORRECTED if "corrected" in task.flags else manifest.excluded.get(task.id, NOT_PROVED)
