"""A proxy on loopback that passes requests on to a model server and keeps the usage in its replies."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from toolenv.rollout import Rollout

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class RecordingProxy:
    """Where it listens, and what the server said that each reply cost.

    Args:
        upstream: the server's address, e.g. ``"http://127.0.0.1:8000/v1"``.
    """

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self.usages: list[dict[str, Any]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.pass_on(None)

            def do_POST(self) -> None:
                self.pass_on(self.rfile.read(int(self.headers["Content-Length"])))

            def pass_on(self, body: bytes | None) -> None:
                headers = {"Content-Type": "application/json"}
                request = urllib.request.Request(proxy.upstream + self.path, data=body, headers=headers)
                try:
                    with DIRECT.open(request, timeout=300) as answer:
                        status, text = answer.status, answer.read()
                except urllib.error.HTTPError as error:
                    status, text = error.code, error.read()
                if body is not None and status == 200:
                    proxy.usages.append(json.loads(text)["usage"])
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        return Handler

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=30)


@contextmanager
def recording(upstream: str) -> Iterator[RecordingProxy]:
    """A proxy to a server until the block ends."""
    proxy = RecordingProxy(upstream)
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.stop()


def said_tokens(usages: Iterable[dict[str, Any]]) -> list[tuple[int, int]]:
    """What a server said of each generation: tokens in and out."""
    return [(one["prompt_tokens"], one["completion_tokens"]) for one in usages]


def run_tokens(rollouts: Iterable[Rollout]) -> list[tuple[int | None, int | None]]:
    """What a run keeps of each decision, likewise."""
    usages = [step.action.usage for one in rollouts for step in one.trace.steps]
    return [(usage.input_tokens, usage.output_tokens) for usage in usages if usage is not None]
