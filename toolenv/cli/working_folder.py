"""The working directory is a policy's own while its code runs: ``os.chdir`` there moves no file of ours."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_LEFT: dict[str, str] = {}
"""By our working directory, where policies have gone from there."""


@contextmanager
def where_policies_left_it() -> Iterator[None]:
    """Inside, the working directory is what policies made of it; outside, what it was when the command began.

    So relative paths of the command line mean what they meant, and a policy finds its files where it went.
    """
    home = os.getcwd()
    with suppress(OSError):  # theirs may be gone
        os.chdir(_LEFT.get(home, home))
    try:
        yield
    finally:
        with suppress(OSError):
            _LEFT[home] = os.getcwd()
        os.chdir(home)
