"""From a suite, a condition and the caller's wishes to a source."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from toolenv.errors import UnknownNameError, UsageError
from toolenv.feasibility.manifest import MaskManifest
from toolenv.masks import check_built, manifest_for, own_masks
from toolenv.source.conditions import CONDITIONS, DRAWN, conditions_of
from toolenv.source.task_source import TaskSource
from toolenv.source.wanted import TaskIds, check_masked, wanted_ids
from toolenv.suite import Generated, Suite, corrections_of
from toolenv.task import Task

EVEN = 0.5
"""The prior of infeasible episodes, where none is given."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """What is the same for every task of a source; all checked."""

    suite: Suite
    subset: str
    condition: str
    prior: float
    max_turns: int

    @property
    def where(self) -> str:
        return f"{self.suite.name}-{self.condition}"

    def source(self, clean: Mapping[str, Task], masked: Mapping[str, Task], **more: Any) -> TaskSource:
        return TaskSource(self.suite, self.condition, clean, masked, self.prior, self.max_turns, **more)


def make_source(
    suite: Suite,
    condition: str = "clean",
    *,
    subset: str | None = None,
    tasks: TaskIds = None,
    prior: float | None = None,
    max_turns: int | None = None,
    masks: str | Path | None = None,
    hazards: str | Path | None = None,
    hazard_seed: int | None = None,
    decoys: bool = False,
) -> TaskSource:
    """Choose tasks and a condition.

    Args:
        suite: the suite.
        condition: one of :func:`toolenv.source.conditions_of`.
        subset: one of the suite's subsets; ``None`` is its default.
        tasks: ids to keep (a list, or one string with commas); ``None`` keeps all.
        prior: in ``mixed`` and ``confusable``, the probability that an episode is infeasible; ``None`` is
            a half.
        max_turns: decisions per user turn; ``None`` is the suite's own cap (Appendix C).
        masks: a mask manifest to use instead of the suite's own.
        hazards: a hazard manifest to use instead of the suite's own.
        hazard_seed: which of a task's proved instances is armed; ``None`` is the first. The seed of an
            episode has no part in it, so that the arms of a study all meet the same instance.
        decoys: in ``mixed``, take as many tools that are not critical from the feasible episodes, as far as
            they have so many: the number of tools then says less of the label. An agent may have wanted one
            of them.

    Raises:
        UsageError: a value that cannot be used, named with the nearest good one.
    """
    name = chosen_subset(suite, subset)
    _check_condition(suite, condition, hazards, hazard_seed)
    _check_decoys(suite, condition, decoys)
    frame = _Frame(suite, name, condition, _prior(suite, condition, prior), _cap(suite, max_turns))
    if isinstance(suite, Generated) and name in suite.on_demand:
        return _generated(frame, suite, tasks, masks, decoys)
    return _with_origin(_kept(frame, tasks, masks, hazards, hazard_seed, decoys), name)


def chosen_subset(suite: Suite, subset: str | None) -> str:
    """A subset by its name; the suite's default one for ``None``.

    Raises:
        UnknownNameError: there is none; the nearest are named.
        UsageError: no name, or a subset that is not available.
    """
    subset = suite.default_subset if subset is None else subset
    if not isinstance(subset, str):
        raise UsageError(f"subset={subset!r}: give one name of {', '.join(suite.subsets)}")
    if subset in suite.unavailable:
        raise UsageError(
            f"subset {subset!r} of suite {suite.name} is not available: {suite.unavailable[subset]}"
        )
    if subset not in suite.subsets:
        raise UnknownNameError("subset", subset, suite.subsets, where=f"suite {suite.name}")
    return subset


def _check_condition(
    suite: Suite, condition: str, hazards: str | Path | None, hazard_seed: int | None
) -> None:
    known = (*conditions_of(suite), condition) if hazards is not None else conditions_of(suite)
    if condition not in known:
        raise UnknownNameError("condition", condition, known, where=f"suite {suite.name}")
    if condition in CONDITIONS and (hazards is not None or hazard_seed is not None):
        raise UsageError(f"hazards and hazard_seed have no meaning in {suite.name}-{condition}")


def _check_decoys(suite: Suite, condition: str, decoys: bool) -> None:
    if not isinstance(decoys, bool):
        raise UsageError(f"decoys={decoys!r}: give True or False")
    if decoys and condition != "mixed":
        raise UsageError(f"decoys have no meaning in {suite.name}-{condition}, but in {suite.name}-mixed")


def _prior(suite: Suite, condition: str, value: float | None) -> float:
    if value is None:
        return EVEN
    is_number = isinstance(value, Real) and not isinstance(value, bool) and not math.isnan(value)
    if not is_number or not 0.0 <= value <= 1.0:
        raise UsageError(f"prior={value!r}: give a number from 0.0 to 1.0")
    if condition not in DRAWN:
        drawn = " and ".join(f"{suite.name}-{one}" for one in conditions_of(suite) if one in DRAWN)
        raise UsageError(f"prior={value!r} has no meaning in {suite.name}-{condition}, but in {drawn}")
    return float(value)


def _cap(suite: Suite, max_turns: int | None) -> int:
    cap = suite.max_turns if max_turns is None else max_turns
    if not isinstance(cap, Integral) or isinstance(cap, bool) or cap < 1:
        raise UsageError(f"max_turns={max_turns!r}: give a whole number of at least 1")
    return int(cap)


def _generated(
    frame: _Frame, suite: Generated, tasks: TaskIds, masks: str | Path | None, decoys: bool
) -> TaskSource:
    """Tasks that are made when they are asked for: no manifest tells of them."""
    if frame.condition not in CONDITIONS or masks is not None:
        raise UsageError(f"subset {frame.subset!r} is made on demand: it takes no manifest")
    table = suite.table(frame.subset)
    wanted = wanted_ids(tasks, table.clean, frame.suite)
    ids = table.ids if wanted is None else tuple(wanted)
    return frame.source(table.clean, table.masked, manifest_hash=table.hash, decoys=decoys, ids=ids)


def _kept(
    frame: _Frame,
    tasks: TaskIds,
    masks: str | Path | None,
    hazards: str | Path | None,
    hazard_seed: int | None,
    decoys: bool,
) -> TaskSource:
    """Tasks that the suite keeps: manifests tell which of them can be masked or armed."""
    clean, manifest = _flagged_tasks(frame, masks)
    if frame.condition in CONDITIONS:
        return _masked_source(frame, clean, manifest, tasks, decoys)
    from toolenv.source.hazard import hazard_source  # most environments need nothing of hazards

    wanted = wanted_ids(tasks, clean, frame.suite)
    return hazard_source(
        frame.suite, frame.condition, clean, wanted, frame.prior, frame.max_turns, hazards, hazard_seed
    )


def _flagged_tasks(frame: _Frame, masks: str | Path | None) -> tuple[dict[str, Task], MaskManifest]:
    """A subset's tasks with what its manifest says of them, and the manifest."""
    clean = {task.id: task for task in frame.suite.tasks(frame.subset)}
    manifest = manifest_for(frame.suite, frame.subset, masks)
    return {task_id: _flagged(task, manifest) for task_id, task in clean.items()}, manifest


