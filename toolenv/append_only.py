"""Files that only grow, a whole line at a time, written by one process and readable after a crash."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, TYPE_CHECKING

from toolenv.errors import StoreError

if TYPE_CHECKING:
    from filelock import BaseFileLock


def locked(lock: Path, of: Path) -> BaseFileLock:
    """Lock ``of`` for this process by the file ``lock``, whose folder is made if absent.

    Raises:
        StoreError: another process has it, or nothing can be written there.
    """
    from filelock import FileLock, Timeout

    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        held = FileLock(lock, thread_local=False)
        held.acquire(timeout=0)
    except Timeout as error:
        raise StoreError(f"{of} is in use by another process") from error
    except OSError as error:
        raise unwritable(of, error) from error
    return held


def check_unlocked(lock: Path, of: Path) -> None:
    """Find out at once that another process has what will be locked later; nothing is made.

    Raises:
        StoreError: see :func:`locked`.
    """
    if lock.exists():
        locked(lock, of).release()


def opened_for_lines(path: Path) -> int:
    """The descriptor of a file opened for appending; an unfinished last line, left by a crash, is cut off.

    Raises:
        StoreError: it cannot be written.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        with open(descriptor, "rb", closefd=False) as file:
            whole = end_of_last_line(file, file.seek(0, os.SEEK_END))
        os.truncate(descriptor, whole)
    except OSError as error:
        raise unwritable(path, error) from error
    return descriptor


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


def unwritable(path: Path, error: OSError) -> StoreError:
    """What is said where ``path`` cannot be written."""
    return StoreError(f"{path} cannot be written: {error.strerror or error}")
