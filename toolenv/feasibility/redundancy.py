"""Semantic redundancy: a remaining tool reads as if it did the same as a masked one (Appendix B.2).

This compares what documentation says, words against words, and is meant for a person to look at: it finds
tools worth a look, and proves nothing. The similarity of two tools is the mean of

- *text*: the cosine of their words (names, and descriptions without the sentences that several tools share),
  weighted by rarity among all tools given (TF-IDF);
- *parameters*: Dice's coefficient of their parameters' names; 1 if neither has any.

Tools named alike up to ``by`` or ``from`` (``find_user_by_email``, ``find_user_by_name``) count as
:data:`SAME_NAME`. Tools that say they do different kinds of things (one reads, one deletes) or opposite ones
are never candidates.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolenv.types import ToolSpec

THRESHOLD = 0.65
"""Similarity from which a tool is a candidate. Of the paper's and the field's cases, moving and copying a
file (BFCL, 0.68) and a dictionary and an encyclopaedia (API-Bank, 0.74) are above it. The shares of
tasks flagged stand in ``docs/feasibility.md``."""

LEAST_TEXT = 0.33
"""Text similarity below which tools are no candidates, however alike their parameters."""

SAME_NAME = 0.9

MAX_CANDIDATES = 3
"""Candidates listed for a masked tool."""

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_SENTENCE = re.compile(r"(?<=[.:!?])\s+")
_NAME_WEIGHT = 2
_FIRST_WORDS = 6
_ENDINGS = ("ations", "ation", "ing", "ies", "ed", "es", "s")
_SHORTEST_STEM = 3
_DEED_WORDS: Mapping[str, str] = {
    word: deed
    for deed, words in {
        "read": "get query find search list look lookup view show check fetch retrieve display read see "
        "calculate compute estimate cat ls tail",
        "create": "add create book reserve register make post send open insert record buy touch mkdir",
        "remove": "delete remove cancel clear close rm rmdir",
        "change": "modify update edit change rename set setting",
    }.items()
    for word in words.split()
}
_OPPOSITES = tuple(
    frozenset(pair.split())
    for pair in (
        "press release", "login logout", "fund withdraw", "deposit withdraw", "lock unlock", "start stop",
        "open close", "follow unfollow", "enable disable", "increase decrease", "request make",
    )
)  # fmt: skip
_EVERYWHERE_TEXT = (
    "a an and any api are as at be by can for from function given if in into is it its not of on or return "
    "returns such that the this to tool use used using which will with"
)
_EVERYWHERE = frozenset(_EVERYWHERE_TEXT.split())


@dataclass(frozen=True, slots=True)
class Candidate:
    """A remaining tool that may do the same as a masked one.

    Attributes:
        tool: its name.
        similarity: in [0, 1].
    """

    tool: str
    similarity: float

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict."""
        return {"tool": self.tool, "similarity": round(self.similarity, 2)}


class Words:
    """A tool's words.

    Args:
        tool: the tool.
        shared: sentences that stand in several tools' descriptions.
    """

    def __init__(self, tool: ToolSpec, shared: frozenset[str] = frozenset()) -> None:
        self._tool, self._shared = tool, shared
        self.name = tuple(_WORD.findall(tool.name))
        self.parameters = frozenset(
            re.sub(r"[^a-z0-9]", "", str(name).lower()) for name in tool.parameters.get("properties", {})
        )

    @cached_property
    def description(self) -> Counter[str]:
        """The words of its own sentences, each once; of all, if it has none of its own."""
        own = " ".join(one for one in sentences(self._tool) if one not in self._shared)
        return Counter(dict.fromkeys(_stems(_WORD.findall(own or self._tool.description)), 1))

    @cached_property
    def all(self) -> Counter[str]:
        """The same and the name's."""
        return Counter(dict.fromkeys(_stems(self.name), _NAME_WEIGHT)) + self.description

    @cached_property
    def deed(self) -> str:
        """The kind of thing it does, ``""`` if its name and first words do not say."""
        words = _stems((*self.name, *_WORD.findall(self._tool.description)[:_FIRST_WORDS]))
        return next((_DEEDS[word] for word in words if word in _DEEDS), "")

    @cached_property
    def head(self) -> tuple[str, ...]:
        """The name up to ``by`` or ``from``; empty if it has neither, or nothing much before."""
        lower = [word.lower() for word in self.name]
        at = min((lower.index(word) for word in ("by", "from") if word in lower), default=0)
        return tuple(lower[:at]) if at > 1 else ()


