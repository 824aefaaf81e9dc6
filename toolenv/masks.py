"""The masks that a subset's tasks get: of the suite or of a file, and never those made for another answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolenv.errors import DataCorruptError, MasksMissingError, UnknownNameError, UsageError
from toolenv.feasibility.manifest import MaskManifest
from toolenv.hashed_json import given_path
from toolenv.plugged_in import place_of
from toolenv.suite import Generated, Suite, corrections_of
from toolenv.task import Task

if TYPE_CHECKING:
    from toolenv.corrections import Corrections

NOT_BUILT = "no mask manifest is there yet"
"""Why no task has a mask in a suite whose manifest is not made yet."""

OTHER_TOOLS = "corrected so that other tools are needed than its mask was made for"

_LASTING = frozenset({"natural_negative", "proxy_judge"})
"""Flags that a manifest keeps for a corrected task; the others are about its answer and are found anew."""


def manifest_for(suite: Suite, subset: str, masks: str | Path | None = None) -> MaskManifest:
    """The mask manifest of a subset, as the suite's corrections leave it; see :func:`own_masks`.

    Args:
        suite, subset: whose tasks.
        masks: a manifest file to use instead of the suite's own.

    Raises:
        DataError: a file that is no manifest of this suite's tasks.
        UsageError: masks that were made for other corrections than the suite's.
    """
    corrections = corrections_of(suite)
    if masks is None and corrections is None:
        return own_masks(suite, subset)
    tasks = {task.id: task for task in suite.tasks(subset)}
    if masks is None:
        manifest = own_masks(suite, subset)
    else:
        manifest = _foreign(given_path("masks", masks), suite, tasks, data_of(suite, subset))
    here, there = corrections.hash if corrections else None, manifest.built.get("corrections")
    if there not in (None, here):
        raise UsageError(
            f"{masks}: masks made for the corrections {there}, and here are {here or 'none'}: other answers"
        )
    return manifest if corrections is None or there else _corrected(manifest, corrections, tasks)


def own_masks(suite: Suite, subset: str) -> MaskManifest:
    """The suite's own mask manifest of a subset; where its file is not there yet, one that masks nothing.

    What is played without masks needs none, and the first masks are made from such runs.

    Raises:
        DataError: the tasks' data is missing, or the file is there and no good.
    """
    try:
        return suite.masks(subset)
    except MasksMissingError:
        return unmasked(suite, subset)


def unmasked(suite: Suite, subset: str) -> MaskManifest:
    """The manifest that stands for one that is not made yet; the same as long as the tasks are."""
    excluded = {task.id: NOT_BUILT for task in suite.tasks(subset)}
    return MaskManifest(suite.name, subset, suite.data or "none", NOT_BUILT, {}, excluded)


def data_of(suite: Suite, subset: str) -> str | None:
    """Names the version of a suite's data, as its mask manifest does; ``None`` while there is none."""
    try:
        return suite.masks(subset).data
    except MasksMissingError:
        return None


def is_built(manifest: MaskManifest) -> bool:
    """Whether a manifest is a real one, and not :func:`unmasked`."""
    return manifest.provenance != NOT_BUILT


def check_built(manifest: MaskManifest, suite: Suite) -> None:
    """Refuse to play masked tasks of a suite whose masks are not made yet.

    Args:
        manifest: of one of its subsets, of :func:`manifest_for`.
        suite: the suite.

    Raises:
        MasksMissingError: names the file, and the commands that make it.
    """
    if is_built(manifest):
        return
    subset = manifest.subset
    try:
        suite.masks(subset)
    except MasksMissingError as error:
        place = f"{place_of(suite)} --subset {subset}" if len(suite.subsets) > 1 else place_of(suite)
        raise MasksMissingError(
            f"{error}, which {suite.name}-infeasible and {suite.name}-mixed need; it is made from runs of "
            f"agents on {suite.name}-clean (toolenv build {place} --traces DIR… --out FILE), or from the "
            f"reference solutions (toolenv build {place} --reference --out FILE)"
        ) from error


