"""Reading run directories, one episode at a time: memory does not grow with the file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeAlias, TypeVar

from toolenv.episode import Episode
from toolenv.errors import DataCorruptError, StoreError
from toolenv.rollout import Rollout
from toolenv.trace import Trace

RUN_VERSION = 1
RUN_FILE = "run.json"
EPISODES_FILE = "episodes.jsonl"

SERVER_ERROR = "server_error"
"""What decided an episode that met a failed server: of the invalid ones, those a resumed run plays again."""

Key: TypeAlias = tuple[str, str, int]
"""(env id, task id, trial): what makes an episode unique within a run."""

T = TypeVar("T")

_HEADER_PARTS = {"config": dict, "agent": str, "agent_settings": dict, "manifests": dict, "planned": dict}


def read_header(folder: Path) -> dict[str, Any]:
    """``run.json`` of a run directory.

    Raises:
        StoreError: there is none, or it cannot be read.
    """
    path = folder / RUN_FILE
    try:
        header = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise StoreError(f"{folder} is no run directory: it has no {RUN_FILE}") from error
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error
    if not isinstance(header, dict) or header.get("version") != RUN_VERSION:
        found = header.get("version") if isinstance(header, dict) else header
        raise StoreError(f"{path}: version {found!r:.80}, expected {RUN_VERSION}")
    for name, kind in _HEADER_PARTS.items():
        if not isinstance(header.get(name), kind):
            raise StoreError(f"{path}: {name} is {header.get(name)!r:.80}, not a {kind.__name__}")
    _check_origins(header.setdefault("origins", {}), path)
    return header


def _check_origins(origins: Any, path: Path) -> None:
    """Runs of earlier versions have none."""
    if not isinstance(origins, dict):
        raise StoreError(f"{path}: origins is {origins!r:.80}, not a dict")
    for env, origin in origins.items():
        corrections = origin.get("corrections") if isinstance(origin, dict) else None
        parts = {"hash": str, "file": str, "replace": list, "widen": list, "exclude": dict}
        if (
            not isinstance(corrections, dict)
            or not isinstance(origin["data"], str)
            or (corrections and any(not isinstance(corrections.get(one), parts[one]) for one in parts))
            or not _are_exclusions(origin.get("tasks", 0), origin.get("excluded", {}))
        ):
            raise StoreError(f"{path}: origin of {env!r:.80} is {origin!r:.80}")


def _are_exclusions(tasks: Any, excluded: Any) -> bool:
    ids = excluded.values() if isinstance(excluded, dict) else [None]
    return type(tasks) is int and all(isinstance(one, list) for one in ids)


def find_runs(folders: Sequence[Path]) -> list[Path]:
    """The run directories among ``folders`` and directly below them, in order, each once.

    Raises:
        StoreError: a folder that is none and holds none.
    """
    runs: dict[Path, Path] = {}
    for folder in folders:
        below = (path.parent for path in folder.glob(f"*/{RUN_FILE}"))
        found = [folder] if (folder / RUN_FILE).exists() else sorted(below)
        if not found:
            raise StoreError(f"{folder} is no run directory and holds none: there is no {RUN_FILE}")
        for run in found:
            runs.setdefault(run.resolve(), run)
    return list(runs.values())


def read_episodes(folder: Path) -> Iterator[Episode]:
    """Every finished episode without its trace, in the order they ended.

    Raises:
        StoreError: a line that is no record, by number.
    """
    return _read(folder, _episode)


def read_rollouts(
    folder: Path, wanted: Callable[[Episode], bool] = lambda episode: True
) -> Iterator[Rollout]:
    """Every finished episode that is ``wanted`` with its trace, in the order they ended.

    Raises:
        StoreError: a line that is no record, by number.
    """

    def parse(record: Mapping[str, Any]) -> Rollout | None:
        episode = _episode(record)
        return Rollout(episode, Trace.from_json(record["trace"])) if wanted(episode) else None

    return (played for played in _read(folder, parse) if played is not None)


def _episode(record: Mapping[str, Any]) -> Episode:
    return Episode.from_json(record["episode"])


def _read(folder: Path, parse: Callable[[Mapping[str, Any]], T]) -> Iterator[T]:
    """What each line holds; an unfinished last line is left out."""
    from pydantic_core import from_json

    path = folder / EPISODES_FILE
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                item = parse(from_json(line, allow_inf_nan=False))
            except (ValueError, LookupError, TypeError, AttributeError, DataCorruptError) as error:
                raise StoreError(
                    f"{path}, line {number}: not a record: {type(error).__name__}: {error}"
                ) from error
            yield item


def end_of_last_line(file: IO[bytes], end: int, block: int = 1 << 16) -> int:
    """The position behind the last line break before ``end``; 0 if there is none."""
    while end > 0:
        start = max(0, end - block)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0
