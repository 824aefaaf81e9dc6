"""Puts a finished folder in place whole, one process at a time."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def exclusive(target: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock of a target folder; the system lets go of it if the process dies.

    Args:
        target: the folder that will be put in place. Its parent is made if absent.
        waiting: called once if another process or thread holds the lock.
    """
    with _lock_file(target) as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def exclusive_or_busy(target: Path) -> Iterator[None]:
    """As :func:`exclusive`, but waits for nobody.

    Raises:
        BlockingIOError: another process or thread holds the lock.
    """
    with _lock_file(target) as handle:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


@contextmanager
def workshop(target: Path) -> Iterator[Path]:
    """A scratch folder on the target's own file system, gone afterwards. Call it with the lock held.

    What a killed process left behind is removed first.
    """
    for leftover in target.parent.glob(f"{_beside(target, 'work').name}-*"):
        shutil.rmtree(leftover)
    with tempfile.TemporaryDirectory(prefix=f"{_beside(target, 'work').name}-", dir=target.parent) as folder:
        yield Path(folder)


def swap_in(fresh: Path, target: Path, work: Path) -> None:
    """Move a finished folder to its place. What was there is moved into ``work`` first, never merged with."""
    if target.exists():
        os.rename(target, work / "replaced")
    os.rename(fresh, target)


def _lock_file(target: Path) -> TextIO:
    target.parent.mkdir(parents=True, exist_ok=True)
    # The lock file stays: deleting it would let two processes lock two different files.
    return _beside(target, "lock").open("a")


def _beside(target: Path, what: str) -> Path:
    return target.with_name(f".{target.name}.{what}")
