"""Whether files are still those that were checked, going by size and time of change.

A file whose stamp is the one noted when its hash was right is trusted unread; any other is hashed. So a look
at whole data costs a ``stat`` per file, and a file that was cut or edited since is found out. One that was
changed without its size or time changing is found by ``toolenv data verify`` alone.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from toolenv.data.manifest import RECORD_NAME, Problem, problem_of
from toolenv.data.record import PullRecord, Stamp, read_record, write_record


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of a manifest's files.

    Attributes:
        problems: those missing or changed, in the manifest's order.
        stamps: of those that are right.
    """

    problems: tuple[Problem, ...]
    stamps: Mapping[str, Stamp]


def check(folder: Path, files: Mapping[str, str], trusted: Mapping[str, Stamp]) -> Checked:
    """Check files, hashing those whose stamp is not the trusted one.

    Args:
        folder: holds the files.
        files: relative path → sha256.
        trusted: relative path → the stamp it had when its hash was right.
    """
    problems: list[Problem] = []
    stamps: dict[str, Stamp] = {}
    for path, digest in files.items():
        stamp = stamp_of(folder / path)  # before the hash: a change in between shows next time
        trust = stamp is not None and trusted.get(path) == stamp
        problem = None if trust else problem_of(folder, path, digest)
        if problem is not None:
            problems.append(problem)
        elif stamp is not None:
            stamps[path] = stamp
    return Checked(tuple(problems), stamps)


def stamp_of(path: Path) -> Stamp | None:
    """A path's size in bytes and time of change in nanoseconds; ``None`` if nothing is there."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_size, found.st_mtime_ns


def note(stamps: Mapping[str, Stamp], record: PullRecord, target: Path) -> None:
    """Write stamps into a data set's record, so that the files need no hashing next time.

    A note of convenience: a folder that may not be written, or that a pull is busy with, keeps its record.
    """
    from toolenv.data.swap import exclusive_or_busy, workshop

    with contextlib.suppress(OSError), exclusive_or_busy(target), workshop(target) as work:
        if read_record(target) == record:
            write_record(replace(record, stamps=stamps), work)
            os.replace(work / RECORD_NAME, target / RECORD_NAME)
