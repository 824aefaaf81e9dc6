"""The files of a run's episodes: ``episodes.jsonl``, then ``episodes-00001.jsonl``, … as each grows full."""

from __future__ import annotations

import os
import re
from pathlib import Path

from toolenv.append_only import end_of_last_line
from toolenv.errors import StoreError

FIRST_SHARD = "episodes.jsonl"

SHARD_BYTES = 256 * 2**20
"""A file that has grown to so many bytes gets no further line."""

_NAME = re.compile(r"episodes(?:-([0-9]{5,}))?\.jsonl")


def shard_path(folder: Path, number: int) -> Path:
    """The file of that number, from 0; the first has the name that runs with one file have."""
    return folder / (FIRST_SHARD if number == 0 else f"episodes-{number:05d}.jsonl")


def is_shard(name: str) -> bool:
    """Whether a file of that name holds episodes."""
    return _NAME.fullmatch(name) is not None


def shard_paths(folder: Path) -> list[Path]:
    """The files that are there, in the order they were filled.

    Raises:
        StoreError: one in between is missing, and its episodes with it; one is no file, so that reading it
            might never end; or the folder cannot be read.
    """
    try:
        names = [match for path in folder.iterdir() if (match := _NAME.fullmatch(path.name))]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise StoreError(f"{folder} cannot be read: {error.strerror or error}") from error
    there = {int(match[1] or 0) for match in names}
    for number in range(max(there, default=-1)):
        if number not in there:
            raise StoreError(f"{shard_path(folder, number)} is missing; the episodes in it are lost")
    paths = [shard_path(folder, number) for number in sorted(there)]
    for path in paths:
        check_file(path)
    return paths


def check_file(path: Path) -> None:
    """Raise a :class:`StoreError` if something is there that is no file."""
    if path.exists() and not path.is_file():
        raise StoreError(f"{path} is {'a folder' if path.is_dir() else 'no file'}, expected a file")


def hold_episodes(folder: Path) -> bool:
    """Whether there is a whole line in any of the files."""
    return any(map(_whole_lines, shard_paths(folder)))


def _whole_lines(path: Path) -> int:
    """The bytes of a file's whole lines."""
    with path.open("rb") as file:
        return end_of_last_line(file, file.seek(0, os.SEEK_END))
