"""The time that requests are paced by; tests bring their own."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolenv.model_server.reactor import Reactor
    from toolenv.waiting import Done


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


@dataclass(frozen=True, slots=True)
class Pause:
    """So many seconds of a clock, as a :class:`toolenv.waiting.Wait`."""

    seconds: float
    clock: Clock = CLOCK

    def block(self) -> None:
        """See :class:`toolenv.waiting.Wait`."""
        self.clock.sleep(self.seconds)

    def begin(self, reactor: Reactor, done: Done) -> None:
        """See :class:`toolenv.waiting.Wait`; by another clock than the machine's the reactor cannot wait."""
        if self.clock is CLOCK:
            reactor.later(self.seconds, lambda: done(None))
        else:
            self.block()
            done(None)
