"""ToolSearcher's retriever: BM25 over names, descriptions and parameters.

Upstream embeds keywords and tools with a model that would have to be downloaded. This is a lexical
substitute, the same on every machine. It knows the tools that are offered and no others: a masked tool is
not in its index.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias

from envs_registry.api_bank.okapi import Okapi
from envs_registry.api_bank.state import Failure

NAME_WEIGHT: Final = 3
"""How often a tool's name counts."""

LONGEST_QUERY: Final = 2_000
"""Characters of the keywords that are read."""

Document: TypeAlias = Mapping[str, Any]
"""Name, description, input and output parameters of an API, as upstream documents it."""

_CAPITAL = re.compile(r"[A-Z]")
_WORD = re.compile(r"[a-z0-9]+")
_ENDINGS: Final = ("ations", "ation", "ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "s", "e")
_SHORTEST_STEM: Final = 3
_COMMON: Final = frozenset({
    "a", "an", "and", "api", "are", "as", "be", "by", "for", "from", "given", "in", "includes", "is", "it",
    "of", "on", "or", "parameter", "parameters", "takes", "that", "the", "this", "to", "two", "three", "user",
    "users", "with",
})  # fmt: skip


class ToolSearch:
    """An index of the tools on offer.

    Args:
        documents: the tools that can be found.
        recorded: keywords → the tool that the data set's own search found for them; it is taken where it is
            on offer.
    """

    def __init__(self, documents: Sequence[Document], recorded: Mapping[str, str]) -> None:
        self._documents = {document["name"]: document for document in documents}
        self._recorded = recorded

    def __call__(self, keywords: Any) -> Any:
        """The best match as upstream shows it; where it needs a token, GetUserToken before it.

        Raises:
            Failure: no tool has a word of the keywords.
        """
        name = self.best(keywords.strip()[:LONGEST_QUERY])
        if name is None:
            raise Failure("No tool matches these keywords.")
        found = shown(self._documents[name])
        if "token" not in found["input_parameters"] or "GetUserToken" not in self._documents:
            return found
        giver = self._documents["GetUserToken"]
        return [{**shown(giver), "desc_for_search": search_text(giver)}, found]

    def best(self, query: str) -> str | None:
        """The name of the best match: as recorded, else the one so named, else by words."""
        if self._recorded.get(query) in self._documents:
            return self._recorded[query]
        named = query.replace(" ", "").lower()
        same = (name for name in self._documents if name.lower() == named)
        return next(same, None) or self._by_words(query)

    def _by_words(self, query: str) -> str | None:
        if not self._documents:
            return None
        scores = self._index.scores(_stems(spaced(query)))
        place = scores.index(max(scores))
        return list(self._documents)[place] if scores[place] > 0 else None

    @cached_property
    def _index(self) -> Okapi:
        return Okapi([_stems(_indexed_text(document)) for document in self._documents.values()])


def shown(document: Document) -> dict[str, Any]:
    """What a search shows of a tool."""
    keys = ("name", "description", "input_parameters", "output_parameters")
    return {key: document[key] for key in keys}


def names_in(output: Any) -> tuple[str, ...]:
    """The tools that an output of the search shows, the one searched for last."""
    return tuple(one["name"] for one in (output if isinstance(output, list) else [output]))


def search_text(document: Document) -> str:
    """The text that upstream embeds for a tool."""
    return spaced(document["name"]) + str(document["description"])


def spaced(name: str) -> str:
    """``AddAlarm`` as ``add alarm``."""
    return _CAPITAL.sub(lambda capital: f" {capital[0].lower()}", name).strip()


def _indexed_text(document: Document) -> str:
    parameters = (
        f"{name.replace('_', ' ')} {about['description']}"
        for name, about in document["input_parameters"].items()
    )
    return " ".join([*[spaced(document["name"])] * NAME_WEIGHT, document["description"], *parameters])


def _stems(text: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(text.lower()) if word not in _COMMON]


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word.removesuffix(ending)
    return word
