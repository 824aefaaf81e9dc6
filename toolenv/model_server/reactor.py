"""One thread that waits for many requests: what :mod:`toolenv.waiting` is for.

Hundreds of threads that each wait for a request take turns at the interpreter, which costs more than the
requests. Here libcurl watches all connections, and says which have something to be read.
"""

from __future__ import annotations

import contextlib
import heapq
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from itertools import count
from typing import TYPE_CHECKING, Any, Generic

from toolenv.errors import RAISED
from toolenv.model_server.sockets import READ, WRITE, Sockets, make_sockets
from toolenv.model_server.transport import Exchange, Transfer
from toolenv.waiting import Done, Result, Waiting

if TYPE_CHECKING:
    import pycurl

Callback = Callable[[], None]


class Reactor:
    """Waits for requests, moments and other threads' words, in the thread that calls :meth:`run`."""

    def __init__(self) -> None:
        self._said: deque[Callback] = deque()
        self._timers: list[tuple[float, int, Callback]] = []
        self._order = count()
        self._sockets = make_sockets()
        self._bell, self._ear = socket.socketpair()
        for end in (self._bell, self._ear):
            end.setblocking(False)
        self._hears = self._ear.fileno()
        self._sockets.watch(self._hears, READ)
        self._transfers: _Transfers | None = None
        self._thread: int | None = None

    def drive(self, waiting: Waiting[Result], done: Done) -> None:
        """Begin a work; ``done`` is called with its result, or with the exception that ended it.

        As in asyncio, all of the work sees the context variables as they are now.
        """
        _Driven(self, waiting, done).go_on(None)

    def say(self, callback: Callback) -> None:
        """Have something called in the reactor's thread; may be called from any thread."""
        self._said.append(callback)
        if threading.get_ident() == self._thread:
            return
        with contextlib.suppress(OSError):  # it is full, so it rings already; or nobody listens any more
            self._bell.send(b"!")

    def later(self, seconds: float, callback: Callback) -> Callback:
        """Have something called after so many seconds; what is returned has it forgotten, if it is called."""
        timer = time.monotonic() + seconds, next(self._order), callback

        def forget() -> None:
            if timer in self._timers:
                self._timers.remove(timer)
                heapq.heapify(self._timers)

        heapq.heappush(self._timers, timer)
        return forget

    def send(self, exchange: Exchange, done: Done) -> None:
        """Send a request; ``done`` is called with the response, or a :class:`TransportError`."""
        if self._transfers is None:
            self._transfers = _Transfers(self._sockets)
        self._transfers.begin(exchange, done)

    def run(self, *, patient: bool = True) -> None:
        """Wait until something has happened, and call what it was waited for by.

        Args:
            patient: whether to wait; otherwise only what has happened already is looked at.
        """
        self._thread = threading.get_ident()
        for descriptor, events in self._sockets.ready(self._patience() if patient else 0.0):
            if descriptor == self._hears:
                with contextlib.suppress(BlockingIOError):
                    self._ear.recv(4096)
            elif self._transfers is not None:
                self._transfers.act(descriptor, events)
        if self._transfers is not None:
            self._transfers.collect()
        now = time.monotonic()
        while self._timers and self._timers[0][0] <= now:
            heapq.heappop(self._timers)[2]()
        while self._said:
            self._said.popleft()()

    def close(self) -> None:
        """Drop what is waited for."""
        if self._transfers is not None:
            self._transfers.close()
        self._sockets.close()
        self._bell.close()
        self._ear.close()

    def _patience(self) -> float | None:
        """Seconds that nothing has to be done by itself; ``None`` for ever."""
        if self._said or (self._transfers is not None and self._transfers.begun):
            return 0.0
        moments = [self._timers[0][0]] if self._timers else []
        due = None if self._transfers is None else self._transfers.due
        if due is not None:
            moments.append(due)
        return max(0.0, min(moments) - time.monotonic()) if moments else None