class Redundancy:
    """Finds tools that read alike.

    Args:
        tools: every tool of the tasks that are looked at: words they share count for little.
        threshold: see :data:`THRESHOLD`.
    """

    def __init__(self, tools: Iterable[ToolSpec], threshold: float = THRESHOLD) -> None:
        distinct = {_key(tool): tool for tool in tools}
        counts = Counter(one for tool in distinct.values() for one in set(sentences(tool)))
        shared = frozenset(one for one, count in counts.items() if count > 1)
        self._words = {key: Words(tool, shared) for key, tool in distinct.items()}
        self._frequency = Counter(word for words in self._words.values() for word in words.all)
        self._threshold = threshold
        self._known: dict[tuple[Any, Any], float] = {}

    def candidates(self, masked: ToolSpec, remaining: Sequence[ToolSpec]) -> tuple[Candidate, ...]:
        """The remaining tools that read like the masked one, the likest first."""
        found = [Candidate(tool.name, self.similarity(masked, tool)) for tool in remaining]
        chosen = sorted(
            (one for one in found if one.similarity >= self._threshold),
            key=lambda one: (-one.similarity, one.tool),
        )
        return tuple(chosen[:MAX_CANDIDATES])

    def similarity(self, one: ToolSpec, other: ToolSpec) -> float:
        """How alike two of the tools read, in [0, 1]; 0 for tools that cannot mean the same."""
        key = (_key(one), _key(other))
        if key not in self._known:
            self._known[key] = self._similarity(self._words[key[0]], self._words[key[1]])
        return self._known[key]

    def _similarity(self, one: Words, other: Words) -> float:
        if one.deed and other.deed and one.deed != other.deed:
            return 0.0
        if _are_opposite(one.name, other.name):
            return 0.0
        if one.head and one.head == other.head:
            return SAME_NAME
        text = max(self._cosine(one.description, other.description), self._cosine(one.all, other.all))
        return (text + _dice(one.parameters, other.parameters)) / 2 if text >= LEAST_TEXT else 0.0

    def _cosine(self, one: Mapping[str, int], other: Mapping[str, int]) -> float:
        common = math.fsum(one[word] * other[word] * self._weight(word) ** 2 for word in one if word in other)
        lengths = self._length(one) * self._length(other)
        return common / lengths if lengths else 0.0

    def _length(self, words: Mapping[str, int]) -> float:
        return math.sqrt(math.fsum((count * self._weight(word)) ** 2 for word, count in words.items()))

    def _weight(self, word: str) -> float:
        return math.log(1 + len(self._words) / self._frequency[word])


def sentences(tool: ToolSpec) -> list[str]:
    """The sentences of a tool's description, up to a docstring's ``Returns:``."""
    return [one for one in _SENTENCE.split(tool.description.partition("Returns:")[0]) if one]


def _key(tool: ToolSpec) -> tuple[str, str]:
    return tool.name, tool.description


def _dice(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0


def _are_opposite(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two names differ by opposite words, or are the same words the other way round."""
    left, right = [word.lower() for word in one], [word.lower() for word in other]
    if left != right and sorted(left) == sorted(right) and "to" in left:
        return True
    only_left, only_right = set(left) - set(right), set(right) - set(left)
    return any(len(pair & only_left) == 1 and len(pair & only_right) == 1 for pair in _OPPOSITES)


def _stems(words: Iterable[str]) -> list[str]:
    return [_stem(word) for word in map(str.lower, words) if word not in _EVERYWHERE]


def _stem(word: str) -> str:
    """A word without its ending; crude, and the same for all."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word.removesuffix(ending)
    return word


_DEEDS = {_stem(word): deed for word, deed in _DEED_WORDS.items()}
