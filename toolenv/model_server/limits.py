"""How fast requests may go to one server, whoever sends them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolenv.errors import UsageError
from toolenv.model_server.clock import CLOCK, Clock, Pause
from toolenv.waiting import Done, Result, Waiting

if TYPE_CHECKING:
    from toolenv.model_server.reactor import Reactor


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

SPREAD = 0.1
"""The part of a pause a server asked for over which its clients come back, lest they all come at once."""

_GOLDEN = 0.6180339887498949
"""Multiples of it, their whole part left out, lie evenly on 0 to 1 however many there are."""


class OutOfTimeError(Exception):
    """The moment until which a request could wait has come before its turn."""


class Gate:
    """Lets the requests to one server through; shared by threads.

    It stays shut while the server asks for quiet, for all requests alike: those that have not been refused
    yet would be.
    """

    def __init__(self, limits: Limits = NO_LIMITS, clock: Clock = CLOCK) -> None:
        self.clock = clock
        self._spacing = 0.0 if limits.per_minute is None else 60.0 / limits.per_minute
        self._places = None if limits.in_flight is None else _Places(limits.in_flight)
        self._next = self._quiet_until = 0.0
        self._put_off = self._spread = 0.0
        self._back = 0
        self._lock = threading.Lock()

    def passage(self, inside: Waiting[Result], until: float | None = None) -> Waiting[Result]:
        """Wait for one's turn, then do what is in flight.

        Args:
            inside: what is in flight.
            until: the moment of the clock after which waiting is in vain.

        Raises:
            OutOfTimeError: it would come first.
        """
        if self._places is None:
            if self._spacing or self._quiet_until:
                yield from self._turn_comes(until)
            return (yield from inside)
        yield _Place(self._places, None if until is None else max(0.0, until - self.clock.now()))
        try:
            yield from self._turn_comes(until)
            return (yield from inside)
        finally:
            self._places.give_back()

    def keep_quiet(self, seconds: float) -> None:
        """Let nothing through for so long; turns that were to come are put off, and stay as far apart."""
        with self._lock:
            now = self.clock.now()
            later = now + seconds - max(self._quiet_until, now)
            if later > 0:
                self._next, self._put_off = self._next + later, self._put_off + later
                self._quiet_until, self._spread = now + seconds, SPREAD * seconds

    def _turn_comes(self, until: float | None) -> Waiting[None]:
        moment_now = self._turn_taken(until) if self._spacing else self._after_quiet()
        while True:
            moment = moment_now()
            wait = moment - self.clock.now() if moment else 0.0
            if wait <= 0:
                return
            if until is not None and moment > until:
                raise OutOfTimeError
            yield Pause(wait, self.clock)

    def _turn_taken(self, until: float | None) -> Callable[[], float]:
        """When one's turn is, as far as it is known by then.

        One that comes too late is left to others: they would wait for nobody.
        """
        with self._lock:
            turn, put_off = max(self._next, self._quiet_until, self.clock.now()), self._put_off
            if until is None or turn <= until:
                self._next = turn + self._spacing
        return lambda: turn + self._put_off - put_off

    def _after_quiet(self) -> Callable[[], float]:
        """When whoever comes now may go on without a turn: at once, or a little after the server's quiet."""
        if self._quiet_until <= self.clock.now():
            return lambda: 0.0
        with self._lock:
            share, self._back = self._back * _GOLDEN % 1, self._back + 1
        return lambda: self._quiet_until + self._spread * share


class _Places:
    """So many requests at a time; a place that is given back goes to the one who has waited longest."""

    def __init__(self, number: int) -> None:
        self._free, self._lock = number, threading.Lock()
        self._waiting: deque[Callable[[], None]] = deque()

    def take(self, granted: Callable[[], None]) -> bool:
        """Whether there is a place at once; if not, ``granted`` is called when there is, by any thread."""
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            self._waiting.append(granted)
            return False

    def withdraw(self, granted: Callable[[], None]) -> bool:
        """Wait no longer; false if a place has been granted."""
        with self._lock:
            if granted not in self._waiting:
                return False
            self._waiting.remove(granted)
            return True

    def give_back(self) -> None:
        """Leave one's place."""
        with self._lock:
            if not self._waiting:
                self._free += 1
                return
            granted = self._waiting.popleft()
        granted()


@dataclass(frozen=True, slots=True)
class _Place:
    """A place among those in flight, waited for so many seconds; see :class:`toolenv.waiting.Wait`."""

    places: _Places
    seconds: float | None

    def block(self) -> OutOfTimeError | None:
        event = threading.Event()
        granted = event.set
        if self.places.take(granted) or event.wait(self.seconds):
            return None
        return OutOfTimeError() if self.places.withdraw(granted) else None

    def begin(self, reactor: Reactor, done: Done) -> None:
        def granted() -> None:
            reactor.say(come)

        def come() -> None:
            if forget is not None:  # or all that it holds would be kept until the episode's deadline
                forget()
            done(None)

        def late() -> None:
            if self.places.withdraw(granted):
                done(OutOfTimeError())

        forget: Callable[[], None] | None = None
        if self.places.take(granted):
            done(None)
        elif self.seconds is not None:
            forget = reactor.later(self.seconds, late)


class Gates:
    """A gate for each server."""

    def __init__(self, limits: Limits = NO_LIMITS, clock: Clock = CLOCK) -> None:
        self._limits, self._clock = limits, clock
        self._gates: dict[str, Gate] = {}
        self._lock = threading.Lock()

    def of(self, url: str) -> Gate:
        """The gate of the server at ``url``."""
        gate = self._gates.get(url)
        if gate is None:
            with self._lock:
                gate = self._gates.setdefault(url, Gate(self._limits, self._clock))
        return gate
