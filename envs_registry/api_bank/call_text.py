"""Calls written as text, ``[AddAlarm(token='…', time='…')]``: upstream's grammar (APIS.md 3).

It is a pattern, not a language: a value ends at the first quote of either kind, an empty text swallows what
follows it, ``3.5`` without quotes is 3. Scores depend on it, so it is kept. Every value is text.
"""

from __future__ import annotations

import re
from typing import Final

from toolenv.types import ToolCall

LONGEST_CALL: Final = 4_000
"""Characters of a call's arguments; on longer text the patterns take quadratic time."""

LONGEST_TEXT: Final = 100_000
"""Characters of a text that are searched for a call."""

_OPENING = re.compile(r"\[(\w+)\(")
_ARGUMENT = re.compile(r"""(\w+)\s*=\s*['"](.+?)['"]|(\w+)\s*=\s*(\[.*\])|(\w+)\s*=\s*(\w+)""")


def find_call(text: str) -> ToolCall | None:
    """The first call in a text; it ends at the last ``)]`` of its line."""
    for line in text[:LONGEST_TEXT].split("\n"):
        end = line.rfind(")]")
        opening = _OPENING.search(line, 0, end) if end >= 0 else None
        if opening is not None:
            written = line[opening.end() : end]
            return ToolCall(opening[1], _arguments(written)) if len(written) <= LONGEST_CALL else None
    return None


def _arguments(written: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for match in _ARGUMENT.finditer(written):
        name, value = (group for group in match.groups() if group is not None)
        pairs[name] = value
    return pairs


def write_call(call: ToolCall) -> str:
    """A call in this form, its values as Python writes their text."""
    values = ", ".join(f"{name}='{value}'" for name, value in call.arguments.items())
    return f"[{call.name}({values})]"
