"""Every mask of a manifest decided, and the manifest that is left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from toolenv.feasibility.certificates.certify import Effort, certificates_of
from toolenv.feasibility.certificates.planning import Planner
from toolenv.feasibility.certificates.records import Certificates, TaskRecord
from toolenv.feasibility.certificates.repair import repaired
from toolenv.feasibility.manifest import MaskManifest
from toolenv.suite import Suite
from toolenv.task import Task


def settled(
    suite: Suite,
    planner: Planner | None,
    manifest: MaskManifest,
    watched: Callable[[Iterator[tuple[str, TaskRecord]]], Iterable[tuple[str, TaskRecord]]] = iter,
) -> tuple[MaskManifest, Certificates]:
    """The masks that stand, with what is proven of each, and the certificates.

    Args:
        suite, planner: whose masks; no planner where no search can run.
        manifest: the masks to decide, of one of the suite's subsets.
        watched: passes the records on, e.g. with a progress bar.
    """
    tasks = masked_tasks(suite, manifest)
    certificates = certificates_of(suite, planner, tasks, manifest, Effort(), watched=watched)
    return (repaired(manifest, certificates) if manifest.masks else manifest), certificates


def masked_tasks(suite: Suite, manifest: MaskManifest) -> tuple[Task, ...]:
    """The clean tasks that a manifest has masks for, with its flags."""
    clean = {task.id: task for task in suite.tasks(manifest.subset)}
    return tuple(
        replace(clean[task_id], flags=clean[task_id].flags | set(manifest.flags.get(task_id, ())))
        for task_id in manifest.masks
    )
