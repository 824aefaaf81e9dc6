"""The contracts of worlds and kernels.

A *world* is the state behind a task's tools. A *kernel* answers calls on it: it is a pure function of
(state, call, slot, seed), with no module or process globals and no clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from toolenv.errors import ToolFault
from toolenv.types import ToolCall, ToolResult, ToolSpec

ArgumentPolicy: TypeAlias = Literal["coerce", "strict", "record"]
"""What happens to arguments that break a tool's schema.

``coerce``: values that plainly mean the right type are converted (``"3"`` → 3), the rest are refused.
``strict``: refused. ``record``: noted in the trace, and the world decides.
"""


class Slot(NamedTuple):
    """Where in the episode a call stands; all numbers count from 0.

    Attributes:
        number: its number among all calls.
        turn: the user turn.
        attempt: its number among the calls of its tool; only kernels with a hazard count those.
    """

    number: int
    turn: int = 0
    attempt: int = 0


class Noted(NamedTuple):
    """A tool's value with facts for the trace; agents are shown the value alone.

    Attributes:
        value: what the tool returns; of a designed failure, what the agent is to read.
        record: the facts, JSON values, e.g. ``{"source": "recorded"}``; see ``ToolResult.record``.
        failed: whether it is a designed failure, as :class:`toolenv.errors.ToolError` says otherwise.
    """

    value: Any
    record: Mapping[str, Any]
    failed: bool = False


class World(Protocol):
    """Mutable state behind a task's tools; one per episode."""

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Run a tool. The arguments are read-only: a world copies what it keeps.

        Returns:
            The tool's value, or :class:`Noted` with the value and facts for the trace.

        Raises:
            ToolError: a designed failure, whose text the agent reads.
            Exception: anything else is a bug of the tool (:class:`toolenv.errors.ToolFault`).
        """
        ...

    def fork(self) -> World:
        """An independent copy."""
        ...

    def digest(self) -> str:
        """A short string equal for two worlds exactly if the judge sees them as equal."""
        ...

    def view(self) -> Any:
        """A JSON-able copy of what the judge sees."""
        ...


class NoWorld:
    """What stands for the world of an episode before it is made, and where it cannot be made."""

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Nothing can be called."""
        raise ToolFault(f"tool {name!r} was called before there was a world")

    def fork(self) -> World:
        """Itself."""
        return self

    def digest(self) -> str:
        """Of nothing."""
        return ""

    def view(self) -> Any:
        """Nothing."""
        return None


NO_WORLD = NoWorld()


def shown_tools(state: World, offered: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
    """The tools of those offered that an agent is shown.

    All, unless the world has a set of names ``listed``: then the agent has to search for the others, and sees
    those it has found. What is offered but not listed answers all the same.
    """
    listed = getattr(state, "listed", None)
    return offered if listed is None else tuple(tool for tool in offered if tool.name in listed)


class Kernel(Protocol):
    """How the world answers."""

    def tools(self, turn: int = 0) -> tuple[ToolSpec, ...]:
        """The tools offered in user turn ``turn``."""
        ...

    def start(self, seed: int) -> World:
        """A fresh world."""
        ...

    def call(self, state: World, call: ToolCall, slot: Slot) -> ToolResult:
        """Answer one call; an agent's mistake is a result, a tool's bug a ``ToolFault``."""
        ...
