"""A task's tools as a world: clean ones, or perturbed ones with the clean ones beside them for comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envs_registry.tool_bench_x.compartment import Compartment
from toolenv.canonical import digest
from toolenv.errors import ToolError
from toolenv.kernel.protocol import Noted
from toolenv.rendering import render
from toolenv.sandbox import Raised, Returned


class ToolWorld:
    """Clean tools. What they keep is a function of the calls made, which is what two worlds differ by.

    Args:
        tools: the module.
    """

    def __init__(self, tools: Compartment) -> None:
        self._tools = tools

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Run a tool; an exception that it raises is what the agent reads."""
        outcome = self._tools.call(name, arguments)
        if isinstance(outcome, Raised):
            raise ToolError(error_text(outcome))
        return outcome.value

    def fork(self) -> ToolWorld:
        """An independent copy."""
        return ToolWorld(self._tools.copy())

    def close(self) -> None:
        """Stop the processes; see :meth:`Compartment.close`."""
        self._tools.close()

    def digest(self) -> str:
        """Equal after the same calls in the same order."""
        return digest([list(one) for one in self._tools.history])

    def view(self) -> Any:
        """The calls made."""
        return {"calls": [{"tool": name, "arguments": dict(given)} for name, given in self._tools.history]}


class PerturbedToolWorld(ToolWorld):
    """Perturbed tools. Each call is made on the clean ones, too: where they differ, the hazard fired.

    Args:
        tools: the perturbed module.
        clean: the clean one.
        facts: what traces say of the hazard.
    """

    def __init__(self, tools: Compartment, clean: Compartment, facts: Mapping[str, Any]) -> None:
        super().__init__(tools)
        self._clean, self._facts = clean, facts

    def call(self, name: str, arguments: Mapping[str, Any]) -> Noted:
        """Run a tool."""
        attempt = sum(made == name for made, _ in self._tools.history)
        outcome, clean = self._tools.call(name, arguments), self._clean.call(name, arguments)
        record = {"hazard": {**self._facts, "fired": False}}
        if outcome != clean:
            kind = "tool_error" if isinstance(clean, Raised) else "ok"
            fired = {"fired": True, "attempt": attempt, "clean": shown_text(clean), "clean_kind": kind}
            record = {"hazard": {**self._facts, **fired}}
        if isinstance(outcome, Raised):
            return Noted(error_text(outcome), record, failed=True)
        return Noted(outcome.value, record)

    def close(self) -> None:
        """Stop the processes."""
        super().close()
        self._clean.close()

    def fork(self) -> PerturbedToolWorld:
        """An independent copy."""
        return PerturbedToolWorld(self._tools.copy(), self._clean.copy(), self._facts)


def error_text(outcome: Raised) -> str:
    """An exception as the agent reads it."""
    return f"Error: {outcome}"


def shown_text(outcome: Returned | Raised) -> str:
    """What the agent reads of a result."""
    return error_text(outcome) if isinstance(outcome, Raised) else render(outcome.value)
