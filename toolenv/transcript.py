"""A conversation as plain text, safe to print to a terminal."""

from __future__ import annotations

import json
import re

from toolenv.read_only import thawed
from toolenv.rendering import cut
from toolenv.types import ChatMessage, Observation, ToolSpec

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")

MAX_DESCRIPTION = 2_000
MAX_SCHEMA = 8_000
"""Characters of one tool's schema; the longest of the suites' clean ids has 5,894."""


def printable(text: str) -> str:
    """``text`` with control and direction-changing characters shown, not obeyed."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match.group()):02x}", text)


def _name(text: str) -> str:
    """A name on one line: a line break in it is shown, not obeyed."""
    return printable(text).replace("\n", "\\n")


def _indented(text: str) -> str:
    """Text whose further lines are set in, so that none of them reads as the head of a message."""
    return printable(text).replace("\n", "\n    ")


def render_message(message: ChatMessage) -> str:
    """One message, role first; calls as ``name(arguments)``."""
    head = f"[{message.role}]" if not message.call_id else f"[{message.role} {_name(message.call_id)}]"
    lines = [f"{head} {_indented(message.content)}"] if message.content or not message.calls else [head]
    for call in message.calls:
        arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
        lines.append(f"  -> {_name(call.name)}({_name(arguments)})")
    return "\n".join(lines)


def render_tool(tool: ToolSpec) -> str:
    """A tool on one line, ``NAME: DESCRIPTION SCHEMA``: all that is needed to call it.

    The schema is JSON. A description is cut at :data:`MAX_DESCRIPTION` characters, a schema, which is then no
    JSON any more, at :data:`MAX_SCHEMA`.
    """
    schema = json.dumps(thawed(tool.parameters), ensure_ascii=False)
    parts = (cut(tool.description, MAX_DESCRIPTION), cut(schema, MAX_SCHEMA))
    return f"{_name(tool.wire_name or tool.name)}: {_name(' '.join(filter(None, parts)))}"


def render_conversation(observation: Observation, *, schemas: bool = False) -> str:
    """The whole observation: messages, then the tools offered and the decisions left.

    Args:
        observation: what to show.
        schemas: whether each tool has a line with its description and its schema, see :func:`render_tool`;
            otherwise there are names alone.
    """
    if schemas and observation.tools:
        tools = "".join(f"\n    {render_tool(tool)}" for tool in observation.tools)
    else:
        tools = " " + _name(", ".join(tool.wire_name or tool.name for tool in observation.tools) or "none")
    footer = f"[tools]{tools}\n[turns left] {observation.turns_left}"
    return "\n".join([*(render_message(message) for message in observation.messages), footer])
