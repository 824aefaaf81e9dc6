"""Commands whose stdout holds one JSON object and nothing else, whatever is printed meanwhile."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import TextIO

_STDOUT, _STDERR = 1, 2


@contextmanager
def stdout_kept_free() -> Iterator[TextIO]:
    """Yields stdout for the one object; what else is printed goes to stderr.

    That holds for policies and libraries too, and for other processes; and to the end of this process, since
    some of them print when they are taken down.
    """
    if not _is_plain(sys.stdout):
        own = sys.stdout
        with redirect_stdout(sys.stderr):
            yield own
        return
    sys.stdout.flush()
    free = os.fdopen(os.dup(_STDOUT), "w", encoding="utf-8")
    os.dup2(_STDERR, _STDOUT)
    sys.stdout = sys.stderr
    try:
        yield free
    finally:
        with suppress(OSError):  # what could not be written was told where it was printed
            free.close()


def _is_plain(stream: TextIO) -> bool:
    """Whether it writes to the process's stdout; where a test or a notebook reads it, it does not."""
    try:
        return stream.fileno() == _STDOUT
    except OSError:
        return False
