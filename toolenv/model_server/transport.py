"""Requests over HTTP by libcurl: no global interpreter lock while they wait, and a deadline for the whole.

A request is sent at most once. libcurl would send it again by itself where a kept connection breaks, and a
server may have worked on, and billed, the first one; its body is given in a way that cannot be read twice.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    pass

CONNECT_SECONDS = 10.0
LARGEST_REPLY = 64 * 2**20
"""Bytes of a reply that are read; a larger one is no chat completion."""

_WAIT = 1.0
"""Seconds after which a wait in the main thread is interrupted to look for Ctrl-C."""

Break: TypeAlias = Literal["connection", "dropped", "timeout", "too_large"]
"""``connection``: none was made. ``dropped``: it broke. ``timeout``: no time was left."""


@dataclass(frozen=True, slots=True)
class Response:
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


class Transport:
    """Connections to servers, kept open between requests; may be shared by threads."""

    def __init__(self) -> None:
        self._idle: deque[_Connection] = deque()
        self._generation = 0

    def send(
        self, url: str, headers: Sequence[str], body: bytes | None, *, seconds: float, connect: float
    ) -> Response:
        """The response to one request: a POST of ``body``, or a GET.

        Args:
            url: where to.
            headers: lines such as ``"Accept: application/json"``.
            body: what to post; ``None`` for a GET.
            seconds: the most that all of it may take.
            connect: the most that connecting may take.

        Raises:
            TransportError: none came back.
        """
        generation = self._generation
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = _Connection()
        try:
            return connection.send(url, headers, body, seconds, connect)
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


class _Connection:
    """One connection at a time."""

    def __init__(self) -> None:
        import pycurl

        self._curl, self._multi = pycurl.Curl(), pycurl.CurlMulti()
        for option, value in _OPTIONS().items():
            self._curl.setopt(option, value)

    def close(self) -> None:
        self._multi.close()
        self._curl.close()

    def send(
        self, url: str, headers: Sequence[str], body: bytes | None, seconds: float, connect: float
    ) -> Response:
        import pycurl

        curl, received = self._curl, _Received(body or b"")
        curl.setopt(pycurl.URL, url)
        curl.setopt(pycurl.HTTPHEADER, [*headers, "Expect:"])
        curl.setopt(pycurl.TIMEOUT_MS, max(1, round(1000 * seconds)))
        curl.setopt(pycurl.CONNECTTIMEOUT_MS, max(1, round(1000 * min(connect, seconds))))
        curl.setopt(pycurl.WRITEFUNCTION, received.take)
        curl.setopt(pycurl.HEADERFUNCTION, received.head.append)
        if body is None:
            curl.setopt(pycurl.HTTPGET, 1)
        else:
            curl.setopt(pycurl.POST, 1)
            curl.setopt(pycurl.POSTFIELDSIZE_LARGE, len(body))
            curl.setopt(pycurl.READFUNCTION, received.give)
        error = self._perform()
        if error is not None:
            raise _broken(error, received)
        return Response(
            curl.getinfo(pycurl.RESPONSE_CODE), _headers(received.head), b"".join(received.chunks)
        )

    def _perform(self) -> _Error | None:
        """What went wrong, if anything. In the main thread it can be interrupted."""
        import pycurl

        if threading.current_thread() is threading.main_thread():
            return self._perform_in_steps()
        try:
            self._curl.perform()
        except pycurl.error as error:
            return _Error(*error.args[:2])
        return None

    def _perform_in_steps(self) -> _Error | None:
        self._multi.add_handle(self._curl)
        try:
            while self._multi.perform()[1]:
                self._multi.select(_WAIT)
            failed: Any = self._multi.info_read()[2]
        finally:
            self._multi.remove_handle(self._curl)
        return _Error(*failed[0][1:3]) if failed else None


class _Error(NamedTuple):
    code: int
    words: str


class _Received:
    """The parts of one response, and the body of its request."""

    __slots__ = ("body", "chunks", "given", "head", "size")

    def __init__(self, body: bytes) -> None:
        self.body, self.given, self.size = body, 0, 0
        self.head: list[bytes] = []
        self.chunks: list[bytes] = []

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


def _broken(error: _Error, received: _Received) -> TransportError:
    import pycurl

    code, words = error
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
    if code in unconnected and not received.head:
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
