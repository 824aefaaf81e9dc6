"""Makers of what is built anew in every step.

A frozen dataclass sets each of its fields through ``object.__setattr__``, which takes five times as long as a
plain assignment. Here a twin with the same slots, which is not frozen, is filled and then given its class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from toolenv.types import ChatMessage, Observation, ToolCall, ToolCalls, ToolSpec, Usage


class _Call:
    __slots__ = ToolCall.__slots__

    def __init__(self, name: str, arguments: Mapping[str, Any], id: str, problem: str) -> None:
        self.name, self.arguments, self.id, self.problem = name, arguments, id, problem
        self.__class__ = ToolCall  # type: ignore[assignment]


class _Calls:
    __slots__ = ToolCalls.__slots__

    def __init__(self, calls: tuple[ToolCall, ...], text: str, usage: Usage | None, raw: Any) -> None:
        self.calls, self.text, self.usage, self.raw = calls, text, usage, raw
        self.__class__ = ToolCalls  # type: ignore[assignment]


class _Observation:
    __slots__ = Observation.__slots__

    def __init__(
        self, messages: tuple[ChatMessage, ...], tools: tuple[ToolSpec, ...], turns_left: int
    ) -> None:
        self.messages, self.tools, self.turns_left = messages, tools, turns_left
        self.__class__ = Observation  # type: ignore[assignment]


new_tuple = tuple.__new__
"""``new_tuple(kind, fields)``: a named tuple of all its fields, without the detour by its ``__new__``."""

# Each takes all fields, in order.
new_call = cast(Callable[[str, Mapping[str, Any], str, str], ToolCall], _Call)
new_calls = cast(Callable[[tuple[ToolCall, ...], str, Usage | None, Any], ToolCalls], _Calls)
new_observation = cast(
    Callable[[tuple[ChatMessage, ...], tuple[ToolSpec, ...], int], Observation], _Observation
)
