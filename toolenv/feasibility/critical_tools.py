"""Critical tools: what every successful trace of a task uses (paper 1, §3.2), and why a task has none.

This is evidence, and no proof, that the task cannot be done without them: nobody may have tried otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from toolenv.errors import UnknownNameError, UsageError

Criterion: TypeAlias = Literal["at-least-k", "all-agents"]
"""``at-least-k``: solved by k distinct agents; ``all-agents``: the paper's, solved by every agent that was
run, each with the same critical tools (§4.1, footnote)."""

CRITERIA: tuple[Criterion, ...] = ("at-least-k", "all-agents")

NOT_TRIED = "no agent was run on it"
NO_SUCCESS = "no successful trace"
TOO_FEW_AGENTS = "solved by too few agents"
NOT_ALL_AGENTS = "not solved by every agent"
NO_TOOL_USED = "a successful trace uses no tool"
INERT_ONLY = "the successful traces share inert tools only"
NOTHING_SHARED = "the successful traces share no tool"
AGENTS_DIFFER = "the agents' critical tools differ"
EMPTIES_POOL = "the mask empties the pool"
REFUTED = "solved without the masked tools"


@dataclass(frozen=True, slots=True)
class ToolUse:
    """S of one successful trace (§3.2).

    Attributes:
        agent: whose trace it is.
        tools: the tools it used, or was found to need.
        is_witness: whether it was made without the masked tools; see
            :class:`toolenv.feasibility.successful_traces.SuccessfulTrace`.
    """

    agent: str
    tools: frozenset[str]
    is_witness: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """What makes a task eligible.

    Attributes:
        criterion: which rule.
        agents_needed: k, for ``at-least-k``.
    """

    criterion: Criterion = "at-least-k"
    agents_needed: int = 2

    def __post_init__(self) -> None:
        if self.criterion not in CRITERIA:
            raise UnknownNameError("criterion", self.criterion, CRITERIA)
        needed = self.agents_needed
        if isinstance(needed, bool) or not isinstance(needed, int) or needed < 1:
            raise UsageError(f"agents_needed={needed!r}: give a whole number of at least 1")


class Critical(NamedTuple):
    """C (§3.2) of one task, or why there is none.

    Attributes:
        tools: the critical tools; empty exactly if there is a reason.
        reason: why the task is not eligible.
    """

    tools: frozenset[str]
    reason: str = ""


def critical_tools(
    uses: Sequence[ToolUse],
    pool: Collection[str],
    rule: Rule,
    *,
    agents: Collection[str] = (),
    inert: Collection[str] = (),
) -> Critical:
    """The critical tools of one task.

    Args:
        uses: S of each successful trace, an agent's repetitions and witnesses included.
        pool: T, the names of the task's tools.
        rule: what makes the task eligible.
        agents: every agent that was run; for ``all-agents``.
        inert: tools that are never critical.
    """
    solvers = {use.agent for use in uses if not use.is_witness}
    if not solvers:
        return _none(NO_SUCCESS)
    if rule.criterion == "at-least-k" and len(solvers) < rule.agents_needed:
        return _none(TOO_FEW_AGENTS)
    if rule.criterion == "all-agents" and not solvers >= set(agents):
        return _none(NOT_ALL_AGENTS)
    own = [use for use in uses if not use.is_witness]
    if rule.criterion == "all-agents" and len({_shared(own, agent, inert) for agent in solvers}) > 1:
        return _none(AGENTS_DIFFER)
    shared = frozenset.intersection(*(use.tools for use in own))
    if not shared.difference(inert):
        return _none(_why_nothing(own, shared, inert))
    tools = frozenset.intersection(shared, *(use.tools for use in uses)).difference(inert)
    if not tools:
        return _none(REFUTED)
    return _none(EMPTIES_POOL) if tools.issuperset(pool) else Critical(tools)


def _none(reason: str) -> Critical:
    return Critical(frozenset(), reason)


def _shared(uses: Sequence[ToolUse], agent: str, inert: Collection[str]) -> frozenset[str]:
    """What all of one agent's successful traces use."""
    return frozenset.intersection(*(use.tools for use in uses if use.agent == agent)).difference(inert)


def _why_nothing(uses: Sequence[ToolUse], shared: frozenset[str], inert: Collection[str]) -> str:
    if not all(use.tools for use in uses):
        return NO_TOOL_USED
    uses_inert_only = any(not use.tools.difference(inert) for use in uses)
    return INERT_ONLY if shared or uses_inert_only else NOTHING_SHARED
