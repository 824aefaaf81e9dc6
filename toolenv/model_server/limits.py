"""How fast requests may go to one server, whoever sends them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from toolenv.errors import UsageError
from toolenv.model_server.clock import CLOCK, Clock


@dataclass(frozen=True, slots=True)
class Limits:
    """The client's own limits for each server.

    Attributes:
        per_minute: requests a minute, evenly spaced; ``None`` for no limit.
        in_flight: requests at a time; ``None`` for no limit.

    Raises:
        UsageError: one that lets nothing through.
    """

    per_minute: float | None = None
    in_flight: int | None = None

    def __post_init__(self) -> None:
        if self.per_minute is not None and not self.per_minute > 0:
            raise UsageError(f"per_minute={self.per_minute!r}: give a number above 0")
        if self.in_flight is not None and self.in_flight < 1:
            raise UsageError(f"in_flight={self.in_flight!r}: give a whole number of at least 1")

    def shared_by(self, clients: int) -> Limits:
        """What each of several clients may do, so that together they keep to these; one request at least."""
        per_minute = None if self.per_minute is None else self.per_minute / clients
        return Limits(per_minute, None if self.in_flight is None else max(1, self.in_flight // clients))


NO_LIMITS = Limits()


class OutOfTimeError(Exception):
    """The moment until which a request could wait has come before its turn."""


class Gate:
    """Lets the requests to one server through; shared by threads.

    It stays shut while the server asks for quiet, for all requests alike: those that have not been refused
    yet would be.
    """

    def __init__(self, limits: Limits = NO_LIMITS, clock: Clock = CLOCK) -> None:
        self._clock = clock
        self._spacing = 0.0 if limits.per_minute is None else 60.0 / limits.per_minute
        self._places = None if limits.in_flight is None else threading.Semaphore(limits.in_flight)
        self._next = self._quiet_until = 0.0
        self._lock = threading.Lock()

    @contextmanager
    def passage(self, until: float | None = None) -> Iterator[None]:
        """Wait for one's turn; inside, the request is in flight.

        Args:
            until: the moment of the clock after which waiting is in vain.

        Raises:
            OutOfTimeError: it would come first.
        """
        if self._places is None:
            self._wait(until)
            yield
            return
        left = None if until is None else max(0.0, until - self._clock.now())
        if not self._places.acquire(timeout=left):
            raise OutOfTimeError
        try:
            self._wait(until)
            yield
        finally:
            self._places.release()

    def keep_quiet(self, seconds: float) -> None:
        """Let nothing through for so long."""
        with self._lock:
            self._quiet_until = max(self._quiet_until, self._clock.now() + seconds)

    def _wait(self, until: float | None) -> None:
        turn = self._turn() if self._spacing else 0.0
        while True:
            moment = max(turn, self._quiet_until)
            wait = moment - self._clock.now() if moment else 0.0
            if wait <= 0:
                return
            if until is not None and moment > until:
                raise OutOfTimeError
            self._clock.sleep(wait)

    def _turn(self) -> float:
        with self._lock:
            turn = max(self._next, self._quiet_until, self._clock.now())
            self._next = turn + self._spacing
            return turn


class Gates:
    """A gate for each server."""

    def __init__(self, limits: Limits = NO_LIMITS, clock: Clock = CLOCK) -> None:
        self._limits, self._clock = limits, clock
        self._gates: dict[str, Gate] = {}
        self._lock = threading.Lock()

    def of(self, url: str) -> Gate:
        """The gate of the server at ``url``."""
        with self._lock:
            return self._gates.setdefault(url, Gate(self._limits, self._clock))
