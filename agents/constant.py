"""Agents that decide without looking: the rows every other agent must beat."""

from __future__ import annotations

from typing import Any

from toolenv.types import NO_TOKENS, Action, Message, Observation


class Constant:
    """Makes the same decision whatever it sees."""

    def __init__(self, action: Action, name: str) -> None:
        self.action, self.name = action, name

    def act(self, observation: Observation, memory: Any) -> tuple[Action, Any]:
        """The one decision."""
        return self.action, memory


def say_nothing(name: str) -> Constant:
    """An agent that closes every user turn with an empty message."""
    return Constant(Message("", usage=NO_TOKENS), name)
