"""Gemma 3's calls: Python's form, often within ``print``, in a block that is fenced as ``tool_code``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolenv.types import ToolCall

from .calls import MAX_CALLS, Offered, balanced_end, python_calls, tool_name
from .values import UnreadableError

_FENCE = re.compile(r"^[ \t]*(?P<mark>`{3,}+|~{3,}+)(?P<info>[^\n`]*)$", re.MULTILINE)
_GAP = re.compile(r"(?:\s|#[^\n]*)*+")
_STATEMENT = re.compile(r"(?P<print>print\(\s*)?(?P<name>[A-Za-z_][\w.]{0,255})\(", re.ASCII)
_END = re.compile(r"[ \t]*(?:;|(?=#)|\n|\Z)")
_PRINTED = re.compile(r"\s*\)" + _END.pattern)


def tool_code_calls(text: str, offered: Offered) -> Iterator[tuple[int, list[ToolCall]]]:
    """Where blocks of calls begin, and their calls. A block whose first call is of no offered tool is code.

    Raises:
        UnreadableError: a block begins with a call of an offered tool, and not all of it can be read.
    """
    count = 0
    for start, code in _blocks(text):
        calls = _calls(code, offered, MAX_CALLS - count)
        count += len(calls)
        if calls:
            yield start, calls


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Blocks fenced as ``tool_code``; in a longer fence they are part of what that holds."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence["mark"].startswith(opened["mark"]) and not fence["info"].strip():
            if opened["info"].strip() == "tool_code":
                yield opened.start(), text[opened.end() : fence.start()]
            opened = None
    if opened and opened["info"].strip() == "tool_code":
        yield opened.start(), text[opened.end() :]


def _calls(code: str, offered: Offered, most: int) -> list[ToolCall]:
    calls: list[ToolCall] = []
    at = _after_gap(code, 0)
    first = _STATEMENT.match(code, at)
    if not first or tool_name(first["name"], offered) not in offered:
        return []
    while at < len(code) and len(calls) <= most:
        found, end = _statement(code, at, offered)
        calls += found
        at = _after_gap(code, end)
    return calls


def _statement(code: str, at: int, offered: Offered) -> tuple[list[ToolCall], int]:
    statement = _STATEMENT.match(code, at)
    end = balanced_end(code, statement.end() - 1) if statement else None
    if not statement or end is None:
        raise UnreadableError(f"{code[at : at + 40]!r} in a block of tool code is no whole call")
    calls = python_calls(code[statement.start("name") : end], offered)
    after = (_PRINTED if statement["print"] else _END).match(code, end)
    if not after:
        raise UnreadableError(f"a call in a block of tool code is followed by {code[end : end + 20]!r}")
    return calls, after.end()


def _after_gap(code: str, at: int) -> int:
    gap = _GAP.match(code, at)
    return gap.end() if gap else at
