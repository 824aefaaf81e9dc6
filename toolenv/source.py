"""Where a suite, a condition and an environment meet: which tasks, and how the world answers them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from toolenv.errors import UnknownNameError, UsageError
from toolenv.feasibility.manifest import MaskManifest
from toolenv.kernel import CleanKernel, Kernel, MaskedKernel
from toolenv.masks import left_out, manifest_for
from toolenv.seeding import mix, uniform
from toolenv.suite import Generated, Suite, TaskTable, corrections_of, hazard_manifests
from toolenv.task import Task
from toolenv.user import User

if TYPE_CHECKING:
    from toolenv.hazards import Instance

CONDITIONS: tuple[str, ...] = ("clean", "infeasible", "mixed")
"""The conditions of every suite; see :func:`conditions_of`."""

DRAWN: tuple[str, ...] = ("mixed", "confusable")
"""The conditions whose tasks have a feasible and an infeasible form; the seed draws which is played."""

MOST_KERNELS = 20_000
"""Kernels that a source keeps."""

MOST_NAMED = 20_000
"""Task ids among which the nearest to an unknown one is looked for."""

TaskIds: TypeAlias = str | Iterable[str] | None


def conditions_of(suite: Suite) -> tuple[str, ...]:
    """The conditions a suite has: :data:`CONDITIONS`, and one per hazard manifest that it ships."""
    return (*CONDITIONS, *hazard_manifests(suite))


class TaskSource:
    """The tasks of one environment id and the kernels that answer them.

    Args:
        suite, condition: what the id names.
        clean: the tasks by id, in the suite's order, as the suite ships them.
        masked: those of them that have an infeasible form, in that form.
        prior: in ``mixed`` and ``confusable``, the probability that an episode is infeasible.
        max_turns: the cap on decisions per user turn.
        manifest_hash: names the manifest, and with it the frozen list of tasks.
        hazards: what is armed, by task id.
        decoys: in ``mixed``, whether feasible episodes lack as many other tools.
        ids: the task ids, where there are too many to be listed.

    Attributes:
        data: names the version of the suite's data.
        corrections: what a corrections file does to tasks of the subset; empty without one. See
            :meth:`toolenv.corrections.Corrections.within`.
    """

    data: str = ""
    corrections: Mapping[str, Any] = MappingProxyType({})

    def __init__(
        self,
        suite: Suite,
        condition: str,
        clean: Mapping[str, Task],
        masked: Mapping[str, Task],
        prior: float,
        max_turns: int,
        manifest_hash: str = "",
        hazards: Mapping[str, Instance] | None = None,
        decoys: bool = False,
        ids: Sequence[str] | None = None,
    ) -> None:
        self.manifest_hash = manifest_hash
        self.suite, self.condition, self.prior, self.max_turns = suite, condition, prior, max_turns
        self.decoys = decoys
        self.user: User | None = getattr(suite, "user", None)
        self._clean, self._masked = clean, masked
        self.hazards: Mapping[str, Instance] = hazards or {}
        self._chosen = masked if condition in ("infeasible", *DRAWN) else clean
        self.task_ids: Sequence[str] = tuple(self._chosen) if ids is None else ids
        self._kernels: dict[tuple[str, str], Kernel] = {}

    def draw(self, seed: int) -> Task:
        """A task drawn uniformly by ``seed``."""
        return self.get(self.task_ids[mix("task", seed) % len(self.task_ids)], seed)

    def get(self, task_id: str, seed: int = 0) -> Task:
        """The task of that id; in ``mixed`` and ``confusable``, ``seed`` draws whether it is infeasible.

        Raises:
            UnknownNameError: no such task here.
        """
        if task_id not in self._chosen:
            named = islice(self.task_ids, MOST_NAMED)
            raise UnknownNameError("task id", task_id, named, where=f"{self.suite.name}-{self.condition}")
        if self.condition in DRAWN and uniform("label", seed) >= self.prior:
            return self._without_decoys(task_id, seed) if self.decoys else self._clean[task_id]
        return self._chosen[task_id]

    def _without_decoys(self, task_id: str, seed: int) -> Task:
        """The feasible task without as many tools as its mask has, none critical, drawn by ``seed``."""
        task, critical = self._clean[task_id], self._masked[task_id].mask
        kept = critical | set(getattr(self.suite, "inert_tools", ()))
        others = sorted(
            (tool.name for tool in task.tools if tool.name not in kept),
            key=lambda name: mix("decoy", seed, name),
        )
        return replace(task, mask=frozenset(others[: len(critical)]))

    def kernel(self, task: Task) -> Kernel:
        """The kernel of one of this source's tasks. Kernels are pure, so they are shared."""
        if task.mask and task.label == "feasible":
            return self._build_kernel(task)  # one of very many draws of decoys
        key = (task.id, task.label)
        found = self._kernels.get(key)
        if found is None:
            if len(self._kernels) >= MOST_KERNELS:  # an endless subset
                self._kernels.clear()
            found = self._kernels.setdefault(key, self._build_kernel(task))
        return found

    def _build_kernel(self, task: Task) -> Kernel:
        if task.id in self.hazards:
            return self._build_perturbed(task)
        suite = self.suite
        kernel: Kernel = CleanKernel(task, suite.world, suite.arguments(task), suite.result_limit(task))
        return MaskedKernel(kernel, task.mask, len(task.turns) + 1) if task.mask else kernel

    def _build_perturbed(self, task: Task) -> Kernel:
        from toolenv.hazards import perturbed  # most environments need nothing of it
        from toolenv.hazards.manifest import as_shipped

        suite, task = self.suite, as_shipped(task)
        clean = CleanKernel(task, suite.world, suite.arguments(task), suite.result_limit(task))
        instance = self.hazards[task.id]
        return perturbed(clean, instance.withdrawn() if task.label == "infeasible" else instance)


