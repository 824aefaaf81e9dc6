"""Simulated users of τ-bench: one that reads from a script, and a model that plays the instruction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolenv.errors import (
    ContextWindowError,
    PreflightError,
    ServerError,
    UnknownNameError,
    UsageError,
    server_error_of,
)
from toolenv.model_server import ChatServer, Failure, visible_text
from toolenv.task import Task
from toolenv.types import ChatMessage, Usage
from toolenv.user import User

STOP_MARK = "###STOP###"
"""Anywhere in a model's reply, it ends the conversation (TOOLS.md, section 3)."""

GREETING = "Hi! How can I help you today?"
"""What the model is told the agent said first. Agents never see it."""

PREFLIGHT_SECONDS = 60.0
"""How long the model's server may take to answer the request made before a run."""

PROMPT = """\
Play a customer who is talking to a service agent.

Instruction: {instruction}

- Write what the customer says next, and nothing else: one short message at a time.
- The instruction is yours alone. Never quote it; say things in your own words, as its character would.
- Bring things up one by one, as the conversation calls for them, rather than all at once.
- Say only what the instruction holds. If you are asked for something it does not hold, such as an order \
number, say that you do not know it. Never make anything up.
- Once everything you want is settled, answer with {stop_mark} alone. That ends the conversation.\
"""
"""The model's system message; upstream's rules (TOOLS.md, section 6) in our own words."""


class ScriptedUser:
    """Says its lines in order, then ends the conversation.

    Args:
        lines: what to say; by default the task's whole instruction at once.
    """

    name = "scripted"

    def __init__(self, lines: Sequence[str] | None = None) -> None:
        self._lines = lines

    def reply(self, task: Task, said: tuple[ChatMessage, ...], seed: int) -> str | None:
        """The line after those already said."""
        lines = (task.metadata["instruction"],) if self._lines is None else self._lines
        spoken = sum(message.role == "user" for message in said)
        return lines[spoken] if spoken < len(lines) else None


class ModelUser:
    """A model on an OpenAI-compatible server; may be shared by threads and pickled.

    Args:
        model: the server's name of the model.
        base_url: e.g. ``"http://127.0.0.1:8000/v1"``; ``None`` is ``OPENAI_BASE_URL`` or OpenAI itself.
        temperature: ``None`` is not sent, as upstream does.
        timeout: seconds to wait for a reply.
        attempts: how often a request is tried.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        *,
        temperature: float | None = 0.0,
        timeout: float = 120.0,
        attempts: int = 6,
    ) -> None:
        self.name = f"llm:{model}"
        self._model, self._temperature = model, temperature
        self._server = ChatServer(base_url=base_url, timeout=timeout, attempts=attempts)

    def preflight(self) -> Usage:
        """One request, made as a run would make it, so that a bad set-up costs no run.

        Returns:
            What it cost; unknown if the server reports no usage.

        Raises:
            PreflightError: the server said something else, or nothing within :data:`PREFLIGHT_SECONDS`.
        """
        server = self._server.hurried(PREFLIGHT_SECONDS)
        asked = self._request([{"role": "user", "content": GREETING}])
        outcome = server.recall(asked) or server.try_complete(asked)
        if isinstance(outcome, Failure):
            silence = f"; it had {server.timeout:g} s to answer one request" if outcome.status is None else ""
            raise PreflightError(
                f"the simulated user's server at {server.url}, model {self._model!r}: "
                f"{outcome.message}{silence}",
                outcome.usage,
            )
        return outcome.usage

    def _request(self, messages: list[Any]) -> dict[str, Any]:
        sampling = {} if self._temperature is None else {"temperature": self._temperature}
        return {"model": self._model, "messages": messages, **sampling}

    def reply(self, task: Task, said: tuple[ChatMessage, ...], seed: int) -> str | None:
        """Ask the model for the user's next message.

        Raises:
            ServerError: the server gave no text.
        """
        try:
            text = visible_text(self._server.complete(self._request(user_view(task, said))))
        except (ServerError, ContextWindowError) as error:
            # A user who cannot go on is no failure of the agent's.
            raise server_error_of("user", error, "the simulated user's server") from error
        if not text:
            told = "the simulated user's model sent no text"
            raise ServerError(told, trouble="server/bad_answer", role="user")
        # As upstream does, a first message is not looked through: no conversation ends before it began.
        return None if said and STOP_MARK in text else text


def user_view(task: Task, said: Sequence[ChatMessage]) -> list[Any]:
    """The conversation as the user's model sees it: its own words are the assistant's.

    It never sees tool calls or their results.
    """
    instruction = task.metadata["instruction"]
    opening = [
        {"role": "system", "content": PROMPT.format(instruction=instruction, stop_mark=STOP_MARK)},
        {"role": "user", "content": GREETING},
    ]
    other = {"user": "assistant", "assistant": "user"}
    return opening + [{"role": other[message.role], "content": message.content} for message in said]


def make_user(spec: str | User) -> User:
    """``scripted``, ``llm:MODEL`` or ``llm:MODEL@URL``; what is a user already stays as it is.

    Raises:
        UsageError: anything else.
    """
    if not isinstance(spec, str):
        if isinstance(spec, type) or not callable(getattr(spec, "reply", None)):
            raise UsageError(f"user={spec!r}: give 'scripted', 'llm:MODEL', 'llm:MODEL@URL' or a user")
        return spec
    kind, separator, argument = spec.partition(":")
    if kind == "scripted" and not separator:
        return ScriptedUser()
    if kind != "llm":
        raise UnknownNameError("user", spec, ("scripted", "llm:MODEL", "llm:MODEL@URL"))
    model, _, url = argument.partition("@http")
    if not model:
        raise UsageError(f"user {spec!r}: name the model, as in llm:MODEL or llm:MODEL@URL")
    return ModelUser(model, f"http{url}" if url else None)
