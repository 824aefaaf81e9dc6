"""Calls that stand in a text without any tag: as JSON (Llama 3) or as Python (Llama's pythonic form)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from toolenv.types import ToolCall

from .calls import ARGUMENT_KEYS, MAX_CALLS, Offered, balanced_end, call_objects, python_calls, tool_name
from .tool_code import tool_code_calls
from .values import UnreadableError, decode_json, plain_value, read_arguments, read_value

MAX_FAILURES = 64

# Inline code is talk about calls; a fenced block may be one.
_OPENING = re.compile(
    r"(?<!(?<!`)`)[\[{]\s*(?:\{\s*)?[\"']"
    r"(?:name|tool_name|type|id|tool_call_id|function|tool_calls|arguments|parameters)[\"']\s*:"
)
_NAME = re.compile(r"[\"'](?:tool_)?name[\"']\s*:\s*[\"']([^\"'\n]{1,256})[\"']")
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.-]{0,127}", re.ASCII)
_CALL_KEYS = frozenset({"name", "id", "type", "index", *ARGUMENT_KEYS})
_WRAPPING = re.compile(r"(?:\s|```\w*|[;,]|<\|\w+\|>|</s>)*", re.ASCII)
_LISTED = re.compile(
    r"(?<![^\n\r\x0b\x0c\x85\u2028\u2029])[ \t]*(?P<list>\[\s*(?P<name>[A-Za-z_][\w.]*)\()", re.ASCII
)
_SINGLE = re.compile(r"(?P<name>[A-Za-z_][\w.]*)\(", re.ASCII)


@dataclass(frozen=True, slots=True)
class TextCalls:
    """Calls found in a text.

    Attributes:
        calls: at least one.
        start: where the first begins; what stands before it is the words that go with the calls.
        end: where more calls may follow.
    """

    calls: tuple[ToolCall, ...]
    start: int
    end: int = 0


@dataclass(frozen=True, slots=True)
class _Found:
    value: Any
    start: int
    end: int


def opening(text: str) -> int | None:
    """Where the first thing that may be a call in JSON begins."""
    found = _OPENING.search(text)
    return found.start() if found else None


def find_json_calls(text: str, offered: Offered, before: int) -> TextCalls | None:
    """Calls as JSON objects that begin before character ``before``.

    Raises:
        UnreadableError: one that names an offered tool cannot be read.
    """
    found = list(_values(text, offered, before))
    shaped = [(item, one.start) for one in found for item in call_objects(one.value) if _is_shaped(item)]
    meant = [_is_offered(item, offered) for item, _ in shaped]
    if not shaped or not (any(meant) or _is_all(text, found, len(shaped))):
        return None
    # Beside a call of an offered tool, one of an unknown tool is an attempt as well.
    taken = [(item, start) for item, start in shaped if _is_offered(item, offered) or _is_exact(item)]
    calls = [
        ToolCall(tool_name(item["name"], offered), read_arguments(_arguments(item))) for item, _ in taken
    ]
    return TextCalls(tuple(calls), taken[0][1], found[-1].end)


def find_python_calls(text: str, offered: Offered) -> TextCalls | None:
    """Calls as ``[f(x=1), g()]`` at the start of a line, in tool code, or ``f(x=1)`` as the whole reply.

    Raises:
        UnreadableError: a call of an offered tool, alone or first in a list or block, cannot be read.
    """
    parts = [*_listed_calls(text, offered), *tool_code_calls(text, offered)]
    parts.sort(key=lambda part: part[0])
    calls = tuple(call for _, some in parts for call in some)
    return TextCalls(calls, parts[0][0]) if calls else _whole_python(text, offered)


def _listed_calls(text: str, offered: Offered) -> Iterator[tuple[int, list[ToolCall]]]:
    """Where lists of calls begin, and their calls."""
    at = count = 0
    while count <= MAX_CALLS and (listed := _LISTED.search(text, at)):
        start, at = listed.start("list"), listed.end()
        if listed["name"] in offered:
            at = balanced_end(text, start) or len(text)
            calls = python_calls(text[start:at], offered)
            count += len(calls)
            yield start, calls


def _whole_python(text: str, offered: Offered) -> TextCalls | None:
    """A reply that is one call of an offered tool, or a list of calls of whatever, and nothing else."""
    inner = _unwrapped(text)
    single = _SINGLE.match(inner)
    if not (single["name"] in offered if single else inner.startswith("[")):
        return None
    try:
        calls = python_calls(inner, offered)
        return TextCalls(tuple(calls), text.find(inner)) if calls else None
    except UnreadableError:
        if single and balanced_end(inner, single.end() - 1) == len(inner):
            raise
        return None


def _values(text: str, offered: Offered, before: int) -> Iterator[_Found]:
    at = failures = 0
    while failures < MAX_FAILURES and (found := _OPENING.search(text, at)) and found.start() < before:
        try:
            value, at = _value(text, found.start())
            yield _Found(value, found.start(), at)
        except UnreadableError as why:
            name = _NAME.search(text, found.start(), found.start() + 1000)
            if name and name[1] in offered:
                raise UnreadableError(f"the call of {name[1]!r} in the text cannot be read: {why}") from None
            failures, at = failures + 1, found.end()


def _value(text: str, start: int) -> tuple[Any, int]:
    try:
        value, end = decode_json(text, start)
        return plain_value(value), end
    except UnreadableError:
        end_or_none = balanced_end(text, start)
        if end_or_none is None:
            raise
        return read_value(text[start:end_or_none]), end_or_none


def _is_shaped(item: Any) -> bool:
    """Whether an object has a name and arguments, and is not the description of a tool."""
    if not isinstance(item, dict) or not isinstance(item.get("name"), str) or "description" in item:
        return False
    if not any(key in item for key in ARGUMENT_KEYS):
        return False
    arguments = _arguments(item)
    return not (
        isinstance(arguments, dict) and arguments.get("type") == "object" and "properties" in arguments
    )


def _is_offered(item: Any, offered: Offered) -> bool:
    try:
        return tool_name(item["name"], offered) in offered
    except UnreadableError:
        return False


def _is_exact(item: Any) -> bool:
    arguments = _arguments(item)
    return (
        item.keys() <= _CALL_KEYS
        and isinstance(arguments, dict)
        and bool(_IDENTIFIER.fullmatch(item["name"]))
    )


def _is_all(text: str, found: list[_Found], shaped: int) -> bool:
    """Whether the reply is nothing but calls in a call's exact form."""
    edges = [0, *(edge for one in found for edge in (one.start, one.end)), len(text)]
    rest = (text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    items = [item for one in found for item in call_objects(one.value)]
    exact = all(_is_shaped(item) and _is_exact(item) for item in items)
    return exact and len(items) == shaped and all(_WRAPPING.fullmatch(part) for part in rest)


def _arguments(item: Any) -> Any:
    return next(item[key] for key in ARGUMENT_KEYS if key in item)


def _unwrapped(text: str) -> str:
    """The text without white space and a code fence around it."""
    fenced = re.fullmatch(r"\s*```\w*\n(.*?)\n?```\s*", text, re.DOTALL)
    return (fenced[1] if fenced else text).strip()
