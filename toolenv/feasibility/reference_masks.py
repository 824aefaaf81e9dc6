"""Masks from the verified traces that exist before any agent has run: the ground truth's own.

The critical tools of a task are the tools of its successful traces (paper 1, §3.2). Until agents' traces
exist, the one trace is the reference solution, replayed and judged successful.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from toolenv.env import ToolEnv
from toolenv.feasibility.manifest import MaskManifest
from toolenv.policy import FunctionPolicy, Policy
from toolenv.rollout import Rollout, rollout
from toolenv.source import TaskSource
from toolenv.suite import Suite, corrections_of, equivalent_tools, inert_tools, lookup_tools
from toolenv.task import Task
from toolenv.types import NO_TOKENS, Message, Observation

NO_TRACE = "no successful trace: the reference solution is not judged successful"
EMPTY_POOL = "the mask empties the pool"
NO_TOOL_USED = "no tool is used by the successful trace"
NATURAL = "infeasible as the data set ships it: there is nothing to mask"
NO_REFERENCE = "no reference solution"


def _say_nothing(observation: Observation) -> Message:
    return Message("", usage=NO_TOKENS)


def reference_masks(suite: Suite, subset: str, oracle: Policy, data: str, provenance: str) -> MaskManifest:
    """Replay every task's reference solution and take its tools as the mask.

    Args:
        suite, subset: whose tasks.
        oracle: the policy that plays reference solutions.
        data: names the version of the data, e.g. ``sha256:…``.
        provenance: how the masks were made, for readers.
    """
    masks: dict[str, tuple[str, ...]] = {}
    excluded: dict[str, str] = {}
    flags: dict[str, tuple[str, ...]] = {}
    for task in suite.tasks(subset):
        found = reference_facts(suite, task, oracle)
        if found.reason:
            excluded[task.id] = found.reason
        else:
            masks[task.id] = found.mask
        if found.flags:
            flags[task.id] = found.flags
    corrections = corrections_of(suite)
    built = {} if corrections is None else {"corrections": corrections.hash}
    return MaskManifest(suite.name, subset, data, provenance, masks, excluded, flags, built)


@dataclass(frozen=True, slots=True)
class ReferenceFacts:
    """What the reference solution of a task tells.

    Attributes:
        mask: the tools it uses; empty if there is a reason.
        reason: why the task has no mask.
        flags: the task's flags, its own included.
    """

    mask: tuple[str, ...]
    reason: str
    flags: tuple[str, ...]


def reference_facts(suite: Suite, shipped: Task, oracle: Policy) -> ReferenceFacts:
    """Replay a task's reference solution, and an agent that does nothing."""
    task, solved = _solve(suite, shipped, oracle)
    idle = _play(suite, task, FunctionPolicy(_say_nothing, "noop"))
    mask, reason = _mask(task, solved, inert_tools(suite), partial(equivalent_tools, suite, task))
    masked_lookups = lookup_tools(suite).intersection(mask)
    return ReferenceFacts(mask, reason, _flags(task, solved, idle, reason, masked_lookups))


def _play(suite: Suite, task: Task, policy: Policy) -> Rollout:
    env = ToolEnv(TaskSource(suite, "clean", {task.id: task}, {}, 0.0, suite.max_turns))
    return rollout(env, policy, seed=0, task_id=task.id)


def _solve(suite: Suite, task: Task, oracle: Policy) -> tuple[Task, Rollout]:
    """Replay the reference solution; without enforcing the schema, should that be all that fails it."""
    solved = _play(suite, task, oracle)
    if solved.episode.success or not solved.trace.calls("invalid_arguments"):
        return task, solved
    unenforced = replace(task, flags=task.flags | {"reference_breaks_schema"})
    again = _play(suite, unenforced, oracle)
    return (unenforced, again) if again.episode.success else (task, solved)


def _mask(
    task: Task,
    solved: Rollout,
    inert: frozenset[str],
    equivalents: Callable[[frozenset[str]], frozenset[str]],
) -> tuple[tuple[str, ...], str]:
    """The mask, or why there is none."""
    if task.label == "infeasible":
        return (), NATURAL
    if not task.reference.solution():
        return (), NO_REFERENCE
    if solved.episode.success is not True:
        return (), NO_TRACE
    used = frozenset(call.name for call, _ in solved.trace.calls("ok")) - inert
    used |= equivalents(used)
    if not used:
        return (), NO_TOOL_USED
    if used >= {tool.name for tool in task.tools}:
        return (), EMPTY_POOL
    return tuple(sorted(used)), ""


def _flags(
    task: Task, solved: Rollout, idle: Rollout, reason: str, masked_lookups: frozenset[str]
) -> tuple[str, ...]:
    found = set(task.flags)
    if reason == NO_TRACE:
        found.add("can_never_pass")
    if reason == NO_REFERENCE:
        found.add("no_reference")
    if reason == EMPTY_POOL:
        found.add("mask_empties_pool")
    if task.label == "feasible" and idle.episode.success:
        found.add("do_nothing_passes")
    if any(_is_known(task, solved, tool) for tool in masked_lookups):
        found.add("query_grounded")
    if solved.trace.calls("tool_error"):
        found.add("reference_call_fails")
    return tuple(sorted(found))


def _is_known(task: Task, solved: Rollout, lookup: str) -> bool:
    """Whether the user said all that a lookup tool returned in the reference solution."""
    said = " ".join(message.content for message in task.messages if message.role == "user")
    return all(result.text in said for call, result in solved.trace.calls("ok") if call.name == lookup)
