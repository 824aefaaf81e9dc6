"""The files of a ToolBench-X tree: where each stands, and the form of a task record.

::

    tasks/WORKFLOW/TOPIC/SUBTOPIC.json                          {"tasks": [RECORD, …]}
    tools/WORKFLOW/TOPIC/SUBTOPIC/TASK.py                       a task's tools, one function each
    tools_exception/WORKFLOW/CATEGORY/TOPIC/SUBTOPIC/TASK.py    the same, perturbed
    tools_exception/…/TASK.hints.json                           {"TOOL::FAILPOINT": {HINT…}, …}
    tools_exception/exception_hints_catalog.json                {"WORKFLOW/TOPIC/SUBTOPIC/TASK": {HINTS…}, …}

The paper does not print its layout; this is what the authors' published code reads and writes. ``CATEGORY``
may be absent. ``docs/tool-bench-x.md`` has the records, and what of them is ours alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeAlias

from toolenv.errors import DataCorruptError, UnknownNameError
from toolenv.json_values import UnusableValueError, clean_json

TASKS, TOOLS, EXCEPTIONS = "tasks", "tools", "tools_exception"
CATALOG = "exception_hints_catalog.json"
HINTS_SUFFIX = ".hints.json"

Workflow: TypeAlias = Literal["sequential", "parallel", "mixture"]
WORKFLOWS: tuple[Workflow, ...] = ("sequential", "parallel", "mixture")

HAZARDS: Mapping[str, str] = {
    "specification-drift": "Specification_Uncertainty",
    "invocation-error": "Invocation_Uncertainty",
    "execution-failure": "Execution_Uncertainty",
    "output-drift": "Output_Uncertainty",
    "cross-source-conflict": "Cross-Source_Uncertainty",
}
"""Folder of each hazard in ``tools_exception``; the code calls them uncertainties, the paper by our names."""

LONGEST_NAME = 200
"""Characters of a task's name: file systems take 255 bytes."""

_UNSAFE = re.compile(r"[^\w\s-]")


def segment(text: str) -> str:
    """A name as folders and files have it: letters, digits, ``_`` and ``-`` alone."""
    return "_".join(_UNSAFE.sub("", text).split()) or "unknown"


def hazard_of(category: str) -> str:
    """The hazard of a category's name, whatever its form; ``""`` if it is none."""
    first = segment(category).casefold().replace("-", "_").split("_")[0]
    return next((name for name in HAZARDS if name.split("-")[0] == first), "")


