"""Requests over real connections that break in every way."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
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
    completion,
    in_order,
    raw,
)
from toolenv.model_server import transport as module
from toolenv.model_server.reactor import Reactor
from toolenv.model_server.transport import Exchange, Response, Transport, TransportError

FINE = raw("ok", headers={"X-Kind": "good", "Set-Cookie": "a=b"})


Way = Callable[[Exchange], Response]


class Client:
    """Sends to one server in each of the ways there are; each keeps its own connections."""

    def __init__(self, base_url: str) -> None:
        self.base_url, self.transport, self.reactor = base_url, Transport(), Reactor()
        self.ways: tuple[Way, ...] = (self.in_this_thread, self.in_a_thread, self.in_the_reactor)

    def exchange(self, body: bytes | None = b"{}", seconds: float = 10.0) -> Exchange:
        url = f"{self.base_url}/chat/completions" if body is not None else f"{self.base_url}/models"
        return Exchange(self.transport, url, ["X-Own: 1"], body, seconds, 5.0)

    def in_this_thread(self, exchange: Exchange) -> Response:
        return self.transport.send(exchange)

    def in_a_thread(self, exchange: Exchange) -> Response:
        """The main thread waits in another way than others."""
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(self.transport.send, exchange).result()

    def in_the_reactor(self, exchange: Exchange) -> Response:
        came: list[Response | TransportError] = []
        self.reactor.send(exchange, came.append)
        while not came:
            self.reactor.run()
        if isinstance(came[0], TransportError):
            raise came[0]
        return came[0]

    def send(self, body: bytes | None = b"{}", seconds: float = 10.0) -> Response:
        return self.transport.send(self.exchange(body, seconds))

    def all_break(self, exchange: Exchange) -> TransportError:
        """The error, the same in whichever way it is sent."""
        errors = []
        for way in self.ways:
            with pytest.raises(TransportError) as raised:
                way(exchange)
            errors.append(raised.value)
        assert len({(one.reason, one.sent) for one in errors}) == 1
        return errors[0]

    def close(self) -> None:
        self.transport.close()
        self.reactor.close()


@contextmanager
def connected(script: Script | Answer) -> Iterator[tuple[Client, FakeServer]]:
    with FakeServer(script) as server:
        client = Client(server.base_url)
        yield client, server
        client.close()


def test_a_response_comes_back_whole_and_the_request_arrives_whole() -> None:
    body = b'{"a": "' + b"x" * 300_000 + b'"}'
    with connected(FINE) as (client, server):
        responses = [way(client.exchange(body)) for way in client.ways]
    for response in responses:
        assert (response.status, response.body) == (200, b"ok")
        assert response.headers["x-kind"] == "good"
    assert [one.raw for one in server.requests] == [body] * 3
    assert server.requests[0].headers["x-own"] == "1"
    assert "expect" not in server.requests[0].headers


def test_a_get_has_no_body() -> None:
    with connected(FINE) as (client, server):
        for way in client.ways:
            for body in (None, b"{}", None):
                assert way(client.exchange(body)).status == 200
    assert [one.method for one in server.seen] == ["GET", "POST", "GET"] * 3


def test_an_error_status_is_a_response() -> None:
    with connected(raw("slow down", 429, {"Retry-After": "7"})) as (client, _):
        response = client.send()
    assert (response.status, response.headers["retry-after"]) == (429, "7")


@pytest.mark.parametrize("fault", [DROP, CUT])
def test_a_request_is_sent_once_whatever_breaks(fault: Answer) -> None:
    """On a kept connection libcurl would send it again by itself, and the first may have been billed."""
    with connected(in_order(FINE, FINE, fault, fault, fault, FINE, FINE)) as (client, server):
        sent = client.exchange()
        assert client.in_a_thread(sent).status == client.in_the_reactor(sent).status == 200
        error = client.all_break(sent)
        assert (error.reason, error.sent) == ("dropped", True)
        assert len(server.requests) == 5
        assert client.in_a_thread(sent).status == client.in_the_reactor(sent).status == 200


@pytest.mark.parametrize("way", ["in_a_thread", "in_the_reactor"])
def test_connections_are_kept(way: str) -> None:
    ports: set[object] = set()

    with connected(FINE) as (client, server):
        handler = server._server.RequestHandlerClass
        original = handler.setup  # type: ignore[attr-defined]

        def setup(self: object) -> None:
            ports.add(self.client_address)  # type: ignore[attr-defined]
            original(self)

        handler.setup = setup  # type: ignore[attr-defined]
        for _ in range(5):
            getattr(client, way)(client.exchange())
    assert len(ports) == 1


@pytest.mark.parametrize("fault", [HANG, DRIP])
def test_time_is_for_all_of_it(fault: Answer) -> None:
    """A byte now and then keeps no request alive."""
    with connected(fault) as (client, _):
        begun = time.monotonic()
        error = client.all_break(client.exchange(seconds=0.3))
        assert (error.reason, error.sent) == ("timeout", True)
        assert time.monotonic() - begun < 5


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/v1", "http://no.such.host.invalid/v1", "foo://x/y", "http://[half"]
)
def test_what_was_never_sent_is_told_apart(url: str) -> None:
    client = Client(url)
    error = client.all_break(Exchange(client.transport, url, [], b"x", 10.0, 5.0))
    assert (error.reason, error.sent) == ("connection", False)
    client.close()


def test_an_endless_reply_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_REPLY", 100_000)
    with connected(raw("x" * 1_000_000)) as (client, _):
        assert client.all_break(client.exchange()).reason == "too_large"


def test_a_closed_transport_opens_new_connections() -> None:
    with FakeServer(FINE) as server:
        transport = Transport()
        for _ in range(2):
            assert transport.send(Exchange(transport, server.base_url, [], None, 5.0)).status == 404
            transport.close()


@pytest.mark.parametrize("way", ["in_this_thread", "in_the_reactor"])
def test_ctrl_c_ends_a_wait(way: str) -> None:
    """In the main thread, where Python delivers it, nothing waits in libcurl for longer than a second."""
    import _thread

    # Whoever started these tests may have had SIGINT ignored, as pytest-xdist does in its workers.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        _check_ctrl_c(_thread.interrupt_main, way)
    finally:
        signal.signal(signal.SIGINT, before)


def _check_ctrl_c(interrupt: Callable[[], None], way: str) -> None:
    with connected(HANG) as (client, server):
        threading.Thread(target=lambda: (_wait_for_request(server), interrupt())).start()
        with pytest.raises(KeyboardInterrupt):
            getattr(client, way)(client.exchange(seconds=30.0))


def _wait_for_request(server: FakeServer) -> None:
    pause = threading.Event()
    while not server.seen:
        pause.wait(0.01)


def test_a_request_that_could_not_be_made_is_not_made_like_the_one_before() -> None:
    """What was set for an earlier request must not be taken for what this one asks for."""
    with FakeServer(completion("hi")) as server:
        transport, url = Transport(), f"{server.base_url}/chat/completions"
        good = Exchange(transport, url, (), b"{}", 10.0)
        assert transport.send(good).status == 200
        for bad in (good._replace(url="http://b\xfc.example/x"), good._replace(seconds=1e16)):
            for _ in range(2):
                with pytest.raises((UnicodeEncodeError, OverflowError)):
                    transport.send(bad)
        assert transport.send(good).status == 200
        transport.close()
    assert len(server.requests) == 2


def test_an_answer_without_a_head_came_after_the_request_was_sent() -> None:
    """Old servers' and wrong programs' answers: libcurl takes them for no protocol that it speaks."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        answering = threading.Thread(target=_answer_bare, args=(listening, 3))
        answering.start()
        client = Client(address)
        error = client.all_break(client.exchange())
        client.close()
        answering.join()
    assert (error.reason, error.sent) == ("dropped", True)


def _answer_bare(listening: socket.socket, times: int) -> None:
    for _ in range(times):
        peer, _ = listening.accept()
        with peer:
            peer.recv(65_536)
            peer.sendall(b'{"choices": []}')
