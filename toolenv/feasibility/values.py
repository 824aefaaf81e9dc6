"""Values in calls and texts: what an argument holds that an agent has to have read somewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from toolenv.types import ToolSpec

GUESSABLE_BELOW = 10
"""Whole numbers smaller than this, and texts of one character, need no source: anybody may try them."""

LONGEST_WHOLE = 200
"""Characters up to which a text in an argument counts as one value; of a longer one only its tokens do."""

_TOKEN = re.compile(r"[\w@#][\w@#.\-]*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


class Value(NamedTuple):
    """A value that an argument holds.

    Attributes:
        path: where in the arguments, e.g. ``item_ids[0]``.
        text: the value as text, in lower case; numbers in their shortest form.
        tokens: the parts of a text that look like identifiers or numbers: where nobody wrote the text
            itself, it may have been composed of them.
    """

    path: str
    text: str
    tokens: tuple[str, ...] = ()


class Text:
    """A text that values are looked for in; made once, since every value asks."""

    __slots__ = ("_forms",)

    def __init__(self, text: str) -> None:
        lower = text.lower()
        plain = _THOUSANDS.sub("", lower)
        self._forms = (lower,) if plain == lower else (lower, plain)

    def mentions(self, value: str) -> bool:
        """Whether ``value``, in lower case, stands there as words of its own; ``5`` also as ``5.00``."""
        return any(value in form and _pattern(value).search(form) is not None for form in self._forms)


def _pattern(value: str) -> re.Pattern[str]:
    if re.fullmatch(r"-?\d+(\.\d+)?", value):
        whole = r"(?:\.0+)?" if "." not in value else "0*"
        return re.compile(rf"(?<![\w.]){re.escape(value)}{whole}(?!\w|\.\d)")
    before = r"(?<!\w)" if value[0].isalnum() or value[0] == "_" else ""
    after = r"(?!\w)" if value[-1].isalnum() or value[-1] == "_" else ""
    return re.compile(before + re.escape(value) + after)


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
    tokens = tuple(token for token in tokens_in(text) if token != text.lower() and _is_telling(token))
    if 1 < len(text) <= LONGEST_WHOLE and any(map(str.isalnum, text)):
        yield Value(path, text.lower(), tokens)
    elif tokens:
        yield Value(path, "", tokens)


def tokens_in(text: str) -> tuple[str, ...]:
    """The distinct words, numbers and identifiers of a text, in lower case, in order."""
    found = (token.rstrip(".-") for token in _TOKEN.findall(_THOUSANDS.sub("", text.lower())))
    return tuple(dict.fromkeys(token for token in found if len(token) > 1))


def _is_telling(token: str) -> bool:
    """Whether a token is likely to be the name or number of something, rather than a word."""
    return any(map(str.isdigit, token)) or "@" in token


def documented(tool: ToolSpec | None) -> Text:
    """What a tool's documentation says: its enums, defaults and examples are known to whoever sees it."""
    return Text("" if tool is None else json.dumps([tool.description, tool.parameters], ensure_ascii=False))
