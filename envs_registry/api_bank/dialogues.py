"""Upstream's dialogues: what was said, which calls were made, and what they returned."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from envs_registry.api_bank.registry import Folder
from envs_registry.api_bank.subsets import Level
from envs_registry.api_bank.tool_search import Document
from toolenv.data import read_json, read_json_lines
from toolenv.errors import DataCorruptError, DataMissingError

FOLDERS: Final[Mapping[Level, Folder]] = {1: "apis", 2: "apis", 3: "lv3_apis"}
"""The API collection of each level."""

PLACES: Final[Mapping[Level, str]] = {
    1: "lv1-lv2-samples/level-1-given-desc",
    2: "lv1-lv2-samples/level-2-toolsearcher",
    3: "test-data/level-3.json",
}

RENAMED: Final = {("TimedSwitch", "device_id"): "name", ("CancelTimedSwitch", "device_id"): "name"}
"""Parameters that upstream's code has renamed since the calls were recorded, and what they are now."""


@dataclass(frozen=True, slots=True)
class Said:
    """Words of the user or of the assistant."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call as it was recorded.

    Attributes:
        name: the API.
        arguments: in the declared types, under the parameters' present names.
        result: the result record, its ``input`` under the parameters' present names.
        given: the arguments as the data set writes them, before types and renaming.
    """

    name: str
    arguments: Mapping[str, Any]
    result: Mapping[str, Any]
    given: Mapping[str, Any]


Turn: TypeAlias = Said | RecordedCall


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One dialogue; of level 3, one request with the calls that serve it.

    Attributes:
        id: the file's name without ending; of level 3, its number.
        level: which of upstream's three.
        turns: in order.
    """

    id: str
    level: Level
    turns: tuple[Turn, ...]

    @property
    def calls(self) -> tuple[RecordedCall, ...]:
        """The calls, in order."""
        return tuple(turn for turn in self.turns if isinstance(turn, RecordedCall))

    @property
    def user_texts(self) -> tuple[str, ...]:
        """What the user says, turn by turn."""
        return tuple(turn.text for turn in self.turns if isinstance(turn, Said) and turn.role == "user")

    @property
    def is_closed(self) -> bool:
        """Whether it runs from the user's first words to the assistant's last."""
        first, last = self.turns[0], self.turns[-1]
        return (
            isinstance(first, Said)
            and first.role == "user"
            and isinstance(last, Said)
            and last.role == "assistant"
        )


def load_dialogues(data: Path, level: Level, documents: Mapping[str, Document]) -> tuple[Dialogue, ...]:
    """The dialogues of a level, in the order of their names; empty files are left out.

    Args:
        data: the folder of the data set.
        level: which.
        documents: the APIs that calls may be of.

    Raises:
        DataMissingError: nothing is there.
        DataCorruptError: a call of an API, or with a parameter, that is not documented.
    """
    place = data / PLACES[level]
    if not place.exists():
        raise DataMissingError(f"no {place}; fetch it with: toolenv data pull api-bank")
    read = _level_3(place) if level == 3 else _files(place)
    dialogues = [
        Dialogue(name, level, tuple(_turn(turn, documents, name) for turn in turns))
        for name, turns in read
        if turns
    ]
    return tuple(dialogues)


def _files(folder: Path) -> Iterator[tuple[str, Sequence[Mapping[str, Any]]]]:
    for path in sorted(folder.glob("*.jsonl")):
        yield path.stem, read_json_lines(path, "api-bank")


def _level_3(path: Path) -> Iterator[tuple[str, Sequence[Mapping[str, Any]]]]:
    for number, task in enumerate(read_json(path, "api-bank")):
        calls = [_as_turn(call) for call in task["apis"]]
        request = {"role": "User", "text": task["requirement"].strip()}
        yield f"level-3-{number}", [request, *calls, {"role": "AI", "text": task["response"]}]


def _as_turn(call: Mapping[str, Any]) -> dict[str, Any]:
    names = {"api_name": "api_name", "param_dict": "input", "result": "output"}
    return {"role": "API", **{name: call[theirs] for name, theirs in names.items()}}


def _turn(turn: Mapping[str, Any], documents: Mapping[str, Document], where: str) -> Turn:
    if turn["role"] != "API":
        return Said("user" if turn["role"] == "User" else "assistant", turn["text"])
    name, given = turn["api_name"], turn["param_dict"]
    if name not in documents:
        raise DataCorruptError(f"API-Bank dialogue {where} calls {name!r}, which is not documented")
    renamed = _renamed(name, given, documents[name], where)
    result = turn["result"]
    if result["input"] is not None:
        result = {**result, "input": _renamed(name, result["input"], documents[name], where)}
    types = {parameter: about["type"] for parameter, about in documents[name]["input_parameters"].items()}
    arguments = {parameter: _typed(value, types[parameter]) for parameter, value in renamed.items()}
    return RecordedCall(name, arguments, result, given)


def _renamed(name: str, given: Mapping[str, Any], document: Document, where: str) -> dict[str, Any]:
    renamed = {RENAMED.get((name, parameter), parameter): value for parameter, value in given.items()}
    unknown = sorted(renamed.keys() - document["input_parameters"].keys())
    if unknown:
        raise DataCorruptError(f"API-Bank dialogue {where} calls {name} with {unknown}, not documented")
    return renamed


def _typed(value: Any, declared: str) -> Any:
    """A recorded text as the JSON value it stands for."""
    if not isinstance(value, str) or declared == "str":
        return value
    if declared == "bool":
        return value == "True"
    if declared in ("int", "float"):
        return int(value) if declared == "int" else float(value)
    return ast.literal_eval(value)
