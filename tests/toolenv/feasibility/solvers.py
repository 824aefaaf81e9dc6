"""Scripted agents that solve tasks in different ways: each knows the reference solution, and adds to it."""

from __future__ import annotations

from collections.abc import Iterable

from toolenv.agents.oracle import Oracle
from toolenv.task import Task
from toolenv.types import NO_TOKENS, Action, Message, Observation, ToolCall, ToolCalls

LOOKING = ("ls", "pwd", "get_user_details", "list_all_product_types", "displayCarStatus", "get_watchlist")
"""Tools that only look, in the order of preference; ``get_user_details`` fails without arguments."""


class _Solver:
    """Plays the reference solution with something added."""

    name = ""

    def brief(self, task: Task) -> tuple[Action, ...]:
        solution = Oracle().brief(task)
        return tuple(self.change(task, solution)) if task.label == "feasible" else solution

    def change(self, task: Task, solution: tuple[Action, ...]) -> Iterable[Action]:
        raise NotImplementedError

    def act(self, observation: Observation, memory: tuple[Action, ...]) -> tuple[Action, tuple[Action, ...]]:
        return memory[0] if memory else Message("", usage=NO_TOKENS), memory[1:]


class LooksAround(_Solver):
    """Begins with a look, where the task has a tool for it."""

    name = "looks-around"

    def change(self, task: Task, solution: tuple[Action, ...]) -> Iterable[Action]:
        pool = {tool.name for tool in task.tools}
        found = [name for name in LOOKING if name in pool]
        return (ToolCalls((ToolCall(found[0]),)), *solution) if found else solution


class Repeats(_Solver):
    """Makes the last call of the solution's first decision twice, and one call that cannot work."""

    name = "repeats"

    def change(self, task: Task, solution: tuple[Action, ...]) -> Iterable[Action]:
        first = solution[0]
        if not isinstance(first, ToolCalls):
            return solution
        wrong = ToolCalls((ToolCall("no_such_tool", {"at": 1}),))
        return (wrong, first, ToolCalls((first.calls[-1],)), *solution[1:])