def _flagged(task: Task, manifest: MaskManifest) -> Task:
    flags = manifest.flags.get(task.id)
    return replace(task, flags=task.flags | set(flags)) if flags else task


def _masked_source(
    frame: _Frame, clean: Mapping[str, Task], manifest: MaskManifest, tasks: TaskIds, decoys: bool
) -> TaskSource:
    """The tasks of a condition without a hazard."""
    if frame.condition != "clean":
        check_built(manifest, frame.suite)
    masked = _masked(clean, manifest, natural=frame.condition != "mixed")
    wanted = wanted_ids(tasks, clean, frame.suite)
    if wanted is not None:
        if frame.condition != "clean":
            check_masked(wanted, masked, manifest, frame.where)
        clean = {task_id: clean[task_id] for task_id in wanted}
        masked = {task_id: masked[task_id] for task_id in wanted if task_id in masked}
    source = frame.source(clean, masked, manifest_hash=manifest.hash, decoys=decoys)
    if not source.task_ids:
        why = _why_none(manifest)
        raise UsageError(f"{frame.where}, subset {frame.subset!r}: no task is left; {why}")
    return source


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


def _why_none(manifest: MaskManifest) -> str:
    reasons = sorted(Counter(manifest.excluded.values()).items())
    return "; ".join(f"{count} × {reason}" for reason, count in reasons) or "the subset is empty"


def _with_origin(source: TaskSource, subset: str) -> TaskSource:
    """The source, told which data and corrections its tasks are of."""
    own, corrections = own_masks(source.suite, subset), corrections_of(source.suite)
    source.data = own.data
    if corrections is not None:
        source.corrections = corrections.within({*own.masks, *own.excluded})
    return source
