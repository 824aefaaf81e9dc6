"""A server of chat completions that answers each request after a fixed time, in a process of its own.

It does as little work as HTTP allows, for its clients are what is measured: no framework, one thread, epoll.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import select
import socket
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing.connection import Connection
from typing import Any

LATENCY = 0.05
EARLY = 0.0005
"""Seconds off it: epoll counts in whole milliseconds, and so wakes half of one late on average."""

BEHIND = 10
"""How much nicer than the server its clients are, which share its processors: its latency must stay fixed."""


class Server:
    """A server in a process of its own.

    Attributes:
        base_url: where it is.
    """

    def __init__(self, base_url: str, line: Connection) -> None:
        self.base_url, self._line = base_url, line

    def answered(self) -> int:
        """How many requests it has answered so far."""
        self._line.send(None)
        return int(self._line.recv())


@contextmanager
def serving() -> Iterator[Server]:
    """A server of fixed latency."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(there,), daemon=True)
    process.start()
    os.nice(BEHIND)
    try:
        yield Server(f"http://127.0.0.1:{here.recv()}/v1", here)
    finally:
        process.terminate()
        process.join()


def _serve(told: Connection) -> None:
    """As little work as HTTP allows, for the client is what is measured: no framework, one thread."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    told.send(listening.getsockname()[1])
    poll, connections = select.epoll(), dict[int, _Connection]()
    poll.register(listening, select.EPOLLIN)
    poll.register(told, select.EPOLLIN)
    answered = 0
    due: deque[tuple[float, socket.socket, bytes]] = deque()
    while True:
        now = time.monotonic()
        for number, _ in poll.poll(max(0.0, due[0][0] - now) if due else None):
            connection = connections.get(number)
            if connection is not None:
                request = connection.received()
                if request:
                    due.append((time.monotonic() + LATENCY - EARLY, connection.peer, _answer_to(request)))
                elif request is None:
                    connections.pop(number).peer.close()
            elif number == listening.fileno():
                peer, _ = listening.accept()
                poll.register(peer, select.EPOLLIN)
                connections[peer.fileno()] = _Connection(peer)
            else:
                told.recv()
                told.send(answered)
        now = time.monotonic()
        while due and due[0][0] <= now:
            _, peer, answer = due.popleft()
            with suppress(OSError):  # it went away, as at the end of a measurement
                peer.send(answer)
                answered += 1


class _Connection:
    def __init__(self, peer: socket.socket) -> None:
        self.peer, self.parts = peer, b""

    def received(self) -> bytes | None:
        """A whole request; empty if it is not there yet, ``None`` if the client has gone."""
        try:
            new = self.peer.recv(1 << 16)
        except OSError:
            new = b""
        if not new:
            return None
        self.parts += new
        end = self.parts.find(b"\r\n\r\n")
        if end < 0:
            return b""
        at = self.parts.find(b"Content-Length: ") + 16
        if len(self.parts) < end + 4 + int(self.parts[at : self.parts.index(b"\r", at)]):
            return b""
        request, self.parts = self.parts, b""
        return request


def _answer(message: Mapping[str, Any], why: str) -> bytes:
    body = {
        "id": "c",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": why}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }
    text = json.dumps(body).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % len(text) + text


@cache
def _calling(tool: bytes) -> bytes:
    call = {"name": tool.decode(), "arguments": "{}"}
    message = {"content": None, "tool_calls": [{"id": "call00001", "type": "function", "function": call}]}
    return _answer(message, "tool_calls")


_LAST = _answer({"content": "Done."}, "stop")


def _answer_to(request: bytes) -> bytes:
    """A call of the first tool until the last request of an episode; read without a parser, which costs."""
    length = int(_between(request, request.find(b'"model":"'), b"-"))
    if length == 1 or request.count(b'"role":"tool"') + 1 >= length:
        return _LAST
    return _calling(_between(request, request.rfind(b'"function":{"name":"'), b'"name":"'))


def _between(request: bytes, start: int, mark: bytes) -> bytes:
    """The text after a mark up to the next quotation mark."""
    begin = request.index(mark, start) + len(mark)
    return request[begin : request.index(b'"', begin)]
