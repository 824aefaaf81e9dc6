r"""A kernel without the critical tools: T' = T \ C (paper 1, §3.3)."""

from __future__ import annotations

from toolenv.kernel.clean import unknown_tool
from toolenv.kernel.protocol import Kernel, Slot, World, shown_tools
from toolenv.names import lookup_table
from toolenv.types import ToolCall, ToolResult, ToolSpec


class MaskedKernel:
    """Any kernel with some tools taken away; an agent cannot tell a masked tool from one that never was.

    Args:
        kernel: the kernel to mask.
        mask: names of the tools to take away.
        turns: how many user turns the task has.
    """

    def __init__(self, kernel: Kernel, mask: frozenset[str], turns: int = 1) -> None:
        self._kernel, self._mask = kernel, mask
        self._offered = tuple(
            tuple(tool for tool in kernel.tools(turn) if tool.name not in mask) for turn in range(turns)
        )
        every = kernel.tools(turns - 1)
        self._masked_names = {alias for alias, tool in lookup_table(every).items() if tool.name in mask}

    def tools(self, turn: int = 0) -> tuple[ToolSpec, ...]:
        """The wrapped kernel's tools, less the masked ones."""
        return self._offered[turn]

    def start(self, seed: int) -> World:
        """The wrapped kernel's world: masking takes tools away, not state."""
        return self._kernel.start(seed)

    def call(self, state: World, call: ToolCall, slot: Slot) -> ToolResult:
        """Answer one call."""
        masked = call.name in self._masked_names
        result = None if masked else self._kernel.call(state, call, slot)
        if result is not None and result.kind != "unknown_tool":
            return result
        shown = shown_tools(state, self._offered[slot.turn])
        return unknown_tool(call.name, shown, "masked_tool" if masked else "unknown_tool")