def make_source(
    suite: Suite,
    condition: str = "clean",
    *,
    subset: str | None = None,
    tasks: TaskIds = None,
    prior: float = 0.5,
    max_turns: int | None = None,
    masks: str | Path | None = None,
    hazards: str | Path | None = None,
    hazard_seed: int | None = None,
    decoys: bool = False,
) -> TaskSource:
    """Choose tasks and a condition.

    Args:
        suite: the suite.
        condition: one of :func:`conditions_of`.
        subset: one of the suite's subsets; ``None`` is its default.
        tasks: ids to keep (a list, or one string with commas); ``None`` keeps all.
        prior: in ``mixed`` and ``confusable``, the probability that an episode is infeasible.
        max_turns: decisions per user turn; ``None`` is the suite's own cap (Appendix C).
        masks: a mask manifest to use instead of the suite's own.
        hazards: a hazard manifest to use instead of the suite's own.
        hazard_seed: which of a task's proved instances is armed; ``None`` is the first. The seed of an
            episode has no part in it, so that the arms of a study all meet the same instance.
        decoys: in ``mixed``, take as many tools that are not critical from the feasible episodes, so that
            the number of tools does not tell the label. An agent may have wanted one of them.

    Raises:
        UsageError: a value that cannot be used, named with the nearest good one.
    """
    subset = suite.default_subset if subset is None else subset
    if subset in suite.unavailable:
        raise UsageError(
            f"subset {subset!r} of suite {suite.name} is not available: {suite.unavailable[subset]}"
        )
    if subset not in suite.subsets:
        raise UnknownNameError("subset", subset, suite.subsets, where=f"suite {suite.name}")
    known = (*conditions_of(suite), condition) if hazards is not None else conditions_of(suite)
    if condition not in known:
        raise UnknownNameError("condition", condition, known, where=f"suite {suite.name}")
    if condition in CONDITIONS and (hazards is not None or hazard_seed is not None):
        raise UsageError(f"hazards and hazard_seed have no meaning in {suite.name}-{condition}")
    _check_number("prior", prior, 0.0, 1.0)
    cap = suite.max_turns if max_turns is None else max_turns
    if not isinstance(cap, int) or isinstance(cap, bool) or cap < 1:
        raise UsageError(f"max_turns={max_turns!r}: give a whole number of at least 1")
    if isinstance(suite, Generated) and subset in suite.on_demand:
        if condition not in CONDITIONS or masks is not None:
            raise UsageError(f"subset {subset!r} is made on demand: it takes no manifest")
        return _generated(suite, condition, suite.table(subset), tasks, float(prior), cap, decoys)
    clean = {task.id: task for task in suite.tasks(subset)}
    manifest = manifest_for(suite, subset, masks)
    clean = {task_id: _flagged(task, manifest) for task_id, task in clean.items()}
    if condition not in CONDITIONS:
        from toolenv.hazard_source import hazard_source  # most environments need nothing of hazards

        wanted = _listed(tasks, clean, suite)
        armed = hazard_source(suite, condition, clean, wanted, float(prior), cap, hazards, hazard_seed)
        return _with_origin(armed, subset)
    masked = _masked(clean, manifest, natural=condition != "mixed")
    wanted = _wanted(tasks, clean, masked, manifest, suite, condition)
    if wanted is not None:
        clean = {task_id: clean[task_id] for task_id in wanted}
        masked = {task_id: masked[task_id] for task_id in wanted if task_id in masked}
    source = TaskSource(
        suite, condition, clean, masked, float(prior), cap, manifest.hash, decoys=_is_flag("decoys", decoys)
    )
    if not source.task_ids:
        raise UsageError(
            f"{suite.name}-{condition}, subset {subset!r}: no task is left; {_why_none(manifest)}"
        )
    return _with_origin(source, subset)


