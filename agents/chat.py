"""``chat:MODEL``: a model behind any OpenAI-compatible server as a policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any, NamedTuple

from toolenv.errors import UnknownNameError
from toolenv.model_server import CLOCK, ChatServer, Clock, Reply
from toolenv.policy import Answer
from toolenv.quick import new_calls
from toolenv.received import normalise_message
from toolenv.rendering import cut
from toolenv.types import Action, Malformed, Observation, ToolCalls, ToolSpec, Usage
from toolenv.waiting import Waiting, block

from .parsing import MAX_RECORD, parse_reply
from .preflight import preflight
from .prompts import prompt_for
from .settings import ChatSettings, key_of, sampling
from .wire import WireForm, Written, to_openai_tools, under_system_message, write


def make(argument: str, options: Mapping[str, Any]) -> ChatPolicy:
    """``chat:MODEL``; the options are the other fields of :class:`ChatSettings`."""
    known = [one.name for one in fields(ChatSettings) if one.name != "model"]
    for name in options:
        if name not in known:
            raise UnknownNameError("option", name, known, where=f"agent chat:{argument}")
    return ChatPolicy(ChatSettings(model=argument, **options))


class ChatMemory(NamedTuple):
    """What an episode remembers.

    Attributes:
        written: the conversation as it was sent last.
        reasoning: earlier reasoning by the index of the message it led to; ``None`` where none is sent back.
    """

    written: Written | None = None
    reasoning: Mapping[int, str] | None = None


NOTHING_YET = ChatMemory()


class ChatPolicy:
    """A model on an OpenAI-compatible server; may be shared by threads and pickled.

    Args:
        settings: the server and the model.
        name: shown in tables; by default ``"chat:MODEL"``.
        clock: what waits between attempts are measured by.
    """

    def __init__(self, settings: ChatSettings, *, name: str = "", clock: Clock = CLOCK) -> None:
        self.settings, self.name = settings, name or f"chat:{settings.model}"
        self._clock = clock
        self._form = WireForm(empty_content=settings.empty_content, reasoning_field=settings.reasoning_field)
        self._sampling = sampling(settings)
        self._server = ChatServer(
            base_url=settings.base_url,
            api_key=key_of(settings),
            timeout=settings.timeout,
            attempts=settings.attempts,
            clock=clock,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(ChatPolicy, self.settings, name=self.name, clock=self._clock), ()

    def act(self, observation: Observation, memory: Any) -> tuple[Action, Any]:
        """Ask the model for one decision.

        Raises:
            ContextWindowError: the conversation is longer than the model's context.
            DeadlineError: the episode's time ran out.
            ServerError: the server gave no reply.
        """
        return block(self.deciding(observation, memory))

    def deciding(self, observation: Observation, memory: Any) -> Waiting[Answer]:
        """:meth:`act`, whoever waits for the server; see :class:`toolenv.policy.Waitable`."""
        before: ChatMemory = memory or NOTHING_YET
        written = self._written(observation, before)
        reply = yield from self._server.completing(self._request(observation, written))
        reasoning = before.reasoning
        if self.settings.reasoning_field and (thought := normalise_message(reply.message).get("reasoning")):
            reasoning = {**(reasoning or {}), len(observation.messages): thought}
        action = to_action(
            reply,
            observation.tools,
            text_calls=self.settings.text_calls,
            reasoning_sent_back=bool(self.settings.reasoning_field),
        )
        return action, ChatMemory(written, reasoning)

    def request(self, observation: Observation, memory: ChatMemory | None = None) -> dict[str, Any]:
        """The keyword arguments of ``chat.completions.create`` for one decision.

        Without tools neither ``tools`` nor ``tool_choice`` is sent (FIELD-017), and never a stop
        sequence of ours (FIELD-016).
        """
        return self._request(observation, self._written(observation, memory or NOTHING_YET))

    def _written(self, observation: Observation, memory: ChatMemory) -> Written:
        return write(observation, form=self._form, reasoning=memory.reasoning, before=memory.written)

    def _request(self, observation: Observation, written: Written) -> dict[str, Any]:
        tools = to_openai_tools(observation.tools)
        prompt = prompt_for(observation, self.settings.protocol)
        offer = {"tools": tools, "tool_choice": "auto"} if tools else {}
        return {
            "model": self.settings.model,
            "messages": under_system_message(prompt, written),
            **offer,
            **self._sampling,
        }

    def preflight(self) -> Usage:
        """One request with one tool, made as a run would make it, so that a bad set-up costs no run.

        Returns:
            What it cost; unknown if the server reports no usage.

        Raises:
            PreflightError: no server, an unknown model, tools refused, or anything else the server says.
        """
        return preflight(self._server, self.settings.model, self.request)

    def close(self) -> None:
        """Close the connections to the server."""
        self._server.close()


def to_action(
    reply: Reply, tools: Sequence[ToolSpec], *, text_calls: bool = True, reasoning_sent_back: bool = False
) -> Action:
    """The decision in a reply, with its usage.

    Its ``raw`` (``record``, of a malformed one) is for readers of the trace: the message as sent, and
    whether earlier reasoning was part of the request (FIELD-113).
    """
    message = normalise_message(reply.message)
    action = parse_reply(
        content=message.get("refusal") if message["content"] is None else message["content"],
        tool_calls=message.get("tool_calls"),
        reasoning=message.get("reasoning"),
        finish_reason=reply.finish_reason,
        tools=tools,
        text_calls=text_calls,
    )
    about: dict[str, Any] = {"finish_reason": reply.finish_reason, "model": reply.model}
    if reply.recalled:
        about["recalled"] = True
    record = {**_sent(reply.message), **about, "reasoning_sent_back": reasoning_sent_back}
    if isinstance(action, ToolCalls):
        return new_calls(action.calls, action.text, reply.usage, record)
    if isinstance(action, Malformed):  # its raw text is part of what it says
        return replace(action, usage=reply.usage, record=record)
    return replace(action, usage=reply.usage, raw=record)


def _sent(message: Mapping[str, Any]) -> dict[str, Any]:
    """The message as it came (FIELD-056, FIELD-058), long texts cut."""
    kept = {key: value for key, value in message.items() if key != "role"}
    return {key: cut(value, MAX_RECORD) if isinstance(value, str) else value for key, value in kept.items()}
