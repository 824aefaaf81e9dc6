"""Steps of an engine whose processes may be killed; ``test_vllm_killed.py`` kills a real one's."""

from __future__ import annotations

import multiprocessing
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
