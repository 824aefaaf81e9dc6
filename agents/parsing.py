"""From a model's reply to one action. A reply of any kind gives an action; nothing here raises.

What decides is what the reply holds, not why the server says it ended: readable calls are calls, native ones
before those written as text; a visible attempt to call that cannot be read is malformed, never a stop and
never an answer; then a line that begins with ``STOP:`` is a stop; the rest is a message. Reasoning is kept
apart and decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from toolenv.json_values import mend_surrogates
from toolenv.names import shared_lookup_table
from toolenv.quick import new_call
from toolenv.rendering import cut
from toolenv.stopping import find_stop, strip_reasoning
from toolenv.types import Action, Malformed, Message, Stop, ToolCall, ToolCalls, ToolSpec

from .bare_calls import TextCalls
from .calls import MAX_CALLS, Offered, tool_name
from .text_formats import find_calls
from .values import MAX_CHARACTERS, UnreadableError, read_arguments

MAX_RECORD = 20_000
"""Characters of reasoning and of raw text that are kept for readers of a trace."""

MAX_ID = 256

CUT_OFF = "it was cut off at the token limit"
NOT_READ = "it holds a tool call written as text, which is not read here; use the tool-call interface"

_END_SIGNS = ("</s>", "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|endoftext|>", "<｜end▁of▁sentence｜>")
_DANGLING_FENCE = re.compile(r"\n?```\w*\s*\Z", re.ASCII)


def parse_reply(
    *,
    content: str | None,
    tool_calls: Sequence[Mapping[str, Any]] | None,
    reasoning: str | None,
    finish_reason: str | None,
    tools: Sequence[ToolSpec],
    text_calls: bool = True,
) -> Action:
    """One reply of a model as an action, without its usage.

    Args:
        content: the text, inline reasoning included; two million characters of it are read.
        tool_calls: the server's parsed calls, ``{"id", "function": {"name", "arguments"}}`` or flat;
            arguments as JSON text or as a mapping. ``None`` and empty mean the same.
        reasoning: what the server already set apart.
        finish_reason: only ``"length"`` matters, and only where there is no usable call.
        tools: the tools offered.
        text_calls: whether calls written as text are read; if not, they make the reply malformed.

    Returns:
        ``ToolCalls``: a call whose arguments cannot be read is one of them, with a ``problem``, so that each
        gets its reply. ``Malformed``: of kind ``length`` if the reply was cut off. ``Stop``, with the text
        after the signal. ``Message`` otherwise. What a trace should keep besides is in ``raw``.
    """
    visible, inline = strip_reasoning(_text(content))
    visible = _without_end_signs(visible)
    record = _record(reasoning=_joined(_text(reasoning), inline))
    offered, cut_off = shared_lookup_table(tuple(tools)), finish_reason == "length"
    if tool_calls:
        return _native(tool_calls, visible, record, offered, cut_off)
    try:
        found = find_calls(visible, offered)
    except UnreadableError as why:
        return _malformed(visible, str(why), cut_off)
    if found and text_calls:
        return _from_text(found, visible, record)
    if found or cut_off:
        return _malformed(visible, NOT_READ, cut_off)
    return _words(visible, record)


def _native(
    tool_calls: object, visible: str, record: Mapping[str, Any], offered: Offered, cut_off: bool
) -> Action:
    try:
        calls = [_native_call(item, offered, cut_off) for item in _sequence(tool_calls)]
    except UnreadableError as why:
        return _malformed(visible, str(why), cut_off)
    if cut_off and all(call.problem for call in calls):
        return _malformed(visible, CUT_OFF, cut_off)
    return ToolCalls(tuple(calls), visible, raw=record or None)


def _sequence(tool_calls: object) -> Sequence[object]:
    if not isinstance(tool_calls, list | tuple):
        raise UnreadableError(f"its tool calls are a {type(tool_calls).__name__} and no list")
    if len(tool_calls) > MAX_CALLS:
        raise UnreadableError(f"it has {len(tool_calls)} tool calls, more than {MAX_CALLS}")
    return tool_calls


def _native_call(item: object, offered: Offered, cut_off: bool) -> ToolCall:
    if not isinstance(item, Mapping):
        raise UnreadableError("one of its tool calls is no object")
    inner = item.get("function")
    function = inner if isinstance(inner, Mapping) else item
    name = mend_surrogates(tool_name(function.get("name"), offered))
    written = function.get("arguments", function.get("parameters"))
    try:
        if cut_off and not isinstance(written, Mapping) and not str(written or "").strip():
            raise UnreadableError("the arguments were cut off at the token limit")
        return new_call(name, read_arguments(written), _id(item), "")
    except UnreadableError as why:
        return ToolCall(name, {}, _id(item), problem=f"the arguments cannot be read: {why}")


def _id(item: Mapping[Any, Any]) -> str:
    """The call's id, or none: the environment gives one to calls without."""
    written = item.get("id")
    text = str(written) if isinstance(written, str | int) else ""
    return mend_surrogates(text) if len(text) <= MAX_ID else ""


def _from_text(found: TextCalls, visible: str, record: Mapping[str, Any]) -> ToolCalls:
    words = _DANGLING_FENCE.sub("", visible[: found.start].rstrip()[-MAX_CHARACTERS:])
    return ToolCalls(found.calls, words.rstrip(), raw={**record, "content": cut(visible, MAX_RECORD)})


def _words(visible: str, record: Mapping[str, Any]) -> Action:
    signal = find_stop(visible)
    if signal is None or not signal.strict:
        return Message(visible, raw=record or None)
    before = visible[: signal.start].strip()
    reason = visible[signal.end :].strip().strip("*").strip()
    return Stop(reason, raw={**record, "content": cut(visible, MAX_RECORD)} if before else record or None)


def _malformed(visible: str, why: str, cut_off: bool) -> Malformed:
    kind: Literal["unparsable", "length"] = "length" if cut_off else "unparsable"
    return Malformed(visible, CUT_OFF if cut_off else why, kind)


def _text(value: object) -> str:
    """A text of bounded length that encodes as UTF-8."""
    return mend_surrogates(value[:MAX_CHARACTERS]) if isinstance(value, str) else ""


def _without_end_signs(text: str) -> str:
    """The text without the end-of-turn tokens that some servers leave in it."""
    for _ in _END_SIGNS:
        bare = text.rstrip()
        if not bare.endswith(_END_SIGNS):
            return text
        text = bare.removesuffix(next(sign for sign in _END_SIGNS if bare.endswith(sign)))
    return text


def _record(reasoning: str) -> dict[str, Any]:
    return {"reasoning": cut(reasoning, MAX_RECORD)} if reasoning.strip() else {}


def _joined(*texts: str) -> str:
    return "\n".join(text for text in texts if text)
