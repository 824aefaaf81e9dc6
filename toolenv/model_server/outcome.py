"""What a request to a model server led to: a reply or a failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolenv.trouble import may_pass
from toolenv.types import NO_TOKENS, Usage


@dataclass(frozen=True, slots=True)
class Reply:
    """A server's answer that holds a message.

    Attributes:
        message: the message as the server sent it.
        finish_reason: why generation ended; ``""`` if not said.
        model: the model that answered, by the server's own account.
        usage: the tokens of this answer and of the attempts before it.
        id: the server's name of the answer; ``""`` if not said.
        recalled: whether it came out of the response cache.
    """

    message: Mapping[str, Any]
    finish_reason: str
    model: str
    usage: Usage
    id: str = ""
    recalled: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt, or all of them, led to no reply.

    Attributes:
        message: the server's words, or what happened to the connection.
        trouble: what happened, of :data:`toolenv.trouble.TROUBLES`.
        status: the HTTP status; ``None`` if there was no answer.
        delay: the seconds the server asked to wait.
        usage: the tokens of the attempts.
        attempts: how many there were.
    """

    message: str
    trouble: str
    status: int | None = None
    delay: float | None = None
    usage: Usage = NO_TOKENS
    attempts: int = 1

    @property
    def transient(self) -> bool:
        """Whether another attempt may go better."""
        return may_pass(self.trouble)

    @property
    def context_window(self) -> bool:
        """Whether the conversation is longer than the model's context."""
        return self.trouble == "budget/context_window"
