"""What is wrong outside: with stdout, with a path that was given, with the folder that a command is in."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from toolenv.cli.streams import telling_lost_output
from toolenv.errors import UsageError

NO_PATH = frozenset({errno.ENAMETOOLONG, errno.ELOOP})
"""What no program can do anything with, wherever it was given."""

NOWHERE = "the folder that this is run in is gone; cd to one that is there"


@contextmanager
def telling_what_is_outside() -> Iterator[None]:
    """An error of the system's that no code here is to blame for is one of ours, in one line.

    Raises:
        OutputLost: stdout takes nothing.
        UsageError: a path that no file can have; or the folder that the command is in is gone.
    """
    try:
        with telling_lost_output():
            yield
    except OSError as error:
        if error.errno in NO_PATH and error.filename is not None:
            raise UsageError(f"{os.fsdecode(error.filename)} cannot be used: {error.strerror}") from error
        if isinstance(error, FileNotFoundError) and is_nowhere():
            raise UsageError(NOWHERE) from error
        raise


def is_nowhere() -> bool:
    """Whether the folder that the command is in is gone."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False
