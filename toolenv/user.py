"""Simulated users: who talks to the agent where a task's later user turns are not fixed beforehand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from toolenv.task import Task
from toolenv.trace import Step
from toolenv.types import ChatMessage, Message


class User(Protocol):
    """Plays the user of an episode. Stateless between calls, so that threads may share it.

    A suite that offers one holds it in an attribute ``user`` (:class:`toolenv.source.TaskSource` reads it);
    its tasks then open without a user's message and have no ``turns``. The cap on decisions holds for the
    whole conversation.

    Attributes:
        name: who it is, for readers.
    """

    name: str

    def reply(self, task: Task, said: tuple[ChatMessage, ...], seed: int) -> str | None:
        """What the user says next.

        Args:
            task: the task, truth included; what the user says must give nothing of it away but the request.
            said: what user and agent have said so far, as ``user`` and ``assistant`` messages without tool
                calls; empty at the start, where the user speaks first.
            seed: the episode's seed.

        Returns:
            The user's words; ``None`` ends the episode, and stands for nothing at the start.

        Raises:
            ServerError: the user's model failed; the episode is invalid.
        """
        ...


def conversation(opening: str, steps: Iterable[Step]) -> tuple[ChatMessage, ...]:
    """What a simulated user and the agent have said to each other; for :meth:`User.reply`."""
    said = [ChatMessage("user", opening)]
    for step in steps:
        if isinstance(step.action, Message):
            said.append(ChatMessage("assistant", step.action.text))
        if step.reply is not None:
            said.append(ChatMessage("user", step.reply))
    return tuple(said)