@dataclass(frozen=True, slots=True)
class Key:
    """Which task.

    Attributes:
        workflow: sequential, parallel or mixture.
        topic, subtopic, task: as folders and files are called.
    """

    workflow: str
    topic: str
    subtopic: str
    task: str

    def __str__(self) -> str:
        return f"{self.workflow}/{self.topic}/{self.subtopic}/{self.task}"

    @property
    def tasks_file(self) -> PurePosixPath:
        """Where its record stands."""
        return PurePosixPath(TASKS, self.workflow, self.topic, f"{self.subtopic}.json")

    @property
    def tools_file(self) -> PurePosixPath:
        """Where its clean tools stand."""
        return PurePosixPath(TOOLS, self.workflow, self.topic, self.subtopic, f"{self.task}.py")

    def exception_file(self, hazard: str) -> PurePosixPath:
        """Where its perturbed tools stand."""
        folder = PurePosixPath(EXCEPTIONS, self.workflow, HAZARDS[hazard], self.topic, self.subtopic)
        return folder / f"{self.task}.py"


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a reference or recovery path."""

    tool: str
    arguments: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """``{"tool": …, "arguments": {…}}``."""
        return {"tool": self.tool, "arguments": dict(self.arguments)}


@dataclass(frozen=True, slots=True)
class Record:
    """A task record.

    Attributes:
        key: which task.
        prompt: what the user says.
        tools: the tools that the task takes, in order.
        answer: the expected answer.
        distractors: tools offered beside them; not in upstream's records.
        calls: the reference path; not in upstream's records.
        recovery: a recovery path by hazard; not in upstream's records.
        place: file and record, for errors.
    """

    key: Key
    prompt: str
    tools: tuple[str, ...]
    answer: str
    distractors: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    recovery: Mapping[str, tuple[Call, ...]] = field(default_factory=dict)
    place: str = ""

    def to_json(self) -> dict[str, Any]:
        """The record as files have it."""
        extras = {
            "distractors": list(self.distractors),
            "reference_calls": [call.to_json() for call in self.calls],
            "recovery_calls": {
                name: [call.to_json() for call in path] for name, path in self.recovery.items()
            },
        }
        return {
            "id": self.key.task,
            "user_prompt": self.prompt,
            "tools_used": list(self.tools),
            "expected_answer": self.answer,
            **{name: value for name, value in extras.items() if value},
        }


def records_in(payload: Any, file: PurePosixPath, where: Path) -> list[Record]:
    """The records of a task file.

    Args:
        payload: what it holds.
        file: its path within the tree.
        where: its path on disk, for errors.

    Raises:
        DataCorruptError: names the file, the record and the field.
    """
    if len(file.parts) != 4 or file.parts[1] not in WORKFLOWS:
        raise DataCorruptError(f"{where}: a task file stands at {TASKS}/WORKFLOW/TOPIC/SUBTOPIC.json")
    entries = payload.get("tasks", [payload]) if isinstance(payload, dict) else payload
    entries = [entries] if isinstance(entries, dict) else entries
    if not isinstance(entries, list):
        raise DataCorruptError(f"{where}: 'tasks' is {entries!r:.80}, expected a list")
    return [_record(entry, file, f"{where}, record {at}") for at, entry in enumerate(entries, 1)]


def _record(entry: Any, file: PurePosixPath, place: str) -> Record:
    if not isinstance(entry, dict):
        raise DataCorruptError(f"{place} is {entry!r:.80}, expected an object")
    name = str(_field(entry, ("id",), (str, int), place)).strip()
    if not name or len(name) > LONGEST_NAME:
        raise DataCorruptError(f"{place}: 'id' has {len(name):,} characters, expected 1 to {LONGEST_NAME}")
    place = f"{place} ({name!r:.60})"
    entry = cleaned(entry, place)
    tools, distractors = _pool(entry, place)
    offered = (*tools, *distractors)
    answer = _field(entry, ("expected_answer", "final_answer"), (str, int, float), place)
    return Record(
        key=Key(file.parts[1], file.parts[2], file.name.removesuffix(".json"), segment(name)),
        prompt=_field(entry, ("user_prompt",), (str,), place),
        tools=tools,
        answer=str(answer).strip(),
        distractors=distractors,
        calls=_calls(_list(entry, "reference_calls", place), "reference_calls", offered, place),
        recovery=_recovery(entry, offered, place),
        place=place,
    )


def _field(entry: Mapping[str, Any], names: Sequence[str], kinds: tuple[type, ...], place: str) -> Any:
    """The first of several fields that is there and not empty."""
    for name in names:
        value = entry.get(name)
        if value is None or value == "":
            continue
        if not isinstance(value, kinds) or isinstance(value, bool):
            expected = " or ".join(kind.__name__ for kind in kinds)
            raise DataCorruptError(f"{place}: {name!r} is {value!r:.80}, expected {expected}")
        return value
    raise DataCorruptError(f"{place}: {' or '.join(map(repr, names))} is missing")


def cleaned(entry: Mapping[str, Any], place: str) -> dict[str, Any]:
    """An object of a file, bounded and fit to be written again; see :func:`toolenv.json_values.clean_json`.

    Raises:
        DataCorruptError: names the field, and how long a text in it is.
    """
    found = {}
    for name, value in entry.items():
        try:
            found[name] = clean_json(value)[0]
        except UnusableValueError as error:
            size = f" ({len(value):,} characters)" if isinstance(value, str) else ""
            raise DataCorruptError(f"{place}: {name!r:.60}: {error}{size}") from error
    return found


def _list(entry: Mapping[str, Any], name: str, place: str) -> list[Any]:
    value = entry.get(name, [])
    if not isinstance(value, list):
        raise DataCorruptError(f"{place}: {name!r} is {value!r:.80}, expected a list")
    return value


def _pool(entry: Mapping[str, Any], place: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tools that a task takes, and those beside them."""
    tools, distractors = (_names(entry, field, place) for field in ("tools_used", "distractors"))
    if not tools:
        raise DataCorruptError(f"{place}: 'tools_used' is missing or empty")
    for tool in distractors:
        if tool in tools:
            raise DataCorruptError(f"{place}: 'distractors' has {tool!r:.80}, which 'tools_used' has too")
    return tools, distractors


def _names(entry: Mapping[str, Any], field: str, place: str) -> tuple[str, ...]:
    """Tools, each once."""
    found = []
    for at, tool in enumerate(_list(entry, field, place)):
        name = tool.get("tool_name") if isinstance(tool, dict) else tool
        if not isinstance(name, str) or not name.strip():
            raise DataCorruptError(f"{place}: {field}[{at}] is {tool!r:.80}, expected a tool's name")
        found.append(name.strip())
    return tuple(dict.fromkeys(found))


def _recovery(entry: Mapping[str, Any], offered: Sequence[str], place: str) -> dict[str, tuple[Call, ...]]:
    value = entry.get("recovery_calls", {})
    if not isinstance(value, dict):
        raise DataCorruptError(f"{place}: 'recovery_calls' is {value!r:.80}, expected an object")
    for name in value:
        if name not in HAZARDS:
            unknown = UnknownNameError("hazard", name, HAZARDS, where="'recovery_calls'")
            raise DataCorruptError(f"{place}: {unknown}")
    return {
        name: _calls(_list(value, name, place), f"recovery_calls[{name!r}]", offered, place) for name in value
    }


def _calls(values: Sequence[Any], name: str, offered: Sequence[str], place: str) -> tuple[Call, ...]:
    found = []
    for at, value in enumerate(values):
        tool = value.get("tool") if isinstance(value, dict) else None
        arguments = value.get("arguments", {}) if isinstance(value, dict) else None
        if not isinstance(tool, str) or not isinstance(arguments, dict):
            raise DataCorruptError(
                f"{place}: {name}[{at}] is {value!r:.80}, expected {{'tool': …, 'arguments': {{…}}}}"
            )
        if tool not in offered:
            unknown = UnknownNameError("tool", tool, offered, where=f"{name}[{at}]")
            raise DataCorruptError(f"{place}: {unknown}")
        found.append(Call(tool, arguments))
    return tuple(found)
