"""FeasiGen for one task: its mask, or why it has none, and how that is known (paper 1, §3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolenv.errors import UsageError
from toolenv.feasibility.critical_tools import (
    EMPTIES_POOL,
    NO_SUCCESS,
    NO_TOOL_USED,
    NOT_TRIED,
    REFUTED,
    Critical,
    Rule,
    ToolUse,
    critical_tools,
)
from toolenv.feasibility.grounding import query_grounded
from toolenv.feasibility.redundancy import Candidate, Redundancy
from toolenv.feasibility.replaying import DEFAULT_REPLAYS, play
from toolenv.feasibility.slicing import Study
from toolenv.feasibility.successful_traces import SuccessfulTrace, Traces
from toolenv.suite import Suite, inert_tools
from toolenv.task import Task
from toolenv.types import Message

NATURAL = "infeasible as the data set ships it: there is nothing to mask"
DOING_NOTHING = "doing nothing is judged successful"
NONE_NEEDED = "a successful trace can do without any single one of its tools"

_OF_A_MASK = frozenset({"mask_empties_pool", "query_grounded", "semantically_redundant", "never_solved"})
"""Flags that are about a mask or its traces, and not carried over from the suite's own manifest."""


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """How masks are built.

    Attributes:
        rule: what makes a task eligible.
        sliced: whether S is the tools a trace needed (:mod:`toolenv.feasibility.slicing`), not all it used.
        max_replays: replays of one trace at most.
    """

    rule: Rule = field(default_factory=Rule)
    sliced: bool = False
    max_replays: int = DEFAULT_REPLAYS

    def __post_init__(self) -> None:
        if isinstance(self.max_replays, bool) or self.max_replays < 1:
            raise UsageError(f"max_replays={self.max_replays!r}: give a whole number of at least 1")

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict."""
        needed = {"agents_needed": self.rule.agents_needed} if self.rule.criterion == "at-least-k" else {}
        return {
            "criterion": self.rule.criterion,
            **needed,
            "sliced": self.sliced,
            "max_replays": self.max_replays,
        }


@dataclass(frozen=True, slots=True)
class BuiltTask:
    """What was found out about one task.

    Attributes:
        task_id: the task.
        mask: C, its critical tools; empty if it has a reason.
        reason: why it is not eligible.
        flags: the task's flags.
        evidence: what the manifest keeps of how it is known; see ``docs/feasibility.md``.
    """

    task_id: str
    mask: tuple[str, ...]
    reason: str
    flags: tuple[str, ...]
    evidence: Mapping[str, Any]


def build_task(
    suite: Suite, task: Task, traces: Traces, settings: BuildSettings, redundancy: Redundancy
) -> BuiltTask:
    """Build the mask of one task.

    Args:
        suite: the suite.
        task: the task as the suite ships it, with its flags.
        traces: who solved which task.
        settings: how.
        redundancy: knows the tools of all tasks that are looked at.
    """
    return _Builder(suite, task, traces, settings, redundancy).build()


@dataclass(frozen=True, slots=True)
class _Found:
    """What a task's traces say.

    Attributes:
        critical: the critical tools.
        plain: the same from whole traces, witnesses left out: the paper's own heuristic.
        refuters: the traces that succeed without their calls of critical tools (FIELD-019).
        grounded: tool → values that the query holds.
        redundant: critical tool → remaining tools that read alike.
    """

    critical: Critical
    plain: Critical
    refuters: Sequence[SuccessfulTrace]
    grounded: Mapping[str, list[str]]
    redundant: Mapping[str, tuple[Candidate, ...]]

    @property
    def result(self) -> Critical:
        """What the manifest says: no mask, where a trace refutes it."""
        return Critical(frozenset(), REFUTED) if self.refuters else self.critical

    @property
    def status(self) -> str:
        """See :data:`toolenv.feasibility.manifest.STATUSES`; ``""`` for a task without a mask."""
        if self.result.reason == REFUTED:
            return "refuted"
        if not self.critical.tools:
            return ""
        doubtful = self.grounded.keys() | self.redundant.keys()
        return "questioned" if self.critical.tools <= doubtful else "intersection"


class _Builder:
    """One task."""

    def __init__(
        self, suite: Suite, task: Task, traces: Traces, settings: BuildSettings, redundancy: Redundancy
    ) -> None:
        self.suite, self.task, self.settings, self.redundancy = suite, task, settings, redundancy
        self.attempts = traces.attempts.get(task.id, {})
        self.agents = traces.agents
        self.successes: Sequence[SuccessfulTrace] = traces.successes.get(task.id, ())
        self.own = [one for one in self.successes if not one.is_witness]
        self.inert = inert_tools(suite)
        self.pool = {tool.name: tool for tool in task.tools}
        self._studies: dict[int, Study] = {}

    def build(self) -> BuiltTask:
        does_nothing = self._doing_nothing_passes()
        found = self._find(does_nothing)
        mask, reason = found.result
        flags = self._flags(found, does_nothing)
        return BuiltTask(self.task.id, tuple(sorted(mask)), reason, flags, self._evidence(found))

    def _find(self, does_nothing: bool) -> _Found:
        critical = self._critical()
        if does_nothing and critical.reason not in (NATURAL, NOT_TRIED):
            critical = Critical(frozenset(), DOING_NOTHING)
        plain = self._rule([ToolUse(one.agent, one.tools) for one in self.own])
        mask = critical.tools
        refuters = [one for one in self.own if mask and self._study(one).solves_without(mask)]
        return _Found(critical, plain, refuters, self._grounded(plain.tools | mask), self._redundant(mask))

    # -- critical tools ------------------------------------------------------------------------------

    def _critical(self) -> Critical:
        if self.task.label == "infeasible":
            return Critical(frozenset(), NATURAL)
        if not self.attempts and not self.successes:
            return Critical(frozenset(), NOT_TRIED)
        found = self._rule([self._use(one) for one in self.successes])
        is_used = found.reason == NO_TOOL_USED and all(one.tools for one in self.successes)
        return Critical(frozenset(), NONE_NEEDED) if is_used else found

    def _rule(self, uses: Sequence[ToolUse]) -> Critical:
        return critical_tools(uses, self.pool, self.settings.rule, agents=self.agents, inert=self.inert)

    def _use(self, one: SuccessfulTrace) -> ToolUse:
        tools = self._study(one).needed if self.settings.sliced else one.tools
        return ToolUse(one.agent, tools, one.is_witness)

    def _study(self, one: SuccessfulTrace) -> Study:
        if id(one) not in self._studies:
            self._studies[id(one)] = Study(self.suite, self.task, one.trace, self.settings.max_replays)
        return self._studies[id(one)]

    def _doing_nothing_passes(self) -> bool:
        """As the suite says it, or as a try shows; tasks that nobody was run on are left as they are."""
        if "do_nothing_passes" in self.task.flags or self.task.label == "infeasible" or not self.successes:
            return "do_nothing_passes" in self.task.flags
        turns = [Message("")] * (len(self.task.turns) + 1)
        return play(self.suite, self.task, turns).episode.success is True

    # -- the two failure clusters (Appendix B.2) -------------------------------------------------------

    def _grounded(self, tools: Iterable[str]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for one in self.own:
            for tool, values in query_grounded(self._study(one), frozenset(tools)).items():
                known = found.setdefault(tool, [])
                known += [value for value in values if value not in known]
        return found

    def _redundant(self, mask: frozenset[str]) -> dict[str, tuple[Candidate, ...]]:
        remaining = [tool for name, tool in self.pool.items() if name not in mask and name not in self.inert]
        found = {tool: self.redundancy.candidates(self.pool[tool], remaining) for tool in sorted(mask)}
        return {tool: candidates for tool, candidates in found.items() if candidates}

    # -- what the manifest keeps -----------------------------------------------------------------------

    def _flags(self, found: _Found, does_nothing: bool) -> tuple[str, ...]:
        mask, reason = found.result
        raised = {
            "do_nothing_passes": does_nothing,
            "mask_empties_pool": reason == EMPTIES_POOL,
            "never_solved": reason == NO_SUCCESS,
            "query_grounded": not mask.isdisjoint(found.grounded),
            "semantically_redundant": not mask.isdisjoint(found.redundant),
        }
        kept = self.task.flags - _OF_A_MASK
        return tuple(sorted(kept.union(flag for flag, is_raised in raised.items() if is_raised)))

    def _evidence(self, found: _Found) -> dict[str, Any]:
        if not self.attempts and not self.successes:
            return {}
        candidates = {tool: [one.to_json() for one in some] for tool, some in found.redundant.items()}
        optional = {
            "status": found.status,
            "intersection": sorted(found.plain.tools) if found.plain.tools != found.result.tools else [],
            "refuted_mask": sorted(found.critical.tools) if found.refuters else [],
            "refuted_by": [f"{one.agent}, trial {one.trial}" for one in found.refuters],
            "witnesses": sorted({one.origin for one in self.successes if one.is_witness}),
            "query_grounded": found.grounded,
            "semantically_redundant": candidates,
            "slices": self._slices() if self.settings.sliced else [],
        }
        return {
            "attempts": dict(sorted(self.attempts.items())),
            "successes": dict(sorted(Counter(one.agent for one in self.own).items())),
            "tools": dict(sorted(Counter(tool for one in self.own for tool in one.tools).items())),
            **{name: value for name, value in optional.items() if value},
        }

    def _slices(self) -> list[dict[str, Any]]:
        return [
            {"agent": one.agent, "trial": one.trial, **_slice_to_json(self._study(one))}
            for one in self.successes
        ]


def _slice_to_json(study: Study) -> dict[str, Any]:
    replaceable = {"replaceable": sorted(study.replaceable)} if study.replaceable else {}
    return {**study.slice.to_json(), **replaceable}
