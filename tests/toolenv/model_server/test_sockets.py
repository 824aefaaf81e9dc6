"""Sockets are watched as long as they are wanted, by whatever the system offers for it."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from toolenv.model_server import sockets
from toolenv.model_server.sockets import READ, WRITE, SelectedSockets, Sockets

KINDS: list[Callable[[], Sockets]] = [SelectedSockets]
if sys.platform == "linux":
    KINDS.append(sockets.PolledSockets)


@pytest.fixture(params=KINDS)
def watched(request: pytest.FixtureRequest) -> Iterator[Sockets]:
    made: Sockets = request.param()
    yield made
    made.close()


def test_a_socket_is_ready_for_what_it_is_watched_for(watched: Sockets) -> None:
    here, there = socket.socketpair()
    with here, there:
        watched.watch(here.fileno(), READ)
        assert list(watched.ready(0)) == []
        watched.watch(here.fileno(), READ | WRITE)
        assert list(watched.ready(0)) == [(here.fileno(), WRITE)]
        there.send(b"x")
        assert list(watched.ready(0)) == [(here.fileno(), READ | WRITE)]
        watched.watch(here.fileno(), READ)
        assert list(watched.ready(None)) == [(here.fileno(), READ)]
        watched.rest(here.fileno())


def test_a_socket_at_rest_is_not_ready_until_it_is_wanted_again(watched: Sockets) -> None:
    here, there = socket.socketpair()
    with here, there:
        watched.watch(here.fileno(), READ)
        watched.rest(here.fileno())
        there.send(b"x")
        assert list(watched.ready(0)) == []
        watched.watch(here.fileno(), READ)
        assert list(watched.ready(0)) == [(here.fileno(), READ)]
        watched.rest(here.fileno())


def test_a_socket_that_the_other_side_closes_at_rest_wakes_nobody(watched: Sockets) -> None:
    here, there = socket.socketpair()
    with here:
        watched.watch(here.fileno(), READ)
        watched.rest(here.fileno())
        there.close()
        for _ in range(3):
            assert list(watched.ready(0)) == []
        watched.watch(here.fileno(), READ)  # whoever asks for it is told that it is closed
        assert next(iter(watched.ready(0)))[1] & READ
        watched.rest(here.fileno())


def test_a_new_socket_in_the_place_of_one_that_was_closed_at_rest_is_watched(watched: Sockets) -> None:
    old, other = socket.socketpair()
    number = old.fileno()
    watched.watch(number, READ)
    watched.rest(number)
    old.close()
    here, there = socket.socketpair()
    with other, here, there:
        assert number in (here.fileno(), there.fileno())  # the lowest that is free
        new, peer = (here, there) if here.fileno() == number else (there, here)
        watched.watch(number, READ)
        peer.send(b"x")
        assert list(watched.ready(0)) == [(new.fileno(), READ)]
        watched.rest(number)


def test_a_socket_that_was_never_watched_may_rest(watched: Sockets) -> None:
    here, there = socket.socketpair()
    with here, there:
        watched.rest(here.fileno())
        assert list(watched.ready(0)) == []


def test_a_socket_closed_here_and_held_by_a_forked_process_wakes_nobody() -> None:
    """In a process of its own, for a fork of this one would take its threads for dead."""
    told = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["[]", "[]", "[]", "watched"]


FORKING = """
import os, signal, socket
from toolenv.model_server.sockets import READ, make_sockets

sockets = make_sockets()
here, there = socket.socketpair()
number = here.fileno()
sockets.watch(number, READ)
child = os.fork()
if not child:
    signal.pause()
sockets.rest(number)
here.close()
there.close()
for _ in range(3):
    print(list(sockets.ready(0)))
new, peer = socket.socketpair()
sockets.watch(new.fileno(), READ)
peer.send(b"x")
assert list(sockets.ready(1)) == [(new.fileno(), READ)]
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
print("watched")
"""
