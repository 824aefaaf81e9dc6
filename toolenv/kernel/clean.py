"""P0: a valid call returns what the documentation says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from toolenv.arguments import check_arguments, fits
from toolenv.errors import RAISED, ServerError, ToolError, ToolFault, words_of
from toolenv.json_values import clean_json
from toolenv.kernel.protocol import ArgumentPolicy, Noted, Slot, World, shown_tools
from toolenv.quick import new_tuple
from toolenv.rendering import cut, render
from toolenv.task import Task
from toolenv.types import ResultKind, ToolCall, ToolResult, ToolSpec


class WorldFactory(Protocol):
    """Builds the world of one episode; a suite's ``world`` method."""

    def __call__(self, task: Task, seed: int) -> World:
        """A fresh world."""
        ...


class CleanKernel:
    """The kernel of a task as its data set ships it.

    Args:
        task: the task; its mask is not looked at (see :class:`toolenv.kernel.masked.MaskedKernel`).
        make_world: builds the world of an episode.
        arguments: what happens to arguments that break a tool's schema.
        result_limit: characters of a result an agent sees; ``None`` for no limit.
    """

    def __init__(
        self,
        task: Task,
        make_world: WorldFactory,
        arguments: ArgumentPolicy = "coerce",
        result_limit: int | None = None,
    ) -> None:
        self._task, self._make_world = task, make_world
        self._arguments: ArgumentPolicy = arguments
        self._limit = result_limit
        unmasked = Task(id=task.id, messages=(), tools=task.tools, reference=task.reference, turns=task.turns)
        self._offered = tuple(unmasked.offered(turn) for turn in range(len(task.turns) + 1))
        self._specs: tuple[Mapping[str, ToolSpec], ...] = tuple(
            {tool.name: tool for tool in tools} for tools in self._offered
        )

    def tools(self, turn: int = 0) -> tuple[ToolSpec, ...]:
        """The pool, less what only a later user turn brings."""
        return self._offered[turn]

    def start(self, seed: int) -> World:
        """A fresh world."""
        return self._make_world(self._task, seed)

    def call(self, state: World, call: ToolCall, slot: Slot) -> ToolResult:
        """Answer one call, made under the tool's own name.

        Raises:
            ServerError: a model that plays the tool failed.
            ToolFault: the tool itself is broken.
        """
        spec = self._specs[slot.turn].get(call.name)
        if spec is None:
            return unknown_tool(call.name, shown_tools(state, self._offered[slot.turn]))
        if call.problem:
            return ToolResult(
                f"Error: the arguments of {call.name} could not be read: {call.problem}", "invalid_arguments"
            )
        arguments = call.arguments
        if type(arguments) is dict and fits(spec, arguments, self._arguments):
            return self._run(state, call.name, arguments, None)
        checked = check_arguments(spec, arguments, self._arguments)
        if checked.problem:
            return ToolResult(f"Error: {checked.problem}", "invalid_arguments", record=checked.record)
        return self._run(state, call.name, checked.arguments, checked.record)

    def _run(
        self, state: World, name: str, arguments: Mapping[str, Any], record: Mapping[str, Any] | None
    ) -> ToolResult:
        kind: ResultKind = "ok"
        try:
            try:
                value = state.call(name, arguments)
            except ToolError as failure:
                kind, value = "tool_error", str(failure)
            if type(value) is Noted:
                noted = clean_json(value.record)[0]
                kind, record = "tool_error" if value.failed else kind, {**(record or {}), **noted}
                value = value.value
        except ServerError:
            raise  # of a model that plays the tool: no bug, and it may go better
        except RAISED as error:
            raise ToolFault(f"tool {name!r} raised {words_of(error)}") from error
        return shown(value, kind, record, self._limit)


def shown(
    value: Any, kind: ResultKind, record: Mapping[str, Any] | None = None, limit: int | None = None
) -> ToolResult:
    """A tool's value as the agent reads it, and in full for the judge where that differs."""
    text = render(value)
    content = text if limit is None or len(text) <= limit else cut(text, limit)
    full = value if isinstance(value, str) else text
    return new_tuple(ToolResult, (content, kind, None if full == content else full, record))


def unknown_tool(name: str, offered: Sequence[ToolSpec], kind: ResultKind = "unknown_tool") -> ToolResult:
    """The answer to a call of a tool that is not offered; the same whether it was masked or never existed."""
    names = ", ".join(tool.wire_name or tool.name for tool in offered) or "none"
    return ToolResult(f"Error: there is no tool named {name[:100]!r}. Tools offered: {names}.", kind)
