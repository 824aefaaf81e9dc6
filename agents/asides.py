"""Messages that a composed policy adds to what a part sees.

They stay where they were put for the rest of the episode, so that a conversation only ever grows: a server's
prefix cache holds, and what a part remembers by a message's place stays true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from toolenv.ledger import MAX_KEPT
from toolenv.rendering import cut
from toolenv.types import ChatMessage, Malformed, Observation, Stop, ToolCalls


class Aside(NamedTuple):
    """Messages put before message ``at`` of the environment's own conversation."""

    at: int
    messages: tuple[ChatMessage, ...]


def with_asides(observation: Observation, asides: Sequence[Aside]) -> Observation:
    """The observation with the asides in their places; they are in order of ``at``."""
    if not asides:
        return observation
    own, messages, start = observation.messages, list[ChatMessage](), 0
    for aside in asides:
        messages += [*own[start : aside.at], *aside.messages]
        start = aside.at
    return replace(observation, messages=(*messages, *own[start:]))


def about_attempt(observation: Observation, attempt: Malformed | Stop, said: str) -> Aside:
    """An attempt that is not used, and what its author is told about it, at the conversation's end."""
    text = f"STOP: {attempt.reason}" if isinstance(attempt, Stop) else attempt.raw
    shown = ChatMessage("assistant", cut(text, MAX_KEPT) or "(no output)")
    return Aside(len(observation.messages), (shown, ChatMessage("user", said)))


def about_calls(observation: Observation, attempt: ToolCalls, replies: Sequence[str]) -> Aside:
    """Calls that are not made, each with its reply, at the conversation's end."""
    shown = ChatMessage("assistant", attempt.text, attempt.calls)
    answers = [
        ChatMessage("tool", reply, (), call.id) for call, reply in zip(attempt.calls, replies, strict=True)
    ]
    return Aside(len(observation.messages), (shown, *answers))
