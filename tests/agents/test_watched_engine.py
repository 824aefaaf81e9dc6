"""Steps of an engine whose processes may be killed; ``test_vllm_killed.py`` kills a real one's."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
import time
from collections.abc import Iterator
from multiprocessing.process import BaseProcess

import pytest

from toolenv.agents.watched_engine import WatchedSteps


@pytest.fixture
def process() -> Iterator[BaseProcess]:
    """One that sleeps."""
    sleeping = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(300,), name="Core")
    sleeping.start()
    yield sleeping
    sleeping.kill()
    sleeping.join()


def kill(process: BaseProcess) -> None:
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)


def test_steps_come_one_by_one_with_what_they_raise(process: BaseProcess) -> None:
    outcomes = iter([["a"], ["b"]])
    step = WatchedSteps(lambda: next(outcomes), [process])
    assert [step(), step()] == [["a"], ["b"]]
    with pytest.raises(StopIteration):
        step()
    step.close()


def test_a_step_that_ends_its_thread_is_not_waited_for(process: BaseProcess) -> None:
    def leave() -> None:
        raise SystemExit(3)

    with pytest.raises(RuntimeError, match="SystemExit: 3"):
        WatchedSteps(leave, [process])()


def test_a_step_that_waits_for_a_killed_process_is_not_waited_for(process: BaseProcess) -> None:
    waits, never = threading.Event(), threading.Event()

    def stuck() -> None:
        waits.set()
        never.wait()

    def killed_meanwhile() -> None:
        waits.wait()
        kill(process)

    threading.Thread(target=killed_meanwhile).start()
    step = WatchedSteps(stuck, [process])
    with pytest.raises(ChildProcessError, match=r"a process of the engine has ended: Core \(exit code -9\)"):
        step()
    never.set()
    step.close()


def test_a_process_killed_between_steps_is_told_at_the_next(process: BaseProcess) -> None:
    never = threading.Event()
    step = WatchedSteps(never.wait, [process])
    kill(process)
    process.join()
    with pytest.raises(ChildProcessError, match="Core"):
        step()
    never.set()
    step.close()


def test_a_step_that_fails_because_of_a_killed_process_tells_of_the_process(process: BaseProcess) -> None:
    def notices_itself() -> None:
        kill(process)
        multiprocessing.connection.wait([process.sentinel])
        raise OSError("the engine is dead")

    with pytest.raises(ChildProcessError, match=r"Core \(exit code -9\)"):
        WatchedSteps(notices_itself, [process])()


def test_a_request_that_fails_because_of_a_killed_process_tells_of_the_process(process: BaseProcess) -> None:
    steps = WatchedSteps(list, [process])
    with pytest.raises(ValueError, match="no such sampling"), steps.naming_the_dead():
        raise ValueError("no such sampling")
    kill(process)
    multiprocessing.connection.wait([process.sentinel])
    with pytest.raises(ChildProcessError, match=r"Core \(exit code -9\)") as raised, steps.naming_the_dead():
        raise OSError("the engine is dead")
    assert isinstance(raised.value.__cause__, OSError)


def test_an_exit_code_that_another_thread_asks_for_too_is_told(process: BaseProcess) -> None:
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            assert process.exitcode in (None, -9)

    others = [threading.Thread(target=ask) for _ in range(4)]
    for one in others:
        one.start()
    try:
        step = WatchedSteps(threading.Event().wait, [process])
        kill(process)
        with pytest.raises(ChildProcessError, match=r"Core \(exit code -9\)"):
            step()
    finally:
        done.set()
        for one in others:
            one.join()
