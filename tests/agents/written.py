"""Replies that hold calls as text, read; and what has to be true of each that was cut off."""

from __future__ import annotations

from collections.abc import Sequence

from toolenv.agents.parsing import parse_reply
from toolenv.types import Action, Malformed, ToolCall, ToolCalls, ToolSpec


def read(content: str, tools: Sequence[ToolSpec], finish_reason: str = "stop") -> Action:
    return parse_reply(
        content=content, tool_calls=None, reasoning=None, finish_reason=finish_reason, tools=tools
    )


def check_cut_off(content: str, tools: Sequence[ToolSpec], calls: Sequence[ToolCall]) -> None:
    """Cut anywhere at the token limit, what is read are whole calls of the original, from the first on."""
    for end in range(len(content)):
        action = read(content[:end], tools, "length")
        assert isinstance(action, ToolCalls | Malformed)
        if isinstance(action, ToolCalls):
            assert action.calls == tuple(calls)[: len(action.calls)]
        else:
            assert action.kind == "length"
