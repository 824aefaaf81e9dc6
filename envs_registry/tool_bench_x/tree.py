"""A tree in ToolBench-X's layout, read from a folder: records, tools, perturbed tools, hints."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from envs_registry.tool_bench_x.hints import BRIEF, DETAILED
from envs_registry.tool_bench_x.layout import (
    CATALOG,
    EXCEPTIONS,
    HINTS_SUFFIX,
    TASKS,
    WORKFLOWS,
    Key,
    Record,
    cleaned,
    hazard_of,
    records_in,
)
from toolenv.data import read_json
from toolenv.errors import DataCorruptError, DataMissingError

DATA = "tool-bench-x"

LARGEST_FILE = 64 << 20
"""Bytes of a file that is read; texts in it and modules have narrower bounds."""

_TEXTS = ("exception_category", BRIEF, DETAILED)


@dataclass(frozen=True, slots=True)
class Perturbed:
    """The perturbed tools of a task.

    Attributes:
        hazard: one of the five.
        source: the module's text.
        place: its file, for errors.
        hints: by ``TOOL::FAILPOINT``, from the file beside it or the catalogue; ``None`` if neither has any.
    """

    hazard: str
    source: str
    place: str
    hints: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A task with its tools.

    Attributes:
        record: the record.
        source: the text of its clean tools; ``None`` if there is none.
        perturbed: its perturbed tools, in the order of their files.
    """

    record: Record
    source: str | None = None
    perturbed: tuple[Perturbed, ...] = field(default=())


def read_tree(folder: Path) -> tuple[Entry, ...]:
    """Every task of a tree, in the order of files and records.

    Raises:
        DataMissingError: there is no task file.
        DataCorruptError: a file cannot be read, or two tasks have one name.
    """
    files = sorted(folder.glob(f"{TASKS}/**/*.json"))
    if not files:
        raise DataMissingError(
            f"{folder} is no ToolBench-X tree: it has no {TASKS}/WORKFLOW/TOPIC/SUBTOPIC.json"
        )
    records = [record for path in files for record in _records(path, folder)]
    known: dict[Key, Record] = {}
    for record in records:
        if record.key in known:
            raise DataCorruptError(f"{record.place}: the same task as {known[record.key].place}")
        known[record.key] = record
    perturbed = _perturbed(folder)
    return tuple(
        Entry(record, _text(folder / record.key.tools_file, folder), tuple(perturbed.get(record.key, ())))
        for record in records
    )


def _records(path: Path, folder: Path) -> list[Record]:
    return records_in(_json(path, folder), _within(path, folder), path)


def _within(path: Path, folder: Path) -> PurePosixPath:
    return PurePosixPath(path.relative_to(folder).as_posix())


def _own(path: Path, folder: Path) -> Path:
    """A file of the tree itself: what a link leads to elsewhere would end up in prompts.

    Raises:
        DataCorruptError: it leads out of the tree or in a circle, is no file, or is too large.
    """
    try:
        real, is_there = path.resolve(), True
        path.stat()
    except FileNotFoundError:
        is_there = False
    except (OSError, RuntimeError) as error:  # a circle: of `stat`, before Python 3.13 of `resolve`
        raise DataCorruptError(f"{path} cannot be read: {error}") from error
    if is_there and not path.is_file():
        raise DataCorruptError(f"{path} cannot be read: it is no file")
    if not real.is_relative_to(folder.resolve()):
        raise DataCorruptError(f"{path} is a link out of the tree, to {real}; put a copy of the file there")
    if is_there and (size := path.stat().st_size) > LARGEST_FILE:
        raise DataCorruptError(f"{path} has {size:,} bytes, at most {LARGEST_FILE:,} are read")
    return path


def _json(path: Path, folder: Path) -> Any:
    return read_json(_own(path, folder), DATA)


def _text(path: Path, folder: Path) -> str | None:
    try:
        # As Python reads a module: a byte order mark is no part of it.
        return _own(path, folder).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise DataCorruptError(f"{path} cannot be read: {error}") from error


def _perturbed(folder: Path) -> dict[Key, list[Perturbed]]:
    found: dict[Key, list[Perturbed]] = {}
    catalog = _catalog(folder / EXCEPTIONS / CATALOG, folder)
    for path in sorted(folder.glob(f"{EXCEPTIONS}/**/*.py")):
        key, category = _place(_within(path, folder), path)
        hints = _hints(path.with_name(path.stem + HINTS_SUFFIX), folder) or catalog.get(str(key))
        hazard = hazard_of(category or _stated_category(hints))
        if not hazard:
            raise DataCorruptError(f"{path}: {category or 'its hints'!r} names none of the five hazards")
        found.setdefault(key, []).append(Perturbed(hazard, _text(path, folder) or "", str(path), hints))
    return found


def _place(file: PurePosixPath, path: Path) -> tuple[Key, str]:
    """The task of a file of perturbed tools, and the category its folder names; ``""`` without one."""
    parts = file.parts[1:]
    if len(parts) not in (4, 5) or parts[0] not in WORKFLOWS:
        raise DataCorruptError(
            f"{path}: perturbed tools stand at {EXCEPTIONS}/WORKFLOW/CATEGORY/TOPIC/SUBTOPIC/TASK.py"
        )
    topic, subtopic, name = parts[-3:]
    return Key(parts[0], topic, subtopic, name.removesuffix(".py")), parts[1] if len(parts) == 5 else ""


def _hints(path: Path, folder: Path) -> Mapping[str, Any] | None:
    return _hints_in(_json(path, folder), str(path)) if os.path.lexists(path) else None


def _catalog(path: Path, folder: Path) -> dict[str, Mapping[str, Any]]:
    if not os.path.lexists(path):
        return {}
    tasks = _objects(_json(path, folder), str(path))
    return {key: _hints_in(hints, f"{path}, {key!r:.80}") for key, hints in tasks}


def _hints_in(value: Any, where: str) -> Mapping[str, Mapping[str, Any]]:
    found = {name: cleaned(hint, f"{where}: {name!r:.80}") for name, hint in _objects(value, where)}
    for name, hint in found.items():
        for text in _TEXTS:
            if not isinstance(hint.get(text), str | None):
                raise DataCorruptError(
                    f"{where}: {name!r:.80}: {text!r} is {hint[text]!r:.80}, expected a string"
                )
    return found


def _objects(value: Any, where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not isinstance(value, dict):
        raise DataCorruptError(f"{where}: holds a {type(value).__name__}, expected an object")
    for name, item in value.items():
        if not isinstance(item, dict):
            raise DataCorruptError(f"{where}: {name!r:.80} is {item!r:.80}, expected an object")
        yield name, item


def _stated_category(hints: Mapping[str, Any] | None) -> str:
    return next((one.get("exception_category") or "" for one in (hints or {}).values()), "")
