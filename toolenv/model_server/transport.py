"""Requests over HTTP by libcurl: no global interpreter lock while they wait, and a deadline for the whole.

A request is sent at most once. libcurl would send it again by itself where a kept connection breaks, and a
server may have worked on, and billed, the first one; its body is given in a way that cannot be read twice.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

if TYPE_CHECKING:
    from toolenv.model_server.reactor import Reactor
    from toolenv.waiting import Done

CONNECT_SECONDS = 10.0
LARGEST_REPLY = 64 * 2**20
"""Bytes of a reply that are read; a larger one is no chat completion."""

_WAIT = 1.0
"""Seconds after which a wait in the main thread is interrupted to look for Ctrl-C."""

Break: TypeAlias = Literal["connection", "dropped", "timeout", "too_large"]
"""``connection``: none was made. ``dropped``: it broke. ``timeout``: no time was left."""


class Response(NamedTuple):
    """What came back.

    Attributes:
        status: the HTTP status.
        headers: by name in lower case; of repeated ones the last.
        body: the whole body.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class TransportError(Exception):
    """No whole response came back.

    Attributes:
        reason: what broke.
        sent: whether the server may have worked on the request.
    """

    def __init__(self, message: str, reason: Break, sent: bool) -> None:
        super().__init__(message)
        self.reason, self.sent = reason, sent


class Exchange(NamedTuple):
    """A request that is to be sent: a :class:`toolenv.waiting.Wait`, of which a response comes.

    Attributes:
        transport: whose connections a thread that waits by itself uses.
        url: where to.
        headers: lines such as ``"Accept: application/json"``.
        body: what to post; ``None`` for a GET.
        seconds: the most that all of it may take.
        connect: the most that connecting may take.
    """

    transport: Transport
    url: str
    headers: Sequence[str]
    body: bytes | None
    seconds: float
    connect: float = CONNECT_SECONDS

    def block(self) -> Response | TransportError:
        """See :class:`toolenv.waiting.Wait`."""
        try:
            return self.transport.send(self)
        except TransportError as error:
            return error

    def begin(self, reactor: Reactor, done: Done) -> None:
        """See :class:`toolenv.waiting.Wait`."""
        reactor.send(self, done)


class Transport:
    """Connections to servers, kept open between requests; may be shared by threads."""

    def __init__(self) -> None:
        self._idle: deque[_Connection] = deque()
        self._generation = 0

    def send(self, exchange: Exchange) -> Response:
        """The response to one request, waited for in this thread.

        Raises:
            TransportError: none came back.
        """
        generation = self._generation
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = _Connection()
        try:
            return connection.send(exchange)
        finally:
            if generation == self._generation:
                self._idle.append(connection)
            else:
                connection.close()

    def close(self) -> None:
        """Close the connections; those in use close when they are done."""
        self._generation += 1
        while self._idle:
            self._idle.pop().close()


class Transfer:
    """A handle of libcurl and the exchange it carries; to be used again and again.

    Attributes:
        curl: the handle.
    """

    def __init__(self) -> None:
        import pycurl

        self.curl, self._received = pycurl.Curl(), _Received()
        self._set: tuple[object, ...] = ()
        for option, value in _OPTIONS().items():
            self.curl.setopt(option, value)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._received.take)
        self.curl.setopt(pycurl.HEADERFUNCTION, self._received.head.append)
        self.curl.setopt(pycurl.READFUNCTION, self._received.give)

    def prepare(self, exchange: Exchange) -> None:
        """Make the handle ready to be performed."""
        import pycurl

        curl, body = self.curl, exchange.body
        self._received.clear(body or b"")
        asked = exchange.url, exchange.seconds, exchange.connect, body is None
        if asked != self._set:  # to say it again takes as long as to send the request
            self._set = ()  # until all of it has been taken
            curl.setopt(pycurl.URL, exchange.url)
            connect = min(exchange.connect, exchange.seconds)
            curl.setopt(pycurl.TIMEOUT_MS, max(1, round(1000 * exchange.seconds)))
            curl.setopt(pycurl.CONNECTTIMEOUT_MS, max(1, round(1000 * connect)))
            curl.setopt(pycurl.HTTPGET if body is None else pycurl.POST, 1)
            self._set = asked
        curl.setopt(pycurl.HTTPHEADER, [*exchange.headers, "Expect:"])
        if body is not None:
            curl.setopt(pycurl.POSTFIELDSIZE_LARGE, len(body))

    def ended(self, error: tuple[int, str] | None) -> Response | TransportError:
        """What came of it.

        Args:
            error: libcurl's code and words, if the handle failed.
        """
        import pycurl

        received = self._received
        if error is not None:
            return _broken(*error, received)
        return Response(
            self.curl.getinfo(pycurl.RESPONSE_CODE), _headers(received.head), b"".join(received.chunks)
        )