def left_out(corrections: Corrections, task_id: str) -> str:
    """What is said of a task that is not there."""
    return f"left out by {corrections.file}: {corrections.why(task_id)}"


def _foreign(path: Path, suite: Suite, tasks: Mapping[str, Task], data: str | None) -> MaskManifest:
    manifest = MaskManifest.read(path)
    if manifest.suite != suite.name:
        raise DataCorruptError(f"{path}: masks of suite {manifest.suite!r}, not {suite.name!r}")
    if data is not None and manifest.data != data:
        raise DataCorruptError(
            f"{path}: masks made for data {manifest.data!r}; {suite.name} here has {data!r}, "
            "in which tasks of the same id may need other tools"
        )
    named = {*manifest.masks, *manifest.excluded, *manifest.flags, *manifest.evidence}
    check_ids(named, tasks, suite, str(path))
    for task_id, tools in manifest.masks.items():
        if task_id in tasks:
            _check_mask(tools, tasks[task_id], path)
    return manifest


def check_ids(named: Iterable[str], tasks: Collection[str], suite: Suite, where: str) -> None:
    """Refuse a file that names a task that the suite does not have: somebody believes that it counts.

    Args:
        named: the tasks that the file names.
        tasks: those of the subset at hand; others may be of another.
        suite: the suite.
        where: names the file in errors.

    Raises:
        DataCorruptError: names the task, and the nearest that is there.
    """
    elsewhere = set(named).difference(tasks)
    if not elsewhere:
        return
    made = suite.on_demand if isinstance(suite, Generated) else ()
    masks = [own_masks(suite, subset) for subset in suite.subsets if subset not in made]
    known = {task_id for one in masks for task_id in (*one.masks, *one.excluded)}.union(tasks)
    for task_id in sorted(elsewhere - known):
        unknown = UnknownNameError("task id", task_id, known, where=f"suite {suite.name}")
        raise DataCorruptError(f"{where}: {unknown}")


def _check_mask(tools: Sequence[str], task: Task, path: Path) -> None:
    pool = {tool.name for tool in task.tools}
    for tool in tools:
        if tool not in pool:
            raise DataCorruptError(f"{path}: task {task.id!r} masks {tool!r}, which is not in its pool")
    if pool <= set(tools):
        raise DataCorruptError(
            f"{path}: task {task.id!r} masks its whole pool ({', '.join(sorted(pool))}); that nothing can be "
            "done without any tool is plain to see and measures nothing: list it as excluded"
        )


def _corrected(manifest: MaskManifest, corrections: Corrections, tasks: Mapping[str, Task]) -> MaskManifest:
    """Without the masks of tasks that are left out or need other tools, and what is known of old answers."""
    reasons = _reasons(manifest, corrections, tasks)
    flags = {
        name: tuple(flag for flag in found if flag in _LASTING) if name in corrections.by_task else found
        for name, found in manifest.flags.items()
    }
    return replace(
        manifest,
        masks={name: mask for name, mask in manifest.masks.items() if name not in reasons},
        excluded={**manifest.excluded, **reasons},
        flags={name: found for name, found in flags.items() if found},
        evidence={name: one for name, one in manifest.evidence.items() if name not in corrections.by_task},
        built={**manifest.built, "corrections": corrections.hash},
    )


def _reasons(manifest: MaskManifest, corrections: Corrections, tasks: Mapping[str, Task]) -> dict[str, str]:
    """Why corrected tasks have no mask."""
    reasons = {}
    for name in corrections.by_task:
        if corrections.excludes(name) and (name in manifest.masks or name in manifest.excluded):
            reasons[name] = left_out(corrections, name)
        elif name in manifest.excluded:
            reasons[name] = f"corrected; before that: {manifest.excluded[name]}"
        elif name in tasks and "corrected_tools" in tasks[name].flags and name in manifest.masks:
            reasons[name] = OTHER_TOOLS
    return reasons
