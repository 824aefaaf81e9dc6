"""Playing decisions in a masked environment, for those who look for witnesses and those who check them."""

from __future__ import annotations

from collections.abc import Iterable

from toolenv.env import ToolEnv
from toolenv.errors import UsageError
from toolenv.source import TaskSource
from toolenv.suite import Suite
from toolenv.task import Task
from toolenv.trace import Trace
from toolenv.types import Action

CONDITION = "infeasible"


class Stage:
    """One masked task in its environment, to play decisions in as often as one likes.

    Args:
        suite: the suite.
        task: one of its tasks, masked.

    Raises:
        UsageError: a simulated user talks in this suite, so that no episode can be played again.
    """

    def __init__(self, suite: Suite, task: Task) -> None:
        if getattr(suite, "user", None) is not None:
            raise UsageError(f"suite {suite.name}: certificates are about tasks without a simulated user")
        source = TaskSource(suite, CONDITION, {task.id: task}, {task.id: task}, 0.0, suite.max_turns)
        self._env, self.task, self.cap = ToolEnv(source), task, suite.max_turns

    def play(self, actions: Iterable[Action]) -> Trace:
        """The episode of these decisions; those after its end are not taken."""
        self._env.reset(seed=0, options={"task_id": self.task.id})
        for action in actions:
            *_, terminated, truncated, _ = self._env.step(action)
            if terminated or truncated:
                break
        return self._env.trace