class _Connection:
    """One connection, waited for by one thread at a time."""

    def __init__(self) -> None:
        import pycurl

        self._transfer, self._multi = Transfer(), pycurl.CurlMulti()

    def close(self) -> None:
        self._multi.close()
        self._transfer.curl.close()

    def send(self, exchange: Exchange) -> Response:
        self._transfer.prepare(exchange)
        ended = self._transfer.ended(self._perform())
        if isinstance(ended, TransportError):
            raise ended
        return ended

    def _perform(self) -> tuple[int, str] | None:
        """What went wrong, if anything. In the main thread it can be interrupted."""
        import pycurl

        if threading.current_thread() is threading.main_thread():
            return self._perform_in_steps()
        try:
            self._transfer.curl.perform()
        except pycurl.error as error:
            code, words = cast("tuple[int, str]", error.args[:2])
            return code, words
        return None

    def _perform_in_steps(self) -> tuple[int, str] | None:
        self._multi.add_handle(self._transfer.curl)
        try:
            while self._multi.perform()[1]:
                self._multi.select(_WAIT)
            failed: Any = self._multi.info_read()[2]
        finally:
            self._multi.remove_handle(self._transfer.curl)
        return (failed[0][1], failed[0][2]) if failed else None


class _Received:
    """The parts of one response, and the body of its request."""

    __slots__ = ("body", "chunks", "given", "head", "size")

    def __init__(self) -> None:
        self.head: list[bytes] = []
        self.chunks: list[bytes] = []
        self.clear(b"")

    def clear(self, body: bytes) -> None:
        """Be those of another response."""
        self.body, self.given, self.size = body, 0, 0
        self.head.clear()
        self.chunks.clear()

    def give(self, size: int) -> bytes:
        part = self.body[self.given : self.given + size]
        self.given += len(part)
        return part

    def take(self, chunk: bytes) -> int | None:
        self.size += len(chunk)
        if self.size > LARGEST_REPLY:
            return -1
        self.chunks.append(chunk)
        return None


@cache
def _OPTIONS() -> Mapping[int, int | str]:
    import certifi
    import pycurl

    return {
        pycurl.NOSIGNAL: 1,
        pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_1_1,
        pycurl.ACCEPT_ENCODING: "",  # whatever can be decoded
        pycurl.CAINFO: os.environ.get("SSL_CERT_FILE") or certifi.where(),
        pycurl.TCP_NODELAY: 1,
        pycurl.MAXCONNECTS: 1,
    }


def _broken(code: int, words: str, received: _Received) -> TransportError:
    import pycurl

    unconnected = {
        pycurl.E_UNSUPPORTED_PROTOCOL,
        pycurl.E_URL_MALFORMAT,
        pycurl.E_COULDNT_RESOLVE_HOST,
        pycurl.E_COULDNT_RESOLVE_PROXY,
        pycurl.E_COULDNT_CONNECT,
        pycurl.E_SSL_CONNECT_ERROR,
        pycurl.E_PEER_FAILED_VERIFICATION,
    }
    sent = bool(received.given or received.head or received.size)
    if code == pycurl.E_OPERATION_TIMEDOUT:
        return TransportError(f"Request timed out ({words})", "timeout", sent)
    if code in unconnected and not sent:
        return TransportError(f"Connection error ({words})", "connection", sent=False)
    if code == pycurl.E_WRITE_ERROR:
        return TransportError(f"the reply is larger than {LARGEST_REPLY:,} bytes", "too_large", sent=True)
    if code == pycurl.E_SEND_FAIL_REWIND:  # a kept connection broke, and the request is not sent again
        words = "the server closed the connection without a reply"
    return TransportError(f"Connection error ({words or f'libcurl {code}'})", "dropped", sent)


def _headers(lines: Sequence[bytes]) -> dict[str, str]:
    """The headers of the last response; there are several behind a proxy or an interim status."""
    found: dict[str, str] = {}
    for line in lines:
        if line.startswith(b"HTTP/"):
            found = {}
        name, colon, value = line.decode("latin-1").partition(":")
        if colon:
            found[name.strip().lower()] = value.strip()
    return found
