"""A conversation as plain text, safe to print to a terminal."""

from __future__ import annotations

import json
import re

from toolenv.types import ChatMessage, Observation

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


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


def render_conversation(observation: Observation) -> str:
    """The whole observation: messages, then the tools offered and the decisions left."""
    tools = ", ".join(tool.wire_name or tool.name for tool in observation.tools) or "none"
    footer = f"[tools] {_name(tools)}\n[turns left] {observation.turns_left}"
    return "\n".join([*(render_message(message) for message in observation.messages), footer])
