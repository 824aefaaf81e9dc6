"""The sample file: everything a person needs to judge the drawn tasks, and nothing any agent did with them.

::

    {"version": 1, "seed": 0, "confidence": 0.95, "margin": 0.05, "p": 0.5,
     "strata": [{"suite": "BFCL", "env": "ToolFeas/BFCL-infeasible-v0", "subset": "default",
                 "manifest": "sha256:…", "population": 445, "size": 121}, …],
     "items": [{"suite": "BFCL", "task": TASK_ID,
                "turns": [{"said": [{"role": "user", "text": "…"}], "adds": [TOOL, …]}, …],
                "masked": [{"name": "…", "description": "…", "parameters": {…}}, …],
                "remaining": [… likewise …]}, …],
     "hash": "sha256:…"}

``manifest`` is the hash of the mask manifest whose masks were sampled, ``population`` the number of its
masked tasks. ``adds`` names tools that are offered only from that turn on. ``hash`` covers the rest; answers
name it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from toolenv.canonical import digest
from toolenv.errors import DataCorruptError, DataMissingError, StoreError, UnknownNameError
from toolenv.hashed_json import expect_fields, read_json
from toolenv.types import ToolSpec

SAMPLE_VERSION = 1


class Said(NamedTuple):
    """One message of the task."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class SampledTurn:
    """One user turn: what is said, and the tools offered only from it on."""

    said: tuple[Said, ...]
    adds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """A drawn task as a person sees it.

    Attributes:
        suite, task_id: which task.
        turns: the request, the opening turn first.
        masked: C, the tools taken away.
        remaining: T', the tools left.
    """

    suite: str
    task_id: str
    turns: tuple[SampledTurn, ...]
    masked: tuple[ToolSpec, ...]
    remaining: tuple[ToolSpec, ...]

    @property
    def id(self) -> str:
        """Unique within a sample."""
        return f"{self.suite}/{self.task_id}"


@dataclass(frozen=True, slots=True)
class Stratum:
    """One suite's share: the frame it was drawn from and how many of it were drawn."""

    suite: str
    env: str
    subset: str
    manifest: str
    population: int
    size: int


@dataclass(frozen=True)
class Sample:
    """A drawn sample; see the module for its file form."""

    seed: int
    confidence: float
    margin: float
    share: float
    strata: tuple[Stratum, ...]
    items: tuple[Item, ...]

    def to_json(self) -> dict[str, Any]:
        """The file form, hash included."""
        body = self._body()
        return {**body, "hash": _hash(body)}

    @cached_property
    def hash(self) -> str:
        """``sha256:…`` over the sample's content."""
        return _hash(self._body())

    def _body(self) -> dict[str, Any]:
        return {
            "version": SAMPLE_VERSION,
            "seed": self.seed,
            "confidence": self.confidence,
            "margin": self.margin,
            "p": self.share,
            "strata": [asdict(stratum) for stratum in self.strata],
            "items": [_item_to_json(item) for item in self.items],
        }

    def write(self, path: Path) -> None:
        """Write the file form to a new file.

        Raises:
            StoreError: the file is there already (answers may belong to it), or cannot be written.
        """
        text = json.dumps(self.to_json(), indent=1)
        if path.exists():
            raise StoreError(f"{path} is there already; give another --out")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {error.strerror or error}") from error

    @classmethod
    def read(cls, path: Path) -> Sample:
        """Read a sample file.

        Raises:
            DataMissingError: no such file.
            DataCorruptError: not a sample, another version, or its hash does not match.
        """
        try:
            data = read_json(path, "sample")
        except DataMissingError as error:
            raise DataMissingError(
                f"no sample at {path}; `toolenv annotate sample ENV --out {path}` draws one"
            ) from error
        return cls.from_json(data, where=str(path))

    @classmethod
    def from_json(cls, data: Any, where: str = "sample") -> Sample:
        """Check and build from the file form; ``where`` names it in errors."""
        if not isinstance(data, dict) or data.get("version") != SAMPLE_VERSION or "items" not in data:
            raise DataCorruptError(f"{where} is no sample of version {SAMPLE_VERSION}")
        body = {key: value for key, value in data.items() if key != "hash"}
        found = _hash(body)
        if data.get("hash") != found:
            raise DataCorruptError(f"{where}: hash {data.get('hash')} does not match its content {found}")
        expect_fields(data, _SAMPLE, where)
        strata = tuple(_stratum(one, place) for one, place in _placed(data, "strata", where))
        items = tuple(_item(one, place) for one, place in _placed(data, "items", where))
        suites = {stratum.suite for stratum in strata}
        for item in items:
            if item.suite not in suites:
                unknown = UnknownNameError("suite", item.suite, suites, where="its strata")
                raise DataCorruptError(f"{where}, task {item.task_id!r}: {unknown}")
        confidence, margin, share = (_share(data, name, where) for name in ("confidence", "margin", "p"))
        return cls(data["seed"], confidence, margin, share, strata, items)


