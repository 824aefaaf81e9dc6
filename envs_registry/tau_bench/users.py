"""Simulated users of τ-bench: one that reads from a script, and a model that plays the instruction."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from toolenv.errors import ServerError, UnknownNameError, UsageError
from toolenv.task import Task
from toolenv.types import ChatMessage
from toolenv.user import User

if TYPE_CHECKING:
    import openai

STOP_MARK = "###STOP###"
"""Anywhere in a model's reply, it ends the conversation (TOOLS.md, section 3)."""

GREETING = "Hi! How can I help you today?"
"""What the model is told the agent said first. Agents never see it."""

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
        retries: how often a failed request is sent again.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        *,
        temperature: float | None = 0.0,
        timeout: float = 120.0,
        retries: int = 5,
    ) -> None:
        self.name = f"llm:{model}"
        self._model, self._base_url, self._temperature = model, base_url, temperature
        self._timeout, self._retries = timeout, retries
        self._connect()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_client", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._connect()

    def reply(self, task: Task, said: tuple[ChatMessage, ...], seed: int) -> str | None:
        """Ask the model for the user's next message.

        Raises:
            ServerError: the server gave no text.
        """
        import openai

        sampling: dict[str, Any] = {} if self._temperature is None else {"temperature": self._temperature}
        try:
            answer = self._server().chat.completions.create(
                model=self._model, messages=user_view(task, said), **sampling
            )
        except openai.OpenAIError as error:
            raise ServerError(f"the simulated user's server: {error}") from error
        text = visible_text(answer)
        if not text:
            raise ServerError("the simulated user's model sent no text")
        # As upstream does, a first message is not looked through: no conversation ends before it began.
        return None if said and STOP_MARK in text else text

    def _connect(self) -> None:
        self._client: openai.OpenAI | None = None
        self._lock = threading.Lock()

    def _server(self) -> openai.OpenAI:
        """The client, made at first use."""
        with self._lock:
            if self._client is None:
                import os

                import openai

                self._client = openai.OpenAI(
                    base_url=self._base_url,
                    api_key=os.environ.get("OPENAI_API_KEY") or "none",
                    timeout=self._timeout,
                    max_retries=self._retries,
                )
            return self._client


def visible_text(completion: Any) -> str:
    """The text of a completion, reasoning written before it left out; empty where a server sent none."""
    choices = getattr(completion, "choices", None)
    message = getattr(choices[0], "message", None) if choices else None
    content = getattr(message, "content", None)
    text = content.strip() if isinstance(content, str) else ""
    if not text.startswith("<think>"):
        return text
    _, ended, said = text.rpartition("</think>")
    return said.strip() if ended else ""


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


def make_user(spec: str) -> User:
    """``scripted``, ``llm:MODEL`` or ``llm:MODEL@URL``.

    Raises:
        UsageError: anything else.
    """
    kind, separator, argument = spec.partition(":")
    if kind == "scripted" and not separator:
        return ScriptedUser()
    if kind != "llm":
        raise UnknownNameError("user", spec, ("scripted", "llm:MODEL", "llm:MODEL@URL"))
    model, _, url = argument.partition("@http")
    if not model:
        raise UsageError(f"user {spec!r}: name the model, as in llm:MODEL or llm:MODEL@URL")
    return ModelUser(model, f"http{url}" if url else None)
