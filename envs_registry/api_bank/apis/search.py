"""Searches: for documents and for tools (APIS.md 5.12 and 5.14)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from envs_registry.api_bank.okapi import Okapi
from envs_registry.api_bank.registry import api
from envs_registry.api_bank.rules import NAMED, OUTCOME, Result, equal, every
from envs_registry.api_bank.state import Failure, State
from envs_registry.api_bank.tool_search import names_in

FOUND: Final = 2
"""Documents a search returns."""

LONGEST_KEYWORD: Final = 10_000
"""Characters of a keyword that are read."""

_SIGNS = re.compile(r"([;@#$%&?!*()\[\]{}<>]|--|\.\.\.|[:,](?!\d))")
_FINAL_STOP = re.compile(r"(?<!\.)\.\s*$")
_CLITICS = re.compile(r"(?<=\w)('s|'m|'d|'ll|'re|'ve|n't)(?=\s|$)")


def words(text: str) -> list[str]:
    """The words of one lower-case sentence, as NLTK's English tokeniser splits ordinary ones."""
    text = _FINAL_STOP.sub(" . ", _SIGNS.sub(r" \1 ", text))
    return _CLITICS.sub(r" \1", text).split()


def _same_documents(tested: Result, recorded: Result) -> bool:
    left, right = (sorted(side["output"], key=_title_and_abstract) for side in (tested, recorded))
    return left == right


def _title_and_abstract(document: Mapping[str, str]) -> str:
    return document["title"] + document["abstract"]


@api("SearchEngine", every(NAMED, equal("exception"), _same_documents))
def search_engine(state: State, keyword: Any) -> Any:
    """The best documents for a keyword."""
    text = keyword.lower().strip()[:LONGEST_KEYWORD]
    table = state.read("SearchEngine")
    places = _index(_Identity(table["tokenized_documents"])).best(words(text), FOUND)
    return [table["raw_documents"][place] for place in places]


class _Identity:
    """A shared list as a key, by what it is and not by what it holds."""

    def __init__(self, documents: list[list[str]]) -> None:
        self.documents = documents

    def __hash__(self) -> int:
        return id(self.documents)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.documents is self.documents


@lru_cache(maxsize=4)
def _index(table: _Identity) -> Okapi:
    return Okapi(table.documents)


def _same_tools(tested: Result, recorded: Result) -> bool:
    return names_in(tested["output"]) == names_in(recorded["output"])


# Upstream's descriptions changed after most searches had been recorded: what counts is what was found.
@api("ToolSearcher", OUTCOME, mended=_same_tools, folder="lv3_apis")
@api("ToolSearcher", OUTCOME, mended=_same_tools)
def tool_searcher(state: State, keywords: Any) -> Any:
    """The tool that fits some keywords best."""
    if state.search is None:
        raise Failure("There is no tool to search for.")
    return state.search(keywords)
