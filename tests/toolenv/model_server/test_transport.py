"""Requests over real connections that break in every way."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.support.fake_server import (
    CUT,
    DRIP,
    DROP,
    HANG,
    Answer,
    FakeServer,
    Script,
    in_order,
    raw,
)
from toolenv.model_server import transport as module
from toolenv.model_server.transport import Response, Transport, TransportError

FINE = raw("ok", headers={"X-Kind": "good", "Set-Cookie": "a=b"})


@contextmanager
def connected(script: Script | Answer) -> Iterator[tuple[Callable[..., Response], FakeServer]]:
    with FakeServer(script) as server:
        transport = Transport()

        def send(body: bytes | None = b"{}", seconds: float = 10.0) -> Response:
            url = f"{server.base_url}/chat/completions" if body is not None else f"{server.base_url}/models"
            return transport.send(url, ["X-Own: 1"], body, seconds=seconds, connect=5.0)

        yield send, server
        transport.close()


def in_a_thread(work: Callable[[], object]) -> object:
    """The main thread waits in another way than others."""
    results: list[object] = []

    def run() -> None:
        try:
            results.append(work())
        except TransportError as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return results[0]


def broken(send: Callable[[], object]) -> TransportError:
    with pytest.raises(TransportError) as raised:
        send()
    other = in_a_thread(send)
    assert isinstance(other, TransportError)
    assert (other.reason, other.sent) == (raised.value.reason, raised.value.sent)
    return raised.value


def test_a_response_comes_back_whole_and_the_request_arrives_whole() -> None:
    body = b'{"a": "' + b"x" * 300_000 + b'"}'
    with connected(FINE) as (send, server):
        first, second = send(body), in_a_thread(lambda: send(body))
    for response in (first, second):
        assert isinstance(response, Response)
        assert (response.status, response.body) == (200, b"ok")
        assert response.headers["x-kind"] == "good"
    assert [one.raw for one in server.requests] == [body, body]
    assert server.requests[0].headers["x-own"] == "1"
    assert "expect" not in server.requests[0].headers


def test_a_get_has_no_body() -> None:
    with connected(FINE) as (send, server):
        assert send(None).status == 200
        assert send(b"{}").status == 200
        assert send(None).status == 200
    assert [one.method for one in server.seen] == ["GET", "POST", "GET"]


def test_an_error_status_is_a_response() -> None:
    with connected(raw("slow down", 429, {"Retry-After": "7"})) as (send, _):
        response = send()
    assert (response.status, response.headers["retry-after"]) == (429, "7")


@pytest.mark.parametrize("fault", [DROP, CUT])
def test_a_request_is_sent_once_whatever_breaks(fault: Answer) -> None:
    """On a kept connection libcurl would send it again by itself, and the first may have been billed."""
    with connected(in_order(FINE, fault, fault, FINE)) as (send, server):
        assert send().status == 200
        error = broken(send)
        assert (error.reason, error.sent) == ("dropped", True)
        assert len(server.requests) == 3
        assert send().status == 200


def test_connections_are_kept() -> None:
    ports: set[object] = set()

    with connected(FINE) as (send, server):
        handler = server._server.RequestHandlerClass
        original = handler.setup  # type: ignore[attr-defined]

        def setup(self: object) -> None:
            ports.add(self.client_address)  # type: ignore[attr-defined]
            original(self)

        handler.setup = setup  # type: ignore[attr-defined]
        for _ in range(5):
            in_a_thread(send)
    assert len(ports) == 1


@pytest.mark.parametrize("fault", [HANG, DRIP])
def test_time_is_for_all_of_it(fault: Answer) -> None:
    """A byte now and then keeps no request alive."""
    with connected(fault) as (send, _):
        begun = time.monotonic()
        error = broken(lambda: send(seconds=0.3))
        assert (error.reason, error.sent) == ("timeout", True)
        assert time.monotonic() - begun < 5


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/v1", "http://no.such.host.invalid/v1", "foo://x/y", "http://[half"]
)
def test_what_was_never_sent_is_told_apart(url: str) -> None:
    transport = Transport()
    error = broken(lambda: transport.send(url, [], b"x", seconds=10, connect=5))
    assert (error.reason, error.sent) == ("connection", False)
    transport.close()


def test_an_endless_reply_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_REPLY", 100_000)
    with connected(raw("x" * 1_000_000)) as (send, _):
        assert broken(send).reason == "too_large"


def test_a_closed_transport_opens_new_connections() -> None:
    with FakeServer(FINE) as server:
        transport = Transport()
        for _ in range(2):
            assert transport.send(server.base_url, [], None, seconds=5, connect=5).status == 404
            transport.close()


def test_ctrl_c_ends_a_wait() -> None:
    """In the main thread, where Python delivers it, nothing waits in libcurl for longer than a second."""
    import _thread

    # Whoever started these tests may have had SIGINT ignored, as pytest-xdist does in its workers.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        _check_ctrl_c(_thread.interrupt_main)
    finally:
        signal.signal(signal.SIGINT, before)


def _check_ctrl_c(interrupt: Callable[[], None]) -> None:
    with connected(HANG) as (send, server):
        threading.Thread(target=lambda: (_wait_for_request(server), interrupt())).start()
        with pytest.raises(KeyboardInterrupt):
            send(seconds=30.0)


def _wait_for_request(server: FakeServer) -> None:
    pause = threading.Event()
    while not server.seen:
        pause.wait(0.01)
