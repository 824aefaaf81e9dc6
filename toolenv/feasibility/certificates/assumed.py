"""Masked tasks in whose world no search can run: whether a remaining tool reads as if it did the same."""

from __future__ import annotations

from collections.abc import Iterable

from toolenv.feasibility.certificates.records import Certificate, TaskRecord
from toolenv.feasibility.manifest import MaskManifest
from toolenv.feasibility.redundancy import Redundancy
from toolenv.suite import Suite
from toolenv.task import Task

NO_WORLD = "no world to search in"
"""What certificates say of a task that no search can run on: it has no planner, or none that covers it."""

NOTHING_ALIKE = f"{NO_WORLD}; no remaining tool reads like a masked one"
ALIKE = f"{NO_WORLD}; for a person to look at: "


class Assumption:
    """Compares the documentation of masked and remaining tools.

    Args:
        tasks: whose tools tell which words say little: those that many share.
    """

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._redundancy = Redundancy(tool for task in tasks for tool in task.tools)

    @classmethod
    def of(cls, suite: Suite, manifest: MaskManifest) -> Assumption:
        """The comparison for a manifest: over its masked tasks, however few of them are looked at."""
        return cls(task for task in suite.tasks(manifest.subset) if task.id in manifest.masks)

    def record(self, task: Task, mask: frozenset[str]) -> TaskRecord:
        """``assumed`` if nothing reads alike, else ``unknown`` with what does."""
        alike = self._alike(task.masked(mask))
        bound = ALIKE + "; ".join(alike) if alike else NOTHING_ALIKE
        certificate = Certificate(task.id, tuple(sorted(mask)), "unknown", bound=bound)
        return TaskRecord("unknown" if alike else "assumed", certificate.mask, (certificate,))

    def _alike(self, task: Task) -> list[str]:
        remaining = task.offered(len(task.turns))
        masked = (tool for tool in task.tools if tool.name in task.mask)
        pairs = ((tool.name, self._redundancy.candidates(tool, remaining)) for tool in masked)
        return [f"{name} like {', '.join(one.tool for one in found)}" for name, found in pairs if found]
