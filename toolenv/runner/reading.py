"""Reading run directories, one episode at a time: memory does not grow with the file."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from toolenv.episode import Episode
from toolenv.errors import DataCorruptError, StoreError, UnknownNameError
from toolenv.hashed_json import strict_json
from toolenv.rollout import Rollout
from toolenv.runner import shards
from toolenv.trace import Trace

BASELINE = "baseline"
"""The arm of runs that are part of no study, too."""

RUN_VERSION = 1
RUN_FILE = "run.json"
EPISODES_FILE = shards.FIRST_SHARD

PLAYED_AGAIN = frozenset({"server_error", "deadline"})
"""What decided the invalid episodes that a resumed run plays again: a failed server, time that ran out."""

Parts: TypeAlias = tuple[Any, Callable[[], Any]]
"""What a line holds: its episode, and a function that parses its trace."""

T = TypeVar("T")

_HEADER_PARTS = {"config": dict, "agent": str, "agent_settings": dict, "manifests": dict, "planned": dict}


def read_header(folder: Path) -> dict[str, Any]:
    """``run.json`` of a run directory.

    Raises:
        StoreError: there is none, or it cannot be read.
    """
    path = folder / RUN_FILE
    shards.check_file(path)
    try:
        header = strict_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise StoreError(f"{folder} is no run directory: it has no {RUN_FILE}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error
    if not isinstance(header, dict) or header.get("version") != RUN_VERSION:
        found = header.get("version") if isinstance(header, dict) else header
        raise StoreError(f"{path}: version {found!r:.80}, expected {RUN_VERSION}")
    for name, kind in _HEADER_PARTS.items():
        if not isinstance(header.get(name), kind):
            raise StoreError(f"{path}: {name} is {header.get(name)!r:.80}, not a {kind.__name__}")
    _check_values(header, path)
    _check_origins(header.setdefault("origins", {}), path)
    return header


def _check_values(header: dict[str, Any], path: Path) -> None:
    """Runs of earlier versions lack a part or two; what is there has to be what it is read as."""
    header["config"].setdefault("env_options", {})
    parts: Mapping[str, tuple[Iterable[Any], type]] = {
        "planned": (header["planned"].values(), int),
        "manifests": (header["manifests"].values(), str),
        "config: env_options": ([header["config"]["env_options"]], dict),
        "config: agent_options": ([header["config"].get("agent_options", {})], dict),
        "config_hash": ([header.get("config_hash", "")], str),
        "arm": ([header.get("arm", BASELINE)], str),
        "baseline": ([header.get("baseline", {})], dict),
    }
    for name, (values, kind) in parts.items():
        for value in values:
            if type(value) is not kind:
                raise StoreError(f"{path}: {name} has {value!r:.80}, expected a {kind.__name__}")
    if header.get("arm", BASELINE) != BASELINE:
        _check_arm(header, path)
    for env, count in header["planned"].items():
        if count < 0:
            raise StoreError(f"{path}: planned has {count} episodes of {env!r:.80}")


def _check_arm(header: Mapping[str, Any], path: Path) -> None:
    """Arms but the baseline are of a study, which they name."""
    from toolenv.runner.arms import ARMS  # which reads runs itself

    if header["arm"] not in ARMS:
        raise StoreError(f"{path}: {UnknownNameError('arm', header['arm'], ARMS)}")
    if not isinstance(header.get("baseline", {}).get("config_hash"), str):
        raise StoreError(f"{path}: arm {header['arm']!r} has no config_hash under baseline")


def _check_origins(origins: Any, path: Path) -> None:
    """Runs of earlier versions have none."""
    if not isinstance(origins, dict):
        raise StoreError(f"{path}: origins is {origins!r:.80}, not a dict")
    for env, origin in origins.items():
        corrections = origin.get("corrections") if isinstance(origin, dict) else None
        parts = {"hash": str, "file": str, "replace": list, "widen": list, "exclude": dict}
        if (
            not isinstance(corrections, dict)
            or not isinstance(origin.get("data"), str)
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
        try:
            found = [folder] if (folder / RUN_FILE).exists() else sorted(below)
        except OSError as error:  # such as a name that is too long
            raise StoreError(f"{folder} cannot be read: {error.strerror or error}") from error
        if not found:
            raise StoreError(f"{folder} is no run directory and holds none: there is no {RUN_FILE}")
        for run in found:
            runs.setdefault(run.resolve(), run)
    return list(runs.values())


def read_episodes(folder: Path) -> Iterator[Episode]:
    """Every finished episode without its trace, in the order they were stored. Traces are not parsed.

    Raises:
        StoreError: a line that is no record, by number.
    """
    return _read(folder, lambda parts: Episode.from_json(parts[0]))


def read_own_episodes(folder: Path) -> Iterator[Episode]:
    """:func:`read_episodes`, each made sure to be of the run that ``run.json`` tells of.

    Raises:
        StoreError: as there; or an episode of another agent or environment: a file was put there by hand.
    """
    header = read_header(folder)
    agent, planned = header["agent"], header["planned"]
    for one in read_episodes(folder):
        if one.agent != agent or one.env not in planned:
            raise StoreError(
                f"{folder} is a run of {agent!r} in {', '.join(planned)}, and holds an episode of"
                f" {one.agent!r} in {one.env} (task {one.task_id!r}): it belongs into another folder"
            )
        yield one


def read_rollouts(
    folder: Path, wanted: Callable[[Episode], bool] = lambda episode: True
) -> Iterator[Rollout]:
    """Every finished episode that is ``wanted`` with its trace, in the order they were stored.

    Raises:
        StoreError: a line that is no record, by number.
    """

    def parse(parts: Parts) -> Rollout | None:
        episode = Episode.from_json(parts[0])
        return Rollout(episode, Trace.from_json(parts[1]())) if wanted(episode) else None

    return (played for played in _read(folder, parse) if played is not None)


def read_records(folder: Path) -> Iterator[tuple[Episode, Any]]:
    """Every finished episode with its trace as plain JSON, in the order they were stored.

    Raises:
        StoreError: a line that is no record, by number.
    """
    return _read(folder, lambda parts: (Episode.from_json(parts[0]), parts[1]()))


def read_file(path: Path) -> Iterator[Episode]:
    """The episodes of one of a run's files, without their traces.

    Raises:
        StoreError: a line that is no record, by number.
    """
    return _read_file(path, lambda parts: Episode.from_json(parts[0]))


def read_rollout_at(path: Path, start: int) -> Rollout:
    """The episode with its trace whose line begins at byte ``start`` of one of a run's files.

    Raises:
        StoreError: it is no record.
    """
    with path.open("rb") as file:
        file.seek(start)
        line = file.readline()
    where = f"{path}, byte {start}"
    return _parsed(
        line, where, lambda parts: Rollout(Episode.from_json(parts[0]), Trace.from_json(parts[1]()))
    )


def _read(folder: Path, parse: Callable[[Parts], T]) -> Iterator[T]:
    for path in shards.shard_paths(folder):
        yield from _read_file(path, parse)


def _read_file(path: Path, parse: Callable[[Parts], T]) -> Iterator[T]:
    """What each line holds; an unfinished last line is left out."""
    shards.check_file(path)
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            yield _parsed(line, f"{path}, line {number}", parse)


def _parsed(line: bytes, where: str, parse: Callable[[Parts], T]) -> T:
    if line.startswith(codecs.BOM_UTF8):
        raise StoreError(f"{where}: not a record: it begins with a UTF-8 BOM; save the file without")
    try:
        return parse(_parts(line))
    except (ValueError, LookupError, TypeError, AttributeError, DataCorruptError) as error:
        raise StoreError(f"{where}: not a record: {type(error).__name__}: {error}") from error


_START, _BETWEEN, _END = b'{"episode":', b'},"trace":{', b"}}\n"


def _parts(line: bytes) -> Parts:
    """An episode, parsed, and its trace, parsed when it is asked for: most of a line is trace.

    Inside a JSON string every quotation mark has a backslash before it, so what stands between the two parts
    of a line as the store writes it stands in no string. A line that is split wrongly, because it was written
    otherwise or has a part of that name, is no JSON in its first part, and parsed whole.
    """
    from pydantic_core import from_json

    at = line.find(_BETWEEN)
    if at > 0 and line.startswith(_START) and line.endswith(_END):
        with suppress(ValueError):
            episode = from_json(line[len(_START) : at + 1], allow_inf_nan=False)
            return episode, lambda: from_json(line[at + len(_BETWEEN) - 1 : -2], allow_inf_nan=False)
    record = from_json(line, allow_inf_nan=False)
    return record["episode"], lambda: record["trace"]
