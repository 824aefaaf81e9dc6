"""The thread that owns an engine: requests join while it works, and a failure leaves nobody waiting."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from toolenv.agents.dialect import Generation
from toolenv.agents.engine_thread import EngineThread
from toolenv.errors import ServerError


class Countdown:
    """Needs as many steps for a request as its prompt is long; fails on order."""

    def __init__(self) -> None:
        self.left: dict[str, int] = {}
        self.batches: list[int] = []
        self.threads: set[int] = set()
        self.hold = threading.Event()
        self.hold.set()
        self.broken = self.closed = False

    def close(self) -> None:
        self.closed = True

    def add(self, request_id: str, prompt: Sequence[int], sampling: Any) -> None:
        self.threads.add(threading.get_ident())
        if not prompt:
            raise ValueError("an empty prompt")
        self.left[request_id] = len(prompt)

    def step(self) -> Iterator[tuple[str, Generation]]:
        self.threads.add(threading.get_ident())
        assert self.hold.wait(timeout=30)
        if self.broken:
            raise RuntimeError("the GPU is gone")
        self.batches.append(len(self.left))
        for request_id in list(self.left):
            self.left[request_id] -= 1
            if not self.left[request_id]:
                del self.left[request_id]
                yield request_id, Generation([int(request_id)])


def is_alive(name: str) -> bool:
    return any(thread.name == name for thread in threading.enumerate())


def test_requests_join_while_others_are_worked_on() -> None:
    engine = Countdown()
    thread = EngineThread(lambda: engine, "vllm:m")
    engine.hold.clear()
    long = thread.submit([1] * 6, None)
    short = thread.submit([1] * 2, None)
    engine.hold.set()
    assert short.result(timeout=30).tokens == [2]
    assert long.result(timeout=30).tokens == [1]
    assert thread.submit([1], None).result(timeout=30).tokens == [3]
    assert max(engine.batches) == 2
    assert len(engine.threads) == 1
    assert threading.get_ident() not in engine.threads
    thread.close()


def test_a_request_that_is_refused_harms_no_other() -> None:
    engine = Countdown()
    thread = EngineThread(lambda: engine, "vllm:m")
    good, bad = thread.submit([1, 1], None), thread.submit([], None)
    with pytest.raises(ServerError, match="vllm:m: ValueError: an empty prompt"):
        bad.result(timeout=30)
    assert good.result(timeout=30).tokens == [1]
    thread.close()


def test_when_the_engine_fails_every_request_fails_and_so_do_later_ones() -> None:
    engine = Countdown()
    thread = EngineThread(lambda: engine, "vllm:m")
    engine.hold.clear()
    waiting = [thread.submit([1] * 5, None) for _ in range(3)]
    engine.broken = True
    engine.hold.set()
    for one in (*waiting, thread.submit([1], None)):
        with pytest.raises(ServerError, match="RuntimeError: the GPU is gone"):
            one.result(timeout=30)
    thread.close()


def test_an_engine_that_cannot_start_says_why() -> None:
    def start() -> Countdown:
        raise ValueError("no such model")

    with pytest.raises(ValueError, match="no such model"):
        EngineThread(start, "vllm:m")


def test_closing_ends_the_thread_and_what_is_unfinished() -> None:
    engine = Countdown()
    thread = EngineThread(lambda: engine, "vllm:closed")
    assert is_alive("vllm:closed")
    engine.hold.clear()
    unfinished = thread.submit([1] * 3, None)
    closing = threading.Thread(target=thread.close)
    closing.start()
    engine.hold.set()
    closing.join(timeout=30)
    assert unfinished.exception(timeout=30) is None or "closed" in str(unfinished.exception())
    assert not is_alive("vllm:closed")
    assert engine.closed
    thread.close()


def test_nobody_needs_to_close_it() -> None:
    thread = EngineThread(Countdown, "vllm:forgotten")
    assert thread.submit([1], None).result(timeout=30).tokens == [1]
    assert is_alive("vllm:forgotten")
    del thread
    gc.collect()
    assert not is_alive("vllm:forgotten")
