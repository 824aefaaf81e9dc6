"""A real HTTP server on loopback that speaks OpenAI chat completions from a script.

The script decides the answer to every chat request; requests are kept for assertions::

    with FakeServer(in_order(error(429, "slow down"), completion("hi"))) as server:
        ...
        assert server.requests[0].body["model"] == "fake-model"
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, BinaryIO, Literal

MODEL = "fake-model"
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


@dataclass(frozen=True)
class Request:
    """One request as it arrived, header names in lower case; ``body`` is ``None`` for a GET."""

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes
    body: Any


@dataclass(frozen=True)
class Answer:
    """What goes back: bytes, or what goes wrong with the connection instead."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: Literal["", "drop", "cut", "hang", "drip"] = ""


Script = Callable[[Request], Answer]


def raw(text: str | bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """Any body at all."""
    body = text.encode() if isinstance(text, str) else text
    return Answer(status, body, headers or {})


def as_json(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """A JSON body; lone surrogates leave as escapes, as servers send them."""
    return raw(json.dumps(value), status, {"Content-Type": "application/json", **(headers or {})})


def completion(
    content: object = None,
    *,
    tool_calls: object = None,
    finish_reason: str | None = "stop",
    usage: object = USAGE,
    model: str = MODEL,
    **message: object,
) -> Answer:
    """A completion; further keywords become keys of the message, e.g. ``reasoning_content``."""
    said = {"role": "assistant", "content": content, "tool_calls": tool_calls, **message}
    choice = {"index": 0, "message": said, "finish_reason": finish_reason}
    body = {"id": "c", "object": "chat.completion", "model": model, "choices": [choice], "usage": usage}
    return as_json(body)


def call(name: str, arguments: object = "{}", call_id: object = "call_1") -> dict[str, object]:
    """One entry of ``tool_calls``."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def error(status: int, message: str, *, headers: Mapping[str, str] | None = None, **fields: object) -> Answer:
    """An error in OpenAI's shape."""
    return as_json({"error": {"message": message, **fields}}, status, headers)


DRIP = Answer(fault="drip", body=b" " * 1000)
"""A byte now and then, for longer than anybody waits."""

DROP = Answer(fault="drop")
"""The connection closes without a word."""

CUT = Answer(fault="cut", body=b'{"choices": [')
"""The connection closes in the middle of the body."""

HANG = Answer(fault="hang")
"""Nothing comes until the server closes."""


def in_order(*answers: Answer) -> Script:
    """The answers one after another; the last one for good."""
    left, lock = list(answers), threading.Lock()

    def script(_: Request) -> Answer:
        with lock:
            return left.pop(0) if len(left) > 1 else left[0]

    return script


class FakeServer:
    """The server; a context manager.

    Args:
        script: answers chat requests; an :class:`Answer` is given for good.
        models: the names it lists, or the whole answer; ``None`` answers 404.
    """

    def __init__(self, script: Script | Answer, models: Sequence[str] | Answer | None = (MODEL,)) -> None:
        self.script: Script = in_order(script) if isinstance(script, Answer) else script
        self.models = models
        self.seen: list[Request] = []
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def requests(self) -> list[Request]:
        """The chat requests, in order of arrival."""
        return [one for one in self.seen if one.method == "POST"]

    @property
    def bodies(self) -> list[Any]:
        return [one.body for one in self.requests]

    def __enter__(self) -> FakeServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, request: Request) -> Answer:
        self.seen.append(request)
        if request.method == "POST" and request.path == "/v1/chat/completions":
            return self.script(request)
        if request.path == "/v1/models" and self.models is not None:
            if isinstance(self.models, Answer):
                return self.models
            return as_json(
                {"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]}
            )
        return raw("404 page not found", 404)

    def wait_until_closing(self) -> None:
        self._closing.wait(timeout=30)

    def drip(self, file: BinaryIO, body: bytes) -> None:
        """Send a byte now and then, until the server closes or the client has gone."""
        with suppress(OSError):
            for number in range(len(body)):
                file.write(body[number : number + 1])
                file.flush()
                if self._closing.wait(timeout=0.1):
                    return


def _handler(owner: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 30

        def do_GET(self) -> None:
            self.serve(b"")

        def do_POST(self) -> None:
            self.serve(self.rfile.read(int(self.headers["Content-Length"])))

        def serve(self, sent: bytes) -> None:
            body = json.loads(sent) if sent else None
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = owner.answer(Request(self.command, self.path, headers, sent, body))
            if answer.fault == "hang":
                owner.wait_until_closing()
            if answer.fault in ("drop", "hang"):
                self.hang_up()
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            promised = len(answer.body) + (100 if answer.fault == "cut" else 0)
            self.send_header("Content-Length", str(promised))
            self.end_headers()
            if answer.fault == "drip":
                owner.drip(self.wfile, answer.body)
                self.hang_up()
                return
            self.wfile.write(answer.body)
            if answer.fault == "cut":
                self.wfile.flush()
                self.hang_up()

        def hang_up(self) -> None:
            self.close_connection = True
            with suppress(OSError):  # the client may have gone first
                self.connection.shutdown(socket.SHUT_RDWR)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: what arrived is in ``requests``."""

    return Handler
