"""A clock that moves only when somebody waits by it."""

from __future__ import annotations

import threading

from toolenv.model_server import Clock


class FakeClock:
    """Counts the seconds that were waited; shared by threads.

    Attributes:
        sleeps: every wait, in order.
    """

    def __init__(self) -> None:
        self.sleeps: list[float] = []
        self._now = 1000.0
        self._lock = threading.Lock()

    @property
    def clock(self) -> Clock:
        return Clock(self.now, self.sleep)

    def now(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.sleeps.append(seconds)
            self._now += seconds
