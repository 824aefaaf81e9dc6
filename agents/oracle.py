"""The reference agent that knows the truth: the ceiling of every table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolenv.errors import UsageError
from toolenv.task import Task
from toolenv.types import NO_TOKENS, Action, Message, Observation, Stop

from .scripted import next_action


class Oracle:
    """Plays a task's own solution; stops where the task is infeasible."""

    name = "oracle"

    def brief(self, task: Task) -> tuple[Action, ...]:
        """The solution, decision by decision."""
        if task.label == "infeasible":
            return (Stop("a required tool is not offered", usage=NO_TOKENS),)
        return task.reference.solution() or (Message("No solution is known.", usage=NO_TOKENS),)

    def act(self, observation: Observation, memory: tuple[Action, ...]) -> tuple[Action, tuple[Action, ...]]:
        """The next decision of the solution."""
        return next_action(memory)


def make(argument: str, options: Mapping[str, Any]) -> Oracle:
    """``oracle`` takes no argument."""
    if argument:
        raise UsageError(f"oracle:{argument}: the oracle takes no argument")
    return Oracle()
