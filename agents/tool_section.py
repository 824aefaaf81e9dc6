"""Tools, calls and replies as plain text, for models whose chat template has no place for them.

The form is that of Hermes and Qwen models (``<tool_call>``, ``<tool_response>``), the words are our own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from .wire import WireMessage

TOOL_SECTION_VERSION = 1
"""Raised whenever a text below changes: scores under different versions do not compare."""

_SECTION = """\
# Tools

The functions you can call, one JSON schema a line:
<tools>
{tools}
</tools>

To call a function, write its name and arguments as JSON between tags, and nothing after the last call:
<tool_call>
{{"name": "FUNCTION", "arguments": {{"ARGUMENT": "VALUE"}}}}
</tool_call>
Each call is answered between <tool_response> and </tool_response>."""


def in_plain_words(messages: Sequence[WireMessage], tools: Sequence[dict[str, Any]]) -> list[WireMessage]:
    """The conversation without tool calls and tool messages: all of it is text.

    Args:
        messages: as :func:`~.wire.to_openai_messages` makes them; arguments of calls are mappings.
        tools: the tools offered, in OpenAI's form; named in the system message.
    """
    written = [*_with_section(messages, tools)]
    plain: list[WireMessage] = []
    for is_reply, group in groupby(written, key=lambda message: message["role"] == "tool"):
        if is_reply:
            replies = (f"<tool_response>\n{reply['content']}\n</tool_response>" for reply in group)
            plain.append({"role": "user", "content": "\n".join(replies)})
        else:
            plain += [_without_calls(message) for message in group]
    return plain


def without_system(messages: Sequence[WireMessage]) -> list[WireMessage]:
    """The system message put before the user's first, for templates that refuse one."""
    if len(messages) < 2 or messages[0]["role"] != "system":
        return list(messages)
    system, first, *rest = messages
    return [{**first, "content": f"{system['content']}\n\n{first['content']}"}, *rest]


def _with_section(messages: Sequence[WireMessage], tools: Sequence[dict[str, Any]]) -> Iterator[WireMessage]:
    system = messages[0]["content"] if messages and messages[0]["role"] == "system" else ""
    listed = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools)
    parts = [part for part in (system, _SECTION.format(tools=listed) if tools else "") if part]
    if parts:
        yield {"role": "system", "content": "\n\n".join(parts)}
    yield from messages[1 if system else 0 :]


def _without_calls(message: WireMessage) -> WireMessage:
    calls = [
        f"<tool_call>\n{json.dumps(call['function'], ensure_ascii=False)}\n</tool_call>"
        for call in message.get("tool_calls", ())
    ]
    text = "\n".join([*filter(None, [message["content"]]), *calls])
    return {**{key: value for key, value in message.items() if key != "tool_calls"}, "content": text}
