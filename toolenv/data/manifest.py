"""File hashes: what a folder should hold, and how it differs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

RECORD_NAME = ".toolenv-source.json"
"""The one file of a data folder that is ours, not the data set's: see :mod:`toolenv.data.record`."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One file that is not as the manifest says.

    Attributes:
        path: relative to the data set's folder.
        kind: ``missing``, ``changed`` (another hash) or ``unexpected`` (not in the manifest).
        expected, found: sha256, where there is one.
    """

    path: str
    kind: Literal["missing", "changed", "unexpected"]
    expected: str = ""
    found: str = ""

    def __str__(self) -> str:
        if self.kind == "changed":
            return f"{self.path}: expected sha256 {self.expected}, found {self.found}"
        return f"{self.path}: {self.kind}"


def file_hash(path: Path) -> str:
    """The sha256 of a file, lower-case hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def find_problems(folder: Path, files: Mapping[str, str]) -> list[Problem]:
    """Hash every file of a manifest and look for others.

    Args:
        folder: holds the files.
        files: relative path → sha256.

    Returns:
        The differences in path order; empty if the folder is exactly what the manifest says. Byte code that
        Python leaves beside sources (``__pycache__``) is no difference.
    """
    problems = [problem for path, digest in files.items() if (problem := problem_of(folder, path, digest))]
    problems += [Problem(path, "unexpected") for path in _others(folder) if path not in files]
    return sorted(problems, key=lambda problem: problem.path)


def missing_files(folder: Path, files: Mapping[str, str]) -> list[str]:
    """The paths of a manifest that are no files in a folder. Reads no content."""
    return [path for path in files if not (folder / path).is_file()]


def is_safe(path: str) -> bool:
    """Whether a path stays below any folder it is joined to, on every platform."""
    parts = path.split("/")
    return not any(part in ("", ".", "..") for part in parts) and not set(path) & set("\\:\0")


def path_from(folder: str, name: str) -> str:
    """Join a folder, ``"."`` for none, and a file name."""
    return name if folder == "." else f"{folder}/{name}"


def problem_of(folder: Path, path: str, expected: str) -> Problem | None:
    """How a file differs from the sha256 it should have; ``None`` if it does not."""
    if not (folder / path).is_file():
        return Problem(path, "missing", expected)
    found = file_hash(folder / path)
    return None if found == expected else Problem(path, "changed", expected, found)


def _others(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        relative = path.relative_to(folder)
        if not path.is_dir() and "__pycache__" not in relative.parts and str(relative) != RECORD_NAME:
            yield relative.as_posix()
