"""The conversation in the form that OpenAI-compatible servers and local chat templates take.

What is guaranteed of :func:`to_openai_messages`, whatever the conversation held:

- at most one system message, first; a later one becomes the user's, since templates refuse it there;
- user and assistant alternate (neighbours are merged, gaps filled), as strict templates demand;
- every call is followed by exactly one reply, in the calls' order, with legal ids and names;
- arguments are valid JSON, no key is null except ``content`` where asked for, all text encodes as UTF-8.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from operator import is_
from typing import Any, Literal, NamedTuple, TypeAlias

from toolenv.errors import SchemaError
from toolenv.identity import ByIdentity
from toolenv.json_values import UnusableValueError, clean_json, mend_surrogates
from toolenv.names import shared_lookup_table, with_wire_names
from toolenv.types import ChatMessage, Observation, ToolCall, ToolSpec

WireMessage: TypeAlias = dict[str, Any]

UNANSWERED = "Error: this call got no reply."
EMPTY_RESULT = "(empty result)"
UNFINISHED = "(no final message)"
OPENING = "(start of the conversation)"
UNNAMED = "unnamed"

_ENCODER = json.JSONEncoder(ensure_ascii=False)
_LEGAL_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


@dataclass(frozen=True, slots=True)
class WireForm:
    """Where servers and templates differ.

    Attributes:
        arguments: a call's arguments as JSON text (HTTP) or as a mapping (chat templates, which would
            otherwise encode the text once more).
        empty_content: the ``content`` beside calls without text. ``""``, because some servers fail on
            ``None`` (sent as null) and those that want null take ``""`` as well.
        reasoning_field: the key under which earlier reasoning is sent back; ``""`` does not send it.
        tool_names: whether tool messages also bear the tool's name: templates may print it, strict
            servers refuse it.
    """

    arguments: Literal["string", "mapping"] = "string"
    empty_content: str | None = ""
    reasoning_field: Literal["", "reasoning_content", "reasoning"] = ""
    tool_names: bool = False


HTTP = WireForm()
LOCAL_TEMPLATE = WireForm(arguments="mapping", tool_names=True)


def to_openai_messages(
    observation: Observation,
    *,
    system_prompt: str = "",
    form: WireForm = HTTP,
    reasoning: Mapping[int, str] | None = None,
) -> list[WireMessage]:
    """The observation's conversation as OpenAI chat messages; see the module for what is guaranteed.

    Args:
        observation: what the policy sees.
        system_prompt: the policy's own words, put before the task's system message.
        form: the dialect.
        reasoning: earlier reasoning by the index in ``observation.messages`` of the assistant message
            it led to; used only if ``form.reasoning_field`` is set.
    """
    return under_system_message(system_prompt, write(observation, form=form, reasoning=reasoning))


class Written(NamedTuple):
    """A conversation in wire form but for its system message; a longer one is written on from it.

    Attributes:
        system: what the task's system messages say.
        messages: what was written.
        wire: how; requests share these messages, and none is to be changed.
        ids: of the calls in it.
        form: the dialect.
        tools: those that calls were named by.
        reasoning: earlier reasoning that was written with it.
    """

    system: str
    messages: tuple[ChatMessage, ...]
    wire: tuple[WireMessage, ...]
    ids: frozenset[str]
    form: WireForm
    tools: Mapping[str, ToolSpec]
    reasoning: Mapping[int, str]

    def goes_on_in(
        self, messages: tuple[ChatMessage, ...], tools: Mapping[str, ToolSpec], reasoning: Mapping[int, str]
    ) -> bool:
        """Whether a conversation begins with this one, and all of it would be written as it was."""
        end = len(self.messages)
        return (
            len(messages) >= end
            and (all(map(is_, messages, self.messages)) or _reads_alike(messages[:end], self.messages))
            and (len(messages) == end or messages[end].role in ("assistant", "user"))
            and tools is self.tools
            and self.reasoning == {at: text for at, text in reasoning.items() if at < end}
        )


def _reads_alike(messages: Sequence[ChatMessage], others: Sequence[ChatMessage]) -> bool:
    """Whether messages are written alike: equal arguments may not be, as 1, 1.0 and True are not."""
    return messages == others and all(
        one is other or repr(one.calls) == repr(other.calls)
        for one, other in zip(messages, others, strict=True)
    )


def write(
    observation: Observation,
    *,
    form: WireForm = HTTP,
    reasoning: Mapping[int, str] | None = None,
    before: Written | None = None,
) -> Written:
    """The conversation in wire form; the arguments are those of :func:`to_openai_messages`.

    Each decision of an episode sends all that earlier ones sent: what is in ``before`` is not written again.
    """
    messages, tools = observation.messages, shared_lookup_table(observation.tools)
    told = (reasoning or {}) if form.reasoning_field else {}
    if before is not None and before.form == form and before.goes_on_in(messages, tools, told):
        writer, start = _Writer(form, tools, told, before.ids), len(before.messages)
        system, wire = before.system, before.wire
    else:
        opening = [one.content for one in takewhile(lambda message: message.role == "system", messages)]
        writer, start = _Writer(form, tools, told), len(opening)
        system, wire = "\n\n".join(filter(None, opening)), ()
    longer = tuple(_alternating(wire, writer.conversation(messages, start)))
    return Written(system, messages, longer, frozenset(writer.ids), form, tools, told)


def under_system_message(system_prompt: str, written: Written) -> list[WireMessage]:
    """All messages: the policy's own words and the task's system message are the first one."""
    system = "\n\n".join(filter(None, (system_prompt, written.system)))
    head = [{"role": "system", "content": mend_surrogates(system)}] if system else []
    return [*head, *written.wire]


def to_openai_tools(tools: tuple[ToolSpec, ...]) -> tuple[dict[str, Any], ...]:
    """The tools under their wire names, as plain JSON values. Leave the key out where it is empty.

    They are made once for a tuple of tools and shared by all requests: none is to be changed.

    Raises:
        SchemaError: a tool's schema is no JSON value.
    """
    return _lists.of(tools, lambda: tuple([_forms.of(tool, partial(_made_plain, tool)) for tool in tools]))


_forms: ByIdentity[ToolSpec, dict[str, Any]] = ByIdentity(4096)
_lists: ByIdentity[tuple[ToolSpec, ...], tuple[dict[str, Any], ...]] = ByIdentity(4096)


def _made_plain(tool: ToolSpec) -> dict[str, Any]:
    try:
        plain: dict[str, Any] = clean_json(tool.to_openai())[0]
    except UnusableValueError as error:
        raise SchemaError(f"tool {tool.name!r} cannot be sent to a server: {error}") from error
    return plain


class _Writer:
    """Writes one conversation; holds what must not repeat in it (ids)."""

    def __init__(
        self,
        form: WireForm,
        tools: Mapping[str, ToolSpec],
        reasoning: Mapping[int, str],
        ids: frozenset[str] = frozenset(),
    ) -> None:
        self.form, self.tools, self.reasoning = form, tools, reasoning
        self.ids = set(ids)

    def conversation(self, messages: Sequence[ChatMessage], start: int) -> Iterator[WireMessage]:
        index = start
        while index < len(messages):
            message = messages[index]
            replies = _replies(messages, index) if message.role == "assistant" else []
            if message.role == "assistant":
                yield from self.exchange(message, replies, self.reasoning.get(index, ""))
            else:
                yield {"role": "user", "content": mend_surrogates(message.content)}
            index += 1 + len(replies)

    def exchange(
        self, message: ChatMessage, replies: Sequence[ChatMessage], reasoning: str
    ) -> Iterator[WireMessage]:
        """An assistant message, the reply to each of its calls, and replies that belong to none."""
        ids = [self.fresh_id(call.id) for call in message.calls]
        yield self.assistant(message, ids, reasoning)
        waiting = list(replies)
        for call, wire_id in zip(message.calls, ids, strict=True):
            at = next((at for at, one in enumerate(waiting) if one.call_id == call.id), None)
            text = UNANSWERED if at is None else waiting.pop(at).content
            yield self.reply(call, wire_id, text)
        for orphan in waiting:
            yield {"role": "user", "content": mend_surrogates(orphan.content)}

    def assistant(self, message: ChatMessage, ids: Sequence[str], reasoning: str) -> WireMessage:
        content: str | None = mend_surrogates(message.content)
        if message.calls and not content:
            content = self.form.empty_content
        wire: WireMessage = {"role": "assistant", "content": content}
        if self.form.reasoning_field and reasoning:
            wire[self.form.reasoning_field] = mend_surrogates(reasoning)
        if message.calls:
            wire["tool_calls"] = [self.call(*pair) for pair in zip(message.calls, ids, strict=True)]
        return wire

    def call(self, call: ToolCall, wire_id: str) -> WireMessage:
        text = _json_object(call.arguments)
        arguments = text if self.form.arguments == "string" else json.loads(text)
        return {
            "id": wire_id,
            "type": "function",
            "function": {"name": self.name(call.name), "arguments": arguments},
        }

    def reply(self, call: ToolCall, wire_id: str, content: str) -> WireMessage:
        named = {"name": self.name(call.name)} if self.form.tool_names else {}
        text = mend_surrogates(content) or EMPTY_RESULT
        return {"role": "tool", "tool_call_id": wire_id, **named, "content": text}

    def name(self, name: str) -> str:
        """The wire name; for a tool that is not offered (now), the nearest legal one."""
        tool = self.tools.get(name) or with_wire_names([ToolSpec(name or UNNAMED)])[0]
        return tool.wire_name or tool.name

    def fresh_id(self, wanted: str) -> str:
        """``wanted`` where legal and new: some templates read meaning from a server's own ids.

        Otherwise nine letters and digits, the one form that the strictest template (Mistral's) takes.
        """
        wire_id, number = wanted, len(self.ids)
        while wire_id in self.ids or not _LEGAL_ID.fullmatch(wire_id):
            number += 1
            wire_id = f"call{number:05d}"
        self.ids.add(wire_id)
        return wire_id


def _replies(messages: Sequence[ChatMessage], index: int) -> list[ChatMessage]:
    """The tool messages right after message ``index``."""
    end = index + 1
    while end < len(messages) and messages[end].role == "tool":
        end += 1
    return list(messages[index + 1 : end])


def _alternating(before: Sequence[WireMessage], messages: Iterator[WireMessage]) -> list[WireMessage]:
    """User and assistant in turns, the user first; an assistant's calls and their replies are one turn."""
    done = list(before)
    for message in messages:
        last = done[-1]["role"] if done else "assistant"
        if message["role"] == last == "user" or (message["role"] == last == "assistant" and done):
            done[-1] = _merged(done[-1], message)
            continue
        if message["role"] == "assistant" and not done:
            done.append({"role": "user", "content": OPENING})
        if message["role"] == "user" and last == "tool":
            done.append({"role": "assistant", "content": UNFINISHED})
        done.append(message)
    return done


def _merged(first: WireMessage, second: WireMessage) -> WireMessage:
    texts = [text for text in (first["content"], second["content"]) if text]
    return {**first, **second, "content": "\n\n".join(texts) if texts else second["content"]}


def _json_object(arguments: Mapping[str, Any]) -> str:
    """``arguments`` as JSON text; ``{}`` if that is hopeless (FIELD-058)."""
    try:
        return _ENCODER.encode(clean_json(arguments)[0])
    except UnusableValueError:
        return "{}"
