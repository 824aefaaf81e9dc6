"""Values in calls and texts: what an argument holds that an agent has to have read somewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from toolenv.types import ToolSpec

GUESSABLE_BELOW = 10
"""Whole numbers smaller than this, and texts of one character, need no source: anybody may try them."""

LONGEST_WHOLE = 200
"""Characters up to which a text in an argument counts as one value; of a longer one only its tokens do."""

_TOKEN = re.compile(r"[\w@#][\w@#.\-]*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


class Value(NamedTuple):
    """A value that an argument holds.

    Attributes:
        path: where in the arguments, e.g. ``item_ids[0]``.
        text: the value as text, in lower case; numbers in their shortest form; ``""`` for a long text.
        tokens: the parts of a text that look like identifiers or numbers: where nobody wrote the text
            itself, it may have been composed of them.
    """

    path: str
    text: str
    tokens: tuple[str, ...] = ()


class Text:
    """A text that values are looked for in."""

    __slots__ = ("_lower",)

    def __init__(self, text: str) -> None:
        self._lower = text.lower()

    def mentions(self, value: str) -> bool:
        """Whether ``value``, in lower case, stands there as words of its own; ``1234`` as ``1,234.0`` too."""
        may = value in self._lower or _NUMBER.fullmatch(value) is not None
        return may and _pattern(value).search(self._lower) is not None


def without(text: str, value: str) -> str:
    """``text`` with a value blanked wherever it stands as words of its own, in any case."""
    return _pattern(value).sub(" ", text)


@lru_cache(maxsize=4096)
def _pattern(value: str) -> re.Pattern[str]:
    if _NUMBER.fullmatch(value):
        whole, _, fraction = value.rstrip("0").partition(".") if "." in value else (value, "", "")
        digits = whole if whole.startswith(("0", "-0")) else f"{int(whole):,}".replace(",", ",?")
        end = rf"\.{fraction}0*" if fraction else r"(?:\.0+)?"
        return re.compile(rf"(?<![\w.]){digits}{end}(?!\w|\.\d)")
    before = r"(?<!\w)" if _is_word(value[0]) else ""
    after = r"(?!\w)" if _is_word(value[-1]) else ""
    return re.compile(before + re.escape(value) + after, re.IGNORECASE)


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def values_in(arguments: Mapping[str, Any]) -> Iterator[Value]:
    """The values in arguments that cannot simply be guessed, in order."""
    for name, item in arguments.items():
        yield from _values(item, str(name))


def _values(item: Any, path: str) -> Iterator[Value]:
    if isinstance(item, Mapping):
        for key, inner in item.items():
            yield from _values(inner, f"{path}.{key}")
    elif isinstance(item, list | tuple):
        for number, inner in enumerate(item):
            yield from _values(inner, f"{path}[{number}]")
    elif isinstance(item, str):
        yield from _text_value(item.strip(), path)
    elif isinstance(item, int | float) and not isinstance(item, bool):
        whole = isinstance(item, int) or item.is_integer()
        if not (whole and abs(item) < GUESSABLE_BELOW):
            yield Value(path, str(int(item)) if whole else repr(item))


def _text_value(text: str, path: str) -> Iterator[Value]:
    tokens = tuple(
        token
        for token in tokens_in(text)
        if len(token) > 1 and token != text.lower() and (any(map(str.isdigit, token)) or "@" in token)
    )
    if 1 < len(text) <= LONGEST_WHOLE and any(map(str.isalnum, text)):
        yield Value(path, text.lower(), tokens)
    elif tokens:
        yield Value(path, "", tokens)


def tokens_in(text: str) -> tuple[str, ...]:
    """The distinct words, numbers and identifiers of a text, in lower case, in order."""
    found = (token.rstrip(".-") for token in _TOKEN.findall(_THOUSANDS.sub("", text.lower())))
    return tuple(dict.fromkeys(token for token in found if token))


def documented(tool: ToolSpec | None) -> Text:
    """What a tool's documentation says: its enums, defaults and examples are known to whoever sees it."""
    return Text("" if tool is None else json.dumps([tool.description, tool.parameters], ensure_ascii=False))
