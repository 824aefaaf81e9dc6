"""An agent that follows a list of actions, for tests and studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolenv.task import Task
from toolenv.types import NO_TOKENS, Action, Message, Observation


class Scripted:
    """Plays the same actions in every episode, then closes with an empty message.

    Args:
        actions: the decisions, in order. Those without a usage count as costing no tokens.
        name: shown in tables.
    """

    def __init__(self, actions: Sequence[Action], name: str = "scripted") -> None:
        self.actions, self.name = tuple(actions), name

    def brief(self, task: Task) -> tuple[Action, ...]:
        """The script, from its start; the task is not looked at."""
        return self.actions

    def act(self, observation: Observation, memory: tuple[Action, ...]) -> tuple[Action, tuple[Action, ...]]:
        """The next action."""
        return next_action(memory)


def next_action(script: tuple[Action, ...]) -> tuple[Action, tuple[Action, ...]]:
    """The first action of a script, and the rest of it."""
    if not script:
        return Message("", usage=NO_TOKENS), ()
    action = script[0] if script[0].usage is not None else replace(script[0], usage=NO_TOKENS)
    return action, script[1:]
