"""The standard streams, whatever they are: closed, full, or of an encoding that lacks characters."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

import typer

from toolenv.errors import ToolEnvError

LOST = "what was to be printed is lost"

UNWRITTEN = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})
"""What writing to a full, broken or closed stream ends with."""


class OutputLost(ToolEnvError):
    """Stdout takes nothing; whatever was kept on disk is whole."""


def mend_streams() -> bool:
    """Open standard streams that are closed, and let no character be refused that a stream cannot show.

    A closed one would be ``None``, and the next file opened, such as a run's episodes, would be it for what
    prints past Python.

    Returns:
        Whether stdout takes what is printed.
    """
    takes = sys.stdout is not None
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout, sys.stderr = _shown(sys.stdout, 1), _shown(sys.stderr, 2)
    return takes


def _shown(stream: TextIO | None, number: int) -> TextIO:
    if stream is None:
        return open(number, "w", encoding="utf-8", errors="replace", closefd=False)
    encoding = (stream.encoding or "").lower().replace("-", "").replace("_", "")
    if hasattr(stream, "reconfigure") and (encoding != "utf8" or stream.errors == "strict"):
        stream.reconfigure(errors="replace")
    return stream


def output_lost(error: BaseException) -> str:
    """Why stdout takes nothing, where that is what led to an error; empty where it is not.

    A reader that left, as ``head`` does, has all it wants. Errors of writing to files do not come here: they
    name the file.
    """
    if isinstance(error, OSError) and error.errno in UNWRITTEN and error.filename is None:
        return f"stdout cannot be written: {error.strerror or error}"
    is_closed = sys.stdout is None or sys.stdout.closed
    return "stdout is closed" if is_closed and isinstance(error, ValueError | AttributeError) else ""


@contextmanager
def telling_lost_output(also: Callable[[], str] = str) -> Iterator[None]:
    """What cannot be printed ends a command with one line.

    Args:
        also: what to say behind it.

    Raises:
        OutputLost: it cannot.
    """
    try:
        yield
    except (OSError, ValueError, AttributeError) as error:
        why = output_lost(error)
        if not why:
            raise
        raise OutputLost(f"{LOST}: {why}{also()}") from error


def tell(line: str) -> None:
    """Say it on stderr, where that can be."""
    with suppress(OSError, ValueError):
        typer.echo(line, err=True)


def drop_unwritten() -> None:
    """What a stream cannot write goes nowhere, instead of failing once more when Python ends."""
    for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            with suppress(OSError, ValueError, AttributeError):
                if stream.fileno() == number:
                    nowhere = os.open(os.devnull, os.O_WRONLY)
                    os.dup2(nowhere, number)
                    os.close(nowhere)