def _item_to_json(item: Item) -> dict[str, Any]:
    return {
        "suite": item.suite,
        "task": item.task_id,
        "turns": [
            {"said": [said._asdict() for said in turn.said], "adds": list(turn.adds)} for turn in item.turns
        ],
        "masked": [_tool_to_json(tool) for tool in item.masked],
        "remaining": [_tool_to_json(tool) for tool in item.remaining],
    }


_SAMPLE: Mapping[str, type] = {"seed": int, "strata": list, "items": list}
_STRATUM: Mapping[str, type] = {
    **dict.fromkeys(("suite", "env", "subset", "manifest"), str),
    **dict.fromkeys(("population", "size"), int),
}
_ITEM: Mapping[str, type] = {
    **dict.fromkeys(("suite", "task"), str),
    **dict.fromkeys(("turns", "masked", "remaining"), list),
}
_TOOL: Mapping[str, type] = {"name": str, "description": str, "parameters": dict}


def _placed(data: Mapping[str, Any], name: str, where: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects in a list, and where each stands."""
    for at, one in enumerate(data[name]):
        place = f"{where}: {name}[{at}]"
        if not isinstance(one, dict):
            raise DataCorruptError(f"{place} is {one!r:.80}, expected an object")
        yield one, place


def _share(data: Mapping[str, Any], name: str, where: str) -> float:
    value = data.get(name)
    if not isinstance(value, float) or not 0 < value < 1:
        raise DataCorruptError(f"{where}: {name!r} is {value!r:.80}, expected a number between 0 and 1")
    return value


def _stratum(data: Mapping[str, Any], where: str) -> Stratum:
    expect_fields(data, _STRATUM, where)
    return Stratum(**{name: data[name] for name in _STRATUM})


def _item(data: Mapping[str, Any], where: str) -> Item:
    expect_fields(data, _ITEM, where)
    return Item(
        suite=data["suite"],
        task_id=data["task"],
        turns=tuple(_turn(one, place) for one, place in _placed(data, "turns", where)),
        masked=tuple(_tool(one, place) for one, place in _placed(data, "masked", where)),
        remaining=tuple(_tool(one, place) for one, place in _placed(data, "remaining", where)),
    )


def _turn(data: Mapping[str, Any], where: str) -> SampledTurn:
    expect_fields(data, {"said": list, "adds": list}, where)
    for tool in data["adds"]:
        if not isinstance(tool, str):
            raise DataCorruptError(f"{where}: 'adds' has {tool!r:.80}, expected a tool's name")
    said = []
    for one, place in _placed(data, "said", where):
        expect_fields(one, {"role": str, "text": str}, place)
        said.append(Said(one["role"], one["text"]))
    return SampledTurn(tuple(said), tuple(data["adds"]))


def _tool(data: Mapping[str, Any], where: str) -> ToolSpec:
    expect_fields(data, _TOOL, where)
    return ToolSpec(**{name: data[name] for name in _TOOL})


def _tool_to_json(tool: ToolSpec) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}


def _hash(body: Mapping[str, Any]) -> str:
    return "sha256:" + digest(body)
