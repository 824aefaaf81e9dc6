"""FeasiGen: from successful traces to a mask manifest (paper 1, §3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from toolenv.feasibility.manifest import MaskManifest
from toolenv.feasibility.redundancy import Redundancy
from toolenv.feasibility.successful_traces import Traces
from toolenv.feasibility.task_building import BuildSettings, BuiltTask, build_task
from toolenv.suite import Suite, corrections_of
from toolenv.task import Task

__all__ = ["BuildSettings", "BuiltTask", "assemble", "build_tasks"]


def build_tasks(
    suite: Suite, tasks: Sequence[Task], traces: Traces, settings: BuildSettings
) -> Iterator[BuiltTask]:
    """Build the masks of some tasks, one at a time.

    Args:
        suite: the suite.
        tasks: its tasks as it ships them, with their flags.
        traces: who solved them.
        settings: how.
    """
    redundancy = Redundancy(tool for task in tasks for tool in task.tools)
    for task in tasks:
        yield build_task(suite, task, traces, settings, redundancy)


def assemble(
    suite: Suite,
    subset: str,
    data: str,
    built: Iterable[BuiltTask],
    traces: Traces,
    settings: BuildSettings,
    options: Mapping[str, Any] | None = None,
) -> MaskManifest:
    """The manifest of what :func:`build_tasks` yields.

    Args:
        suite, subset: whose tasks.
        data: names the version of the suite's data.
        built: the tasks.
        traces: what they were built from; named in the manifest.
        settings: how they were built.
        options: the suite's own settings.
    """
    tasks = tuple(built)
    sources = [source.to_json() for source in traces.sources]
    corrections = corrections_of(suite)
    answers = {} if corrections is None else {"corrections": corrections.hash}
    return MaskManifest(
        suite=suite.name,
        subset=subset,
        data=data,
        provenance=_provenance(settings),
        masks={one.task_id: one.mask for one in tasks if not one.reason},
        excluded={one.task_id: one.reason for one in tasks if one.reason},
        flags={one.task_id: one.flags for one in tasks if one.flags},
        built={**settings.to_json(), "suite_options": dict(options or {}), **answers, "sources": sources},
        evidence={one.task_id: one.evidence for one in tasks if one.evidence},
    )


def _provenance(settings: BuildSettings) -> str:
    what = (
        "tools that the successful traces need (sliced)"
        if settings.sliced
        else "tools of the successful traces"
    )
    who = (
        f"at least {settings.rule.agents_needed} agents"
        if settings.rule.criterion == "at-least-k"
        else "all agents, each with the same tools"
    )
    return f"Critical tools are the {what} of {who}, intersected (toolenv build)."
