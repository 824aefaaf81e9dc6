"""A conversation as plain text, safe to print to a terminal."""

from __future__ import annotations

import json
import re

from toolenv.types import ChatMessage, Observation

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """``text`` with control and direction-changing characters shown, not obeyed."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match.group()):02x}", text)


def render_message(message: ChatMessage) -> str:
    """One message, role first; calls as ``name(arguments)``."""
    head = f"[{message.role}]" if not message.call_id else f"[{message.role} {printable(message.call_id)}]"
    lines = [f"{head} {printable(message.content)}"] if message.content or not message.calls else [head]
    for call in message.calls:
        arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
        lines.append(f"  -> {printable(call.name)}({printable(arguments)})")
    return "\n".join(lines)


def render_conversation(observation: Observation) -> str:
    """The whole observation: messages, then the tools offered and the decisions left."""
    tools = ", ".join(tool.wire_name or tool.name for tool in observation.tools) or "none"
    footer = f"[tools] {printable(tools)}\n[turns left] {observation.turns_left}"
    return "\n".join([*(render_message(message) for message in observation.messages), footer])
