"""The time that requests are paced by; tests bring their own."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock and how to wait by it.

    Attributes:
        now: seconds since some moment; never goes back.
        sleep: waits so many seconds.
    """

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


CLOCK = Clock()
"""The machine's own."""
