"""Ph: a kernel perturbed by a recoverable hazard (paper 2, §3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from toolenv.kernel.protocol import Kernel, Slot, World
from toolenv.quick import new_tuple
from toolenv.types import ToolCall, ToolResult, ToolSpec


class Answer(Protocol):
    """The wrapped kernel's answer to a call, at the slot that is being perturbed."""

    def __call__(self, call: ToolCall) -> ToolResult:
        """Run a call on the world. Do so once, or not at all."""
        ...

    def aside(self, call: ToolCall) -> ToolResult:
        """What a call would return, without its effects: it runs on a copy of the world."""
        ...


class Hazard(Protocol):
    """A perturbation of some tools: a pure function of the call, its slot and whatever it was built from.

    Attributes:
        armed: the names of those tools; the calls of all others pass.
        facts: what is armed, for traces: JSON values, the paper's name of the hazard under ``"name"``.
    """

    armed: frozenset[str]

    @property
    def facts(self) -> Mapping[str, Any]:
        """See the class."""
        ...

    def tools(self, offered: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
        """The documentation the agent sees, which a drift may have outdated."""
        ...

    def perturb(self, call: ToolCall, slot: Slot, answer: Answer) -> Perturbed:
        """The answer to a call of an armed tool.

        A hazard that looks at nothing but the clean result has a method ``changed(clean)``, too, which gives
        the perturbed one or ``None``: a shorter way to the same.
        """
        ...


class Perturbed:
    """What a hazard made of one call.

    Args:
        result: what the agent is shown.
        clean: what it would have been shown; ``None`` if the hazard let the call pass.
    """

    __slots__ = ("clean", "result")

    def __init__(self, result: ToolResult, clean: ToolResult | None = None) -> None:
        self.result, self.clean = result, clean


class PerturbedWorld:
    """A world and how often its episode has called each armed tool, so that hazards need no memory."""

    __slots__ = ("attempts", "world")

    def __init__(self, world: World, attempts: Mapping[str, int] | None = None) -> None:
        self.world, self.attempts = world, dict(attempts or {})

    @property
    def listed(self) -> Any:
        """See :func:`toolenv.kernel.protocol.shown_tools`."""
        return getattr(self.world, "listed", None)

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Run a tool of the world."""
        return self.world.call(name, arguments)

    def close(self) -> None:
        """Let go of what the world holds, if it holds anything."""
        close = getattr(self.world, "close", None)
        if close is not None:
            close()

    def fork(self) -> PerturbedWorld:
        """An independent copy."""
        return PerturbedWorld(self.world.fork(), self.attempts)

    def digest(self) -> str:
        """The world's: what a hazard did to the agent's view is no part of it."""
        return self.world.digest()

    def view(self) -> Any:
        """The world's."""
        return self.world.view()


class PerturbedKernel:
    """Any kernel seen through a hazard.

    The record of every result says under ``"hazard"`` what is armed and whether it fired; of a call on which
    it fired also what the agent would have been shown without it.
    """

    def __init__(self, kernel: Kernel, hazard: Hazard) -> None:
        self._kernel, self._hazard, self._armed = kernel, hazard, hazard.armed
        self._changed: Callable[[ToolResult], ToolResult | None] | None = getattr(hazard, "changed", None)
        self._facts = dict(hazard.facts)
        self._passed = {"hazard": {**self._facts, "fired": False}}
        self._offered: dict[int, tuple[tuple[ToolSpec, ...], tuple[ToolSpec, ...]]] = {}

    def tools(self, turn: int = 0) -> tuple[ToolSpec, ...]:
        """The tools as the hazard documents them."""
        clean = self._kernel.tools(turn)
        known = self._offered.get(turn)
        if known is None or known[0] is not clean:
            known = self._offered[turn] = (clean, self._hazard.tools(clean))
        return known[1]

    def start(self, seed: int) -> PerturbedWorld:
        """The wrapped kernel's world."""
        return PerturbedWorld(self._kernel.start(seed))

    def call(self, state: World, call: ToolCall, slot: Slot) -> ToolResult:
        """Answer one call through the hazard."""
        assert isinstance(state, PerturbedWorld)
        name = call.name
        if name not in self._armed:
            return _noted(self._kernel.call(state.world, call, slot), self._passed)
        attempt = state.attempts.get(name, 0)
        state.attempts[name] = attempt + 1
        slot = new_tuple(Slot, (slot.number, slot.turn, attempt))
        if self._changed is not None:
            clean = self._kernel.call(state.world, call, slot)
            result = self._changed(clean)
            return _noted(clean, self._passed) if result is None else self._fired(result, clean, attempt)
        perturbed = self._hazard.perturb(call, slot, _Answer(self._kernel, state.world, slot))
        if perturbed.clean is None:
            return _noted(perturbed.result, self._passed)
        return self._fired(perturbed.result, perturbed.clean, attempt)

    def _fired(self, result: ToolResult, clean: ToolResult, attempt: int) -> ToolResult:
        content, kind, full, _ = clean
        text = content if full is None else full
        fired = {**self._facts, "fired": True, "attempt": attempt, "clean": text, "clean_kind": kind}
        return _noted(result, {"hazard": fired})


class _Answer:
    __slots__ = ("kernel", "slot", "world")

    def __init__(self, kernel: Kernel, world: World, slot: Slot) -> None:
        self.kernel, self.world, self.slot = kernel, world, slot

    def __call__(self, call: ToolCall) -> ToolResult:
        return self.kernel.call(self.world, call, self.slot)

    def aside(self, call: ToolCall) -> ToolResult:
        return self.kernel.call(self.world.fork(), call, self.slot)


def _noted(result: ToolResult, facts: Mapping[str, Any]) -> ToolResult:
    content, kind, full, record = result
    return new_tuple(ToolResult, (content, kind, full, facts if record is None else {**record, **facts}))