class _Driven(Generic[Result]):
    """A work under way."""

    __slots__ = ("_context", "_done", "_reactor", "_waiting")

    def __init__(self, reactor: Reactor, waiting: Waiting[Result], done: Done) -> None:
        self._reactor, self._waiting, self._done = reactor, waiting, done
        self._context = copy_context()

    def go_on(self, came: Any) -> None:
        """Send the work what it waited for, and begin the next wait."""
        try:
            if isinstance(came, Exception):
                wait = self._context.run(self._waiting.throw, came)
            else:
                wait = self._context.run(self._waiting.send, came)
        except StopIteration as end:
            self._done(end.value)
        except RAISED as error:  # whoever asked for the work is told, whatever it raises
            self._done(error)
        else:
            wait.begin(self._reactor, self.go_on)


class _Transfers:
    """What libcurl is about.

    Attributes:
        begun: whether something was begun since it was last asked what has ended: that may have, already.
    """

    def __init__(self, sockets: Sockets) -> None:
        import pycurl

        self.begun = False
        self._due: float | None = None
        self._told: deque[int] = deque(maxlen=1)
        self._sockets = sockets
        self._idle: list[Transfer] = []
        self._under_way: dict[pycurl.Curl, tuple[Transfer, Done]] = {}
        self._wanted = {
            pycurl.POLL_IN: READ,
            pycurl.POLL_OUT: WRITE,
            pycurl.POLL_INOUT: READ | WRITE,
        }
        self._happened = {
            READ: pycurl.CSELECT_IN,
            WRITE: pycurl.CSELECT_OUT,
            READ | WRITE: pycurl.CSELECT_IN | pycurl.CSELECT_OUT,
        }
        self._none = pycurl.SOCKET_TIMEOUT
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        # No function of ours: Ctrl-C that came in there would be taken for a failure of libcurl's.
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._told.append)

    @property
    def due(self) -> float | None:
        """The moment when libcurl wants to be asked, whatever its connections do."""
        if self._told:
            milliseconds = self._told.pop()
            self._due = None if milliseconds < 0 else time.monotonic() + milliseconds / 1000
        return self._due

    def begin(self, exchange: Exchange, done: Done) -> None:
        transfer = self._idle.pop() if self._idle else Transfer()
        try:
            transfer.prepare(exchange)
        except Exception as error:  # an address or a header that libcurl does not take
            self._idle.append(transfer)
            done(error)
            return
        self._under_way[transfer.curl] = transfer, done
        self._multi.add_handle(transfer.curl)
        self.begun = True
        self._ask()  # or it would be sent when all else that is ready has been done

    def act(self, descriptor: int, events: int) -> None:
        """Something can be read or written."""
        self._multi.socket_action(descriptor, self._happened[events])

    def collect(self) -> None:
        """Tell of the exchanges that have ended, those that end as soon as they begin included."""
        due = self.due
        if due is not None and due <= time.monotonic():
            self._ask()
        while True:
            self.begun = False
            _, well, ill = self._multi.info_read()
            for curl in well:
                self._end(curl, None)
            for curl, code, words in ill:
                self._end(curl, (code, words))
            if not self.begun:
                return

    def close(self) -> None:
        for curl in self._under_way:  # each leaves libcurl by itself, unless Ctrl-C came when it had left
            curl.close()
        self._under_way.clear()
        self._multi.close()
        while self._idle:
            self._idle.pop().curl.close()

    def _ask(self) -> None:
        self._told.clear()
        self._due = None
        self._multi.socket_action(self._none, 0)

    def _end(self, curl: pycurl.Curl, error: tuple[int, str] | None) -> None:
        self._multi.remove_handle(curl)
        transfer, done = self._under_way.pop(curl)
        came = transfer.ended(error)
        self._idle.append(transfer)
        done(came)

    def _watch(self, what: int, descriptor: int, multi: pycurl.CurlMulti, data: Any) -> None:
        """What libcurl wants to know of a connection."""
        wanted = self._wanted.get(what)
        if wanted:
            self._sockets.watch(descriptor, wanted)
        else:
            self._sockets.rest(descriptor)
