"""The run directory: ``run.json`` and ``episodes.jsonl``, one finished episode a line, appended whole.

Killing the process at any moment loses at most the episodes in flight.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from toolenv.episode import Episode
from toolenv.errors import StoreError
from toolenv.rollout import Rollout
from toolenv.runner.plan import RunConfig, versions
from toolenv.trace import Trace

RUN_VERSION = 1
RUN_FILE = "run.json"
EPISODES_FILE = "episodes.jsonl"
LOCK_FILE = ".lock"


class TornLineWarning(UserWarning):
    """The last line of a run was cut off by a crash; its episode will be run again."""


class RunStore:
    """A run directory open for writing; use it as a context manager.

    Args:
        folder: the directory; made if absent.
        config: what is run.
        agent: the policy's name, as episodes carry it.
        manifests: the hash of each env's mask manifest.
        planned: how many episodes each env has.
        resume: go on with what is there.

    Raises:
        StoreError: not writable, in use by another process, there already (without ``resume``), or
            holding another run (with it).
    """

    def __init__(
        self,
        folder: Path,
        config: RunConfig,
        agent: str,
        manifests: Mapping[str, str],
        planned: Mapping[str, int],
        *,
        resume: bool = False,
    ) -> None:
        self.folder = folder
        self._header = {
            "version": RUN_VERSION,
            "config": config.to_json(),
            "config_hash": config.hash,
            "agent": agent,
            "manifests": dict(manifests),
            "planned": dict(planned),
            "versions": versions(),
        }
        self._lock = _lock(folder)
        try:
            self.done = self._prepare(resume)
            self._file: IO[bytes] = (folder / EPISODES_FILE).open("ab", buffering=0)
        except BaseException:
            self._lock.release()
            raise

    def append(self, rollout: Rollout) -> None:
        """Add a finished episode, once."""
        if rollout.episode.key in self.done:
            raise StoreError(f"episode {rollout.episode.key} is already in {self.folder}")
        record = {"episode": rollout.episode.to_json(), "trace": rollout.trace.to_json()}
        line = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        while line:
            line = line[self._file.write(line) or 0 :]
        self.done.add(rollout.episode.key)

    def close(self) -> None:
        """Close the files and let others write."""
        self._file.close()
        self._lock.release()

    def __enter__(self) -> RunStore:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _prepare(self, resume: bool) -> set[tuple[str, str, int]]:
        path = self.folder / RUN_FILE
        if not path.exists():
            if (self.folder / EPISODES_FILE).exists():
                raise StoreError(f"{self.folder} holds episodes but no {RUN_FILE}; give another --out")
            _write_whole(path, json.dumps(self._header, indent=1) + "\n")
            return set()
        if not resume:
            raise StoreError(
                f"{self.folder} already holds a run; add --resume to go on with it, or give another --out"
            )
        self._check_same(read_header(self.folder))
        _repair(self.folder / EPISODES_FILE)
        return {episode.key for episode in read_episodes(self.folder)}

    def _check_same(self, found: Mapping[str, Any]) -> None:
        for part in ("config", "manifests"):
            wanted, there = self._header[part], found[part]
            different = [name for name in {**wanted, **there} if wanted.get(name) != there.get(name)]
            if different:
                name = sorted(different)[0]
                raise StoreError(
                    f"{self.folder} holds another run: {name} is {there.get(name)!r} there "
                    f"and {wanted.get(name)!r} here; give another --out"
                )


def _lock(folder: Path) -> Any:
    from filelock import FileLock, Timeout

    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK_FILE, thread_local=False)
        lock.acquire(timeout=0)
    except Timeout as error:
        raise StoreError(f"{folder} is in use by another process") from error
    except OSError as error:
        raise StoreError(f"{folder} cannot be written: {error.strerror or error}") from error
    return lock


def _write_whole(path: Path, text: str) -> None:
    temporary = path.with_suffix(".partial")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)


def _repair(path: Path) -> None:
    """Cut off a last line that a crash left unfinished."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        end = file.seek(0, os.SEEK_END)
        whole = _end_of_last_line(file, end)
        if whole < end:
            warnings.warn(
                f"{path}: dropped an unfinished last line of {end - whole} bytes",
                TornLineWarning,
                stacklevel=4,
            )
            file.truncate(whole)


def _end_of_last_line(file: IO[bytes], end: int, block: int = 1 << 16) -> int:
    while end > 0:
        start = max(0, end - block)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def read_header(folder: Path) -> dict[str, Any]:
    """``run.json`` of a run directory.

    Raises:
        StoreError: there is none, or it cannot be read.
    """
    path = folder / RUN_FILE
    try:
        header: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise StoreError(f"{folder} is no run directory: it has no {RUN_FILE}") from error
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error
    if header.get("version") != RUN_VERSION:
        raise StoreError(f"{path}: version {header.get('version')!r}, expected {RUN_VERSION}")
    return header


def find_runs(folders: list[Path]) -> list[Path]:
    """The run directories among ``folders`` and directly below them, in order.

    Raises:
        StoreError: a folder that is none and holds none.
    """
    runs: list[Path] = []
    for folder in folders:
        found = (
            [folder]
            if (folder / RUN_FILE).exists()
            else sorted(path.parent for path in folder.glob(f"*/{RUN_FILE}"))
        )
        if not found:
            raise StoreError(f"{folder} is no run directory and holds none: there is no {RUN_FILE}")
        runs += found
    return runs


def read_records(folder: Path) -> Iterator[dict[str, Any]]:
    """Every finished episode as stored, one at a time; an unfinished last line is left out.

    Raises:
        StoreError: a line that is no record, by number.
    """
    from pydantic_core import from_json

    path = folder / EPISODES_FILE
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield from_json(line, allow_inf_nan=False)
            except ValueError as error:
                raise StoreError(f"{path}, line {number}: not a record: {error}") from error


def read_episodes(folder: Path) -> Iterator[Episode]:
    """Every finished episode without its trace, one at a time."""
    for record in read_records(folder):
        yield Episode.from_json(record["episode"])


def read_rollouts(folder: Path) -> Iterator[Rollout]:
    """Every finished episode with its trace, one at a time."""
    for record in read_records(folder):
        yield Rollout(Episode.from_json(record["episode"]), Trace.from_json(record["trace"]))
