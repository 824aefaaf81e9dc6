"""Words that are longer than their column: broken where a reader expects it, behind a hyphen or a slash."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.text import Text

_BREAK = re.compile(r"->|[-/](?=\w)(?!v\d+\b)")
"""Behind what a name may be broken; an arrow stays whole, and a version with the word before it."""

_WORD = re.compile(r"\S+")


def broken(text: Text, width: int) -> Text:
    """The text with line breaks in its words that are longer than ``width``, in characters.

    A piece without a place to break is cut into pieces of that width: nothing is ever left out.
    """
    found = _WORD.finditer(text.plain)
    offsets = [one.start() + at for one in found for at in _places(one.group(), width)]
    return Text("\n").join(text.divide(offsets)) if offsets else text


def width_of_words(text: str, most: int) -> int:
    """The least width at which no word of a text is broken more than once; at most ``most``."""
    return min(most, max((_broken_once(word) for word in _WORD.findall(text)), default=0))


def _broken_once(word: str) -> int:
    places = [one.end() for one in _BREAK.finditer(word)]
    return min((max(at, len(word) - at) for at in places if at < len(word)), default=len(word))


def _places(word: str, width: int) -> Iterator[int]:
    """Where a word is broken: as far behind as fits."""
    start = 0
    places = [one.end() for one in _BREAK.finditer(word)]
    while len(word) - start > width:
        start = max((at for at in places if start < at <= start + width), default=start + width)
        yield start
