"""A task: what is asked, with which tools, and what would count as success."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from toolenv.types import Action, ChatMessage, Label, ToolSpec

if TYPE_CHECKING:
    from toolenv.trace import Trace


class Score(NamedTuple):
    """Whether a trace did what its task asks.

    Attributes:
        success: ``None`` where the task has no criterion that could be assessed.
        why: the first criterion that failed, for people; empty on success.
    """

    success: bool | None
    why: str = ""


class Reference(Protocol):
    """A task's truth. It never reaches an observation."""

    def score(self, trace: Trace) -> Score:
        """Judge what the trace did, from the trace alone: live and offline scoring are one thing."""
        ...

    def solution(self) -> tuple[Action, ...]:
        """Decisions that solve the task from its start, for the oracle; empty if none is known."""
        ...


@runtime_checkable
class TellsAccuracy(Protocol):
    """A reference that tells paper 2's accuracy apart from success; one that does not has success alone."""

    def is_accurate(self, trace: Trace) -> bool | None:
        """Whether the final state matches the truth, or the final message holds the answer (paper 2, §4).

        ``None`` where it has no meaning. It is asked of episodes that ended otherwise, too.
        """
        ...


@dataclass(frozen=True, slots=True)
class Turn:
    """A later user turn: its messages, and tools that are offered only from this turn on."""

    messages: tuple[ChatMessage, ...]
    adds: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Task:
    r"""One task, frozen.

    Attributes:
        id: unique within its suite.
        messages: the opening messages, the first user turn included.
        tools: the whole pool T.
        reference: the truth.
        label: y (§4.3): whether the offered tools suffice.
        mask: the tools taken away: C (§3.2), the critical ones, which leaves T' = T \ C; in a feasible
            task, decoys.
        turns: the user turns after the first.
        terminal_tools: tools whose call ends the episode.
        flags: what a reader of the numbers must know, e.g. ``can_never_pass``.
        metadata: anything else, for people.
    """

    id: str
    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...]
    reference: Reference
    label: Label = "feasible"
    mask: frozenset[str] = frozenset()
    turns: tuple[Turn, ...] = ()
    terminal_tools: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def masked(self, mask: frozenset[str]) -> Task:
        """This task without the critical tools ``mask``: infeasible by construction (§3.3)."""
        return replace(self, label="infeasible", mask=mask)

    def offered(self, turn: int = 0) -> tuple[ToolSpec, ...]:
        """The tools offered in user turn ``turn`` (from 0)."""
        hidden = self.mask.union(*(later.adds for later in self.turns[turn:]))
        return tuple(tool for tool in self.tools if tool.name not in hidden) if hidden else self.tools
