"""The retained candidates as a tree in ToolBench-X's layout, made from the log alone."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from envs_registry.tool_bench_x.generation.candidate import Candidate
from envs_registry.tool_bench_x.layout import CATALOG, EXCEPTIONS, HAZARDS, HINTS_SUFFIX
from toolenv.errors import StoreError


def write_tree(folder: Path, candidates: Iterable[Candidate]) -> int:
    """Write the files of the retained candidates; those that are right already are left alone.

    Returns:
        How many candidates are retained.

    Raises:
        StoreError: the folder cannot be written.
    """
    retained = [one for one in candidates if one.is_retained]
    for path, text in _files(retained):
        _write(folder / path, text)
    return len(retained)


def _files(retained: list[Candidate]) -> Iterator[tuple[PurePosixPath, str]]:
    by_file: dict[PurePosixPath, list[Candidate]] = {}
    catalog = {}
    for one in retained:
        by_file.setdefault(one.key.tasks_file, []).append(one)
        yield one.key.tools_file, one.source
        exceptions = one.key.exception_file(one.hazard)
        hints = catalog[str(one.key)] = _hints(one)
        yield exceptions, one.perturbed
        yield exceptions.with_name(exceptions.stem + HINTS_SUFFIX), _json(hints)
    for path, members in by_file.items():
        members.sort(key=lambda one: int(one.key.task.rpartition("_")[2]))
        yield path, _json({"tasks": [one.record.to_json() for one in members]})
    yield PurePosixPath(EXCEPTIONS, CATALOG), _json(dict(sorted(catalog.items())))


def _hints(candidate: Candidate) -> dict[str, dict[str, str]]:
    category = HAZARDS[candidate.hazard].replace("_", " ")
    return {
        f"{candidate.perturbed_tool}::{candidate.hazard}": {
            "exception_category": category,
            "minimal_prompt_hint": candidate.hint,
        }
    }


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    try:
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.partial")
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}") from error