def _generated(
    suite: Suite, condition: str, table: TaskTable, tasks: TaskIds, prior: float, cap: int, decoys: bool
) -> TaskSource:
    """Tasks that are made when they are asked for."""
    wanted = _listed(tasks, table.clean, suite)
    ids = table.ids if wanted is None else tuple(wanted)
    return TaskSource(
        suite, condition, table.clean, table.masked, prior, cap, table.hash, decoys=decoys, ids=ids
    )


def _with_origin(source: TaskSource, subset: str) -> TaskSource:
    """The source, told which data and corrections its tasks are of."""
    own, corrections = source.suite.masks(subset), corrections_of(source.suite)
    source.data = own.data
    if corrections is not None:
        source.corrections = corrections.within({*own.masks, *own.excluded})
    return source


def _is_flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{name}={value!r}: give True or False")
    return value


def _check_number(name: str, value: float, low: float, high: float) -> None:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not (low <= value <= high)
        or math.isnan(value)
    ):
        raise UsageError(f"{name}={value!r}: give a number from {low} to {high}")


def _flagged(task: Task, manifest: MaskManifest) -> Task:
    flags = manifest.flags.get(task.id)
    return replace(task, flags=task.flags | set(flags)) if flags else task


def _masked(clean: Mapping[str, Task], manifest: MaskManifest, natural: bool) -> dict[str, Task]:
    """The infeasible tasks: masked ones and, if asked for, those that are infeasible as shipped.

    ``mixed`` leaves the latter out: they have no feasible form, so a task's identity would tell its label.
    """
    masked = {}
    for task_id, task in clean.items():
        if task.label == "infeasible":
            if natural:
                masked[task_id] = task
        elif task_id in manifest.masks:
            masked[task_id] = task.masked(frozenset(manifest.masks[task_id]))
    return masked


def _wanted(
    tasks: TaskIds,
    clean: Mapping[str, Task],
    masked: Mapping[str, Task],
    manifest: MaskManifest,
    suite: Suite,
    condition: str,
) -> list[str] | None:
    wanted = _listed(tasks, clean, suite)
    for task_id in wanted or ():
        if condition != "clean" and task_id not in masked:
            reason = manifest.excluded.get(task_id, "it has no mask")
            raise UsageError(f"task {task_id!r} is not in {suite.name}-{condition}: {reason}")
    return wanted


def _listed(tasks: TaskIds, clean: Mapping[str, Task], suite: Suite) -> list[str] | None:
    """The ids asked for, each once; ``None`` for all."""
    if tasks is None:
        return None
    listed = [one.strip() for one in tasks.split(",")] if isinstance(tasks, str) else list(tasks)
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


def _why_none(manifest: MaskManifest) -> str:
    reasons: dict[str, int] = {}
    for reason in manifest.excluded.values():
        reasons[reason] = reasons.get(reason, 0) + 1
    return (
        "; ".join(f"{count} × {reason}" for reason, count in sorted(reasons.items())) or "the subset is empty"
    )
