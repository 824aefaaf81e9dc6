"""Ph: a kernel perturbed by a recoverable hazard (paper 2, §3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from toolenv.kernel.protocol import Kernel, Slot, World
from toolenv.types import ToolCall, ToolResult, ToolSpec

Answer: TypeAlias = Callable[[ToolCall], ToolResult]
"""The clean kernel's answer to a call, at the slot being perturbed."""


class Hazard(Protocol):
    """A perturbation: a pure function of the call, its slot and whatever it was built from.

    Attributes:
        name: one of paper 2's five, e.g. ``"output-drift"``. It never reaches the agent.
    """

    name: str

    def tools(self, offered: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
        """The documentation the agent sees, which a drift may have outdated."""
        ...

    def perturb(self, call: ToolCall, slot: Slot, answer: Answer) -> ToolResult:
        """The answer to a call. ``answer`` is the clean kernel; call it once, or not at all."""
        ...


class PerturbedKernel:
    """Any kernel seen through a hazard."""

    def __init__(self, kernel: Kernel, hazard: Hazard) -> None:
        self._kernel, self._hazard = kernel, hazard

    def tools(self, turn: int = 0) -> tuple[ToolSpec, ...]:
        """The tools as the hazard documents them."""
        return self._hazard.tools(self._kernel.tools(turn))

    def start(self, seed: int) -> World:
        """The wrapped kernel's world."""
        return self._kernel.start(seed)

    def call(self, state: World, call: ToolCall, slot: Slot) -> ToolResult:
        """Answer one call through the hazard."""
        return self._hazard.perturb(call, slot, lambda passed: self._kernel.call(state, passed, slot))
