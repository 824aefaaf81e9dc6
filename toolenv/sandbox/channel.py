"""Frames to and from a worker, within a time and a size. What comes back is trusted in nothing.

A frame is four bytes of length, the most significant first, and JSON.
"""

from __future__ import annotations

import json
import os
import select
import time
from typing import Any

from toolenv.sandbox.outcome import Cause

CHUNK = 1 << 16


class ChannelError(Exception):
    """No reply came; ``cause`` says why. ``"exit"`` means that the other side is gone."""

    def __init__(self, cause: Cause, detail: str = "") -> None:
        super().__init__(cause, detail)
        self.cause, self.detail = cause, detail


class Channel:
    """A pipe to a worker and one back.

    Args:
        requests, replies: file descriptors, which are set to never block.
    """

    def __init__(self, requests: int, replies: int) -> None:
        self._requests, self._replies = requests, replies
        for descriptor in (requests, replies):
            os.set_blocking(descriptor, False)

    def exchange(self, request: Any, seconds: float, most: int) -> Any:
        """Send a request and read the reply.

        Args:
            request: a JSON value.
            seconds: until when the whole reply must be there.
            most: bytes of the reply.

        Raises:
            ChannelError: there was none.
        """
        if _is_readable(self._replies, 0.0):
            self._complain_of_early_words()
        until = time.monotonic() + seconds
        body = json.dumps(request).encode()
        self._send(len(body).to_bytes(4, "big") + body, until)
        return self.receive(seconds, most, until)

    def receive(self, seconds: float, most: int, until: float | None = None) -> Any:
        """Read a frame; see :meth:`exchange`."""
        until = time.monotonic() + seconds if until is None else until
        size = int.from_bytes(self._read(4, until), "big")
        if size > most:
            raise ChannelError("output", f"{size:,} bytes, at most {most:,}")
        try:
            return json.loads(self._read(size, until), parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise ChannelError("protocol", f"{type(error).__name__} in the reply") from error

    def _complain_of_early_words(self) -> None:
        """A reply before the request is a forgery; the end of the pipe is an end."""
        early = os.read(self._replies, 1)
        raise ChannelError("protocol", "a reply without a request") if early else ChannelError("exit")

    def _send(self, data: bytes, until: float) -> None:
        left = memoryview(data)
        while left:
            _wait(self._requests, select.POLLOUT, until)
            try:
                left = left[os.write(self._requests, left[:CHUNK]) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise ChannelError("exit") from error

    def _read(self, size: int, until: float) -> bytes:
        parts, left = [], size
        while left > 0:
            _wait(self._replies, select.POLLIN, until)
            try:
                part = os.read(self._replies, min(left, CHUNK))
            except BlockingIOError:
                continue
            if not part:
                raise ChannelError("exit")
            parts.append(part)
            left -= len(part)
        return b"".join(parts)


def _wait(descriptor: int, event: int, until: float) -> None:
    poll = select.poll()
    poll.register(descriptor, event)
    left = until - time.monotonic()
    if left <= 0 or not poll.poll(left * 1000):
        raise ChannelError("time")


def _is_readable(descriptor: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")
