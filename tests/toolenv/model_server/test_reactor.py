"""One thread that waits for many requests, where it is interrupted."""

from __future__ import annotations

from typing import Any

import pycurl
import pytest

from tests.support.fake_server import HANG, FakeServer, raw
from toolenv.model_server.reactor import Reactor
from toolenv.model_server.transport import Exchange, Transport


def test_ctrl_c_at_any_moment_leaves_it_to_be_closed() -> None:
    """Between two steps of the end of a request, while another is under way."""
    with FakeServer(lambda request: HANG if request.raw == b"2" else raw("ok")) as server:
        reactor, transport = Reactor(), Transport()
        for body in (b"1", b"2"):
            exchange = Exchange(transport, server.base_url + "/chat/completions", [], body, 30.0)
            reactor.send(exchange, lambda _: None)
        assert reactor._transfers is not None
        multi = reactor._transfers._multi

        class Interrupted:
            """The same, with Ctrl-C as soon as a handle has left."""

            def __getattr__(self, name: str) -> Any:
                return getattr(multi, name)

            def remove_handle(self, curl: pycurl.Curl) -> None:
                multi.remove_handle(curl)
                raise KeyboardInterrupt

        reactor._transfers._multi = Interrupted()  # type: ignore[assignment]
        with pytest.raises(KeyboardInterrupt):
            _run_for_ever(reactor)
        reactor.close()


def _run_for_ever(reactor: Reactor) -> None:
    while True:
        reactor.run()


def test_what_libcurl_does_not_take_is_told_and_costs_no_other_request() -> None:
    with FakeServer(raw("ok")) as server:
        reactor, transport = Reactor(), Transport()
        came: list[Any] = []
        for headers in (["X-Own: \N{SNOWMAN}"], ["X-Own: 1"]):
            url = server.base_url + "/chat/completions"
            reactor.send(Exchange(transport, url, headers, b"{}", 10.0), came.append)
        while len(came) < 2:
            reactor.run()
        reactor.close()
    assert isinstance(came[0], UnicodeEncodeError)
    assert came[1].status == 200
