"""The log of a generation: ``generation.json`` says what it is, ``candidates.jsonl`` has its candidates.

A candidate is one line, written whole once it is finished, and the tree is made from the log. So killing the
process at any moment loses at most the candidates in the making, and going on makes none twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from envs_registry.tool_bench_x.generation.candidate import Candidate
from envs_registry.tool_bench_x.layout import Key
from toolenv.append_only import locked, opened_for_lines, unwritable
from toolenv.errors import DataCorruptError, StoreError
from toolenv.hashed_json import read_json, write_json
from toolenv.json_values import mend_surrogates

HEADER, CANDIDATES, LOCK = "generation.json", "candidates.jsonl", ".lock"


class CandidateLog:
    """A log open for adding to; a context manager.

    Args:
        folder: where it is; made if absent.
        header: what the generation is: all that its candidates depend on.
        resume: go on with what is there.

    Attributes:
        candidates: those finished so far, in the order of the file.

    Raises:
        StoreError: not writable, in use, there already (without ``resume``), or of another generation (with
        it).
    """

    def __init__(self, folder: Path, header: Mapping[str, Any], *, resume: bool = False) -> None:
        self.folder = folder
        self._lock = locked(folder / LOCK, folder)
        try:
            _check(folder, header, resume)
            self._file = opened_for_lines(folder / CANDIDATES)
            self.candidates = list(read_candidates(folder))
        except BaseException:
            self._lock.release()
            raise
        self._done = {one.key for one in self.candidates}

    def __contains__(self, key: Key) -> bool:
        return key in self._done

    def append(self, candidate: Candidate) -> None:
        """Add a finished candidate; when this returns it is on disk.

        Raises:
            StoreError: it is there already, or cannot be written; nothing of it is left in the file.
        """
        if candidate.key in self._done:
            raise StoreError(f"{self.folder}: {candidate.key} is there already")
        line = mend_surrogates(json.dumps(candidate.to_json(), ensure_ascii=False)).encode() + b"\n"
        start = os.lseek(self._file, 0, os.SEEK_END)
        try:
            while line:
                line = line[os.write(self._file, line) :]
            os.fsync(self._file)
        except OSError as error:
            with suppress(OSError):
                os.truncate(self._file, start)
            raise unwritable(self.folder, error) from error
        self.candidates.append(candidate)
        self._done.add(candidate.key)

    def close(self) -> None:
        """Close the file and let others write."""
        os.close(self._file)
        self._lock.release()

    def __enter__(self) -> CandidateLog:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def read_candidates(folder: Path) -> Iterator[Candidate]:
    """The candidates of a log; an unfinished last line is left out.

    Raises:
        StoreError: a line that is no candidate, by number.
    """
    try:
        content = (folder / CANDIDATES).read_bytes()
    except OSError as error:
        raise StoreError(f"{folder} is no generation: {error.strerror or error}") from error
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        try:
            yield Candidate.from_json(json.loads(line))
        except (ValueError, RecursionError, DataCorruptError) as error:
            raise StoreError(f"{folder / CANDIDATES}, line {number}: {error}") from error


def _check(folder: Path, header: Mapping[str, Any], resume: bool) -> None:
    path = folder / HEADER
    if not path.exists():
        if (folder / CANDIDATES).exists():
            raise StoreError(f"{folder} holds candidates but no {HEADER}; give another --out")
        try:
            write_json(path, header)
        except OSError as error:
            raise unwritable(folder, error) from error
        return
    if not resume:
        raise StoreError(f"{folder} already holds a generation; add --resume to go on with it")
    there = read_json(path, "generation")
    for name in sorted({*there, *header}):
        if there.get(name) != header.get(name):
            raise StoreError(
                f"{folder} holds another generation: {name} is {there.get(name)!r:.80} there and "
                f"{header.get(name)!r:.80} here; give another --out"
            )
