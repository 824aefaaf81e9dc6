"""Simulated users: who talks to the agent where a task's later user turns are not fixed beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from toolenv.task import Task
from toolenv.trace import Continuation, Step, Trace
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


class RecordedUser:
    """A simulated user who says again what was recorded.

    Args:
        lines: what to say, the opening first; after the last the conversation ends.
    """

    name = "recorded"

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = tuple(lines)

    @classmethod
    def of(cls, trace: Trace) -> RecordedUser:
        """The user of a trace; what it was told where it went on is in the user's name, too."""
        lines = [trace.opening]
        for number, step in enumerate(trace.steps):
            if trace.continuation is not None and trace.continuation.steps == number:
                lines.append(trace.continuation.message)
            if step.reply is not None:
                lines.append(step.reply)
        return cls(lines)

    def reply(self, task: Task, said: tuple[ChatMessage, ...], seed: int) -> str | None:
        """The line after those already said."""
        spoken = sum(message.role == "user" for message in said)
        return self._lines[spoken] if spoken < len(self._lines) else None


def conversation(
    opening: str, steps: Iterable[Step], continuation: Continuation | None = None
) -> tuple[ChatMessage, ...]:
    """What a simulated user and the agent have said to each other; for :meth:`User.reply`.

    Args:
        opening: what the user said first.
        steps: the decisions so far.
        continuation: where the episode was told to go on, in the user's name.
    """
    said = [ChatMessage("user", opening)]
    for number, step in enumerate(steps):
        if continuation is not None and continuation.steps == number:
            said.append(ChatMessage("user", continuation.message))
        if isinstance(step.action, Message):
            said.append(ChatMessage("assistant", step.action.text))
        if step.reply is not None:
            said.append(ChatMessage("user", step.reply))
    return tuple(said)
