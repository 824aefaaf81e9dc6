"""A dialogue with all that answers its calls; the shared data is read once per process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from envs_registry import DATA_FOLDER
from envs_registry.api_bank.dialogues import FOLDERS, Dialogue, RecordedCall, load_dialogues
from envs_registry.api_bank.recording import Recording, searches, web_responses
from envs_registry.api_bank.registry import Folder, apis, own_tables
from envs_registry.api_bank.schemas import load_documents
from envs_registry.api_bank.state import State, Table
from envs_registry.api_bank.subsets import Level
from envs_registry.api_bank.tool_search import Document, ToolSearch
from envs_registry.api_bank.world import APIBankWorld, Replay
from toolenv.data import DataStore, read_json

SEARCHER = "ToolSearcher"


@dataclass(frozen=True, eq=False)
class Setting:
    """A dialogue and the world it takes place in.

    Attributes:
        dialogue: the dialogue.
        data: the folder of the data set.
        documents: the APIs of its level, by name.
        tables: the shared databases, never changed.
        web: recorded responses of the APIs that need the network.
    """

    dialogue: Dialogue
    data: Path
    documents: Mapping[str, Document] = field(repr=False)
    tables: Mapping[str, Table] = field(repr=False)
    web: Mapping[tuple[str, ...], Any] = field(repr=False)
    _searches: dict[frozenset[str], ToolSearch] = field(default_factory=dict, init=False, repr=False)

    @property
    def folder(self) -> Folder:
        """The API collection."""
        return FOLDERS[self.dialogue.level]

    def world(
        self,
        seed: int = 0,
        *,
        replay: Replay = "live",
        found_among: frozenset[str] = frozenset(),
        shown: frozenset[str] | None = None,
    ) -> APIBankWorld:
        """A fresh world.

        Args:
            seed: of the episode.
            replay: when recorded results are played back.
            found_among: the tools that ToolSearcher can find.
            shown: the tools an agent sees from the start; ``None`` for all it is offered.
        """
        search = self._search(found_among) if found_among else None
        state = State(self.tables, seed, self.web, search)
        recording = None if replay == "never" else self.recording
        return APIBankWorld(apis(self.folder), self.documents, state, recording, replay, shown)

    @cached_property
    def recording(self) -> Recording:
        """The dialogue's recorded results."""
        return Recording(
            self.dialogue.calls, self.replayed, {name: api.mended for name, api in apis(self.folder).items()}
        )

    def replayed(self, calls: Sequence[RecordedCall]) -> list[Mapping[str, Any] | None]:
        """The results of calls made in order on a fresh world, by the implementations alone.

        What upstream draws at random is taken from the recorded results. ``None`` for a call that reaches no
        API.
        """
        world = self.world(replay="never")
        return [world.answer(call.name, call.arguments, drawn=call.result["output"]).result for call in calls]

    def _search(self, found_among: frozenset[str]) -> ToolSearch:
        if found_among not in self._searches:
            documents = [document for name, document in self.documents.items() if name in found_among]
            self._searches[found_among] = ToolSearch(documents, searches(self.dialogue.calls))
        return self._searches[found_among]


def data_folder(level: Level) -> Path:
    """The pulled data set.

    Raises:
        DataMissingError: with the command that fetches it.
    """
    parts = ("data", "derived", "tests") if level == 3 else ("data", "derived")
    return DataStore(DATA_FOLDER).require("api-bank", *parts)


@cache
def settings(data: Path, level: Level) -> tuple[Setting, ...]:
    """Every dialogue of a level."""
    documents = _documents(data, FOLDERS[level])
    tables, web = _tables(data), _web(data)
    return tuple(Setting(dialogue, data, documents, tables, web) for dialogue in _dialogues(data, level))


@cache
def _documents(data: Path, folder: Folder) -> Mapping[str, Document]:
    return MappingProxyType(load_documents(data, folder))


@cache
def _dialogues(data: Path, level: Level) -> tuple[Dialogue, ...]:
    return load_dialogues(data, level, _documents(data, FOLDERS[level]))


@cache
def _web(data: Path) -> Mapping[tuple[str, ...], Any]:
    return MappingProxyType(web_responses((*_dialogues(data, 1), *_dialogues(data, 2))))


@cache
def _tables(data: Path) -> Mapping[str, Table]:
    files = sorted((data / "init_database").glob("*.json"))
    shipped = {path.stem: read_json(path, "api-bank") for path in files}
    return MappingProxyType({**shipped, **own_tables()})
