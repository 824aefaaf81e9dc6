"""What an agent can know: the values it was told, and simple derivations of them.

A *grounded* value is built from the conversation, the documentation of the tools offered and the results seen
so far. Text is grounded if all its words were seen, whatever their case and what stands between them; this
covers texts put together from several. A number is grounded if it was written or spelled out, or is the sum,
difference, product or quotient of two that the conversation or the results hold. Truth values, ``None`` and
empty containers always are; lists and dictionaries if all they hold is.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from toolenv.types import ChatMessage, ToolSpec

_WORD: Final = re.compile(r"[^\W_]+")
_NUMBER: Final = re.compile(r"(?<![\w.])[-+]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(%?)")
_ORDINAL: Final = re.compile(r"([0-9]+)(?:st|nd|rd|th)")
_MIXED: Final = re.compile(r"[0-9]+|[^\W\d_]+")

_SPELLED: Final[Mapping[str, int]] = {
    **{"zero": 0, "half": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7},
    **{"eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14},
    **{"fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20},
    **{"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "hundred": 100, "thousand": 1000},
}
_MONTHS: Final[Mapping[str, int]] = {
    **{"january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8},
    **{"september": 9, "october": 10, "november": 11, "december": 12},
}

MOST_NUMBERS: Final = 400
"""Where more numbers than this were seen, arithmetic on them would reach any number, so none is allowed."""


@dataclass(frozen=True, slots=True)
class Source:
    """One text that an agent has read.

    Attributes:
        words: its words in lower case, and the digits of numbers and months that are spelled out.
        numbers: the numbers in it.
        is_documentation: whether it is documentation, with whose numbers no arithmetic is done.
    """

    words: frozenset[str]
    numbers: frozenset[float]
    is_documentation: bool = False


@dataclass(frozen=True, slots=True)
class Knowledge:
    """All that an agent has read; grows by :meth:`plus`."""

    sources: tuple[Source, ...] = ()

    def plus(self, *texts: str, is_documentation: bool = False) -> Knowledge:
        """With more texts read."""
        return Knowledge((*self.sources, *(_read(text, is_documentation) for text in texts)))

    def merged(self) -> Source:
        """All sources as one, for looking up many values; numbers as of documentation."""
        words: frozenset[str] = frozenset().union(*(source.words for source in self.sources))
        numbers: frozenset[float] = frozenset().union(*(source.numbers for source in self.sources))
        return Source(words, numbers, is_documentation=True)

    def has(self, value: Any) -> bool:
        """Whether a JSON value is grounded."""
        if value is None or isinstance(value, bool):
            return True
        if isinstance(value, str):
            return all(map(self._has_word, _WORD.findall(value.casefold())))
        if isinstance(value, int | float):
            return self._has_number(float(value))
        if isinstance(value, Mapping):
            return all(self.has(key) and self.has(item) for key, item in value.items())
        return all(map(self.has, value))

    def can_say(self, text: str) -> bool:
        """Whether a text is grounded or can be worked out: numbers in it count by their value.

        The most that anybody could say; a witness has to have read what it says.
        """
        return self.has(_NUMBER.sub(lambda match: "" if self._is_number(match[0]) else match[0], text))

    def _is_number(self, written: str) -> bool:
        percent = written.endswith("%")
        return self._has_number(float(written.rstrip("%").replace(",", "")) / (100 if percent else 1))

    def _has_word(self, word: str) -> bool:
        if any(word in source.words for source in self.sources):
            return True
        # 12gallons is two words to a reader
        parts = _MIXED.findall(word)
        return len(parts) > 1 and all(any(part in source.words for source in self.sources) for part in parts)

    def _has_number(self, value: float) -> bool:
        if any(value in source.numbers for source in self.sources):
            return True
        seen: frozenset[float] = frozenset()
        seen = seen.union(*(source.numbers for source in self.sources if not source.is_documentation))
        return len(seen) <= MOST_NUMBERS and any(_reach(one, value, seen) for one in seen)


def told(messages: Iterable[ChatMessage], tools: Iterable[ToolSpec]) -> Knowledge:
    """What an agent knows from the conversation and the tools' documentation."""
    known = Knowledge().plus(*(message.content for message in messages))
    documents = (json.dumps([tool.name, tool.description, tool.parameters]) for tool in tools)
    return known.plus(*documents, is_documentation=True)


def strings(value: Any) -> Iterator[str]:
    """Every text inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)


@lru_cache(maxsize=4096)
def _read(text: str, is_documentation: bool) -> Source:
    lower = text.casefold()
    words = set(_WORD.findall(lower))
    numbers = set(_numbers(text))
    for word in tuple(words):
        ordinal = _ORDINAL.fullmatch(word)
        number = int(ordinal[1]) if ordinal else _SPELLED.get(word, _MONTHS.get(word))
        if number is not None:
            words.add(str(number))
            numbers.add(float(number))
    words.update(f"0{word}" for word in tuple(words) if len(word) == 1 and word.isdigit())
    words.update(part for word in tuple(words) for part in _MIXED.findall(word))
    return Source(frozenset(words), frozenset(numbers), is_documentation)


def _numbers(text: str) -> Iterator[float]:
    for match in _NUMBER.finditer(text):
        number = float(match[0].rstrip("%").replace(",", ""))
        yield number
        if match[1]:
            yield number / 100


def _reach(one: float, value: float, seen: frozenset[float]) -> bool:
    """Whether one operation on ``one`` and another number seen gives ``value``."""
    if value - one in seen or one - value in seen or value + one in seen:
        return True
    with_one = (value / one, one / value if value else math.nan, value * one) if one else ()
    return any(number in seen for number in with_one)
