"""A run that is stopped ends the processes that its agent has started, as vLLM's engine is one."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from tests.toolenv.cli.command import spawn, wait_for_episodes
from toolenv.cli.children import end_children

OWN = """
import multiprocessing, pathlib, threading, time
from toolenv import Message, NO_TOKENS

STARTED = []

def engine(observation):
    if STARTED:
        threading.Event().wait()
    STARTED.append(multiprocessing.get_context("spawn").Process(target=time.sleep, args=(300,)))
    STARTED[0].start()
    pathlib.Path("pid").write_text(str(STARTED[0].pid))
    return Message("", usage=NO_TOKENS)
"""


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_to_the_run_alone_leaves_no_engine_behind(
    tmp_path: Path, sent: signal.Signals, code: int
) -> None:
    (tmp_path / "own.py").write_text(OWN)
    command = ("run", "ToolFeas/Workflows-clean-v0", "--agent", "own:engine", "--limit", 3, "--out", "x")
    with spawn(*command, cwd=tmp_path) as process:
        assert wait_for_episodes(process, tmp_path, "x", 0), process.communicate()
        process.send_signal(sent)
        _, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_one_that_does_not_listen_is_ended_by_force() -> None:
    listening, stubborn = (
        multiprocessing.get_context("fork").Process(target=target, args=given)
        for target, given in ((time.sleep, (300,)), (_stubborn, ()))
    )
    for one in (listening, stubborn):
        one.start()
    while not _ignores_sigterm(stubborn.pid):
        os.sched_yield()
    end_children(0.2)
    assert (listening.exitcode, stubborn.exitcode) == (-signal.SIGTERM, -signal.SIGKILL)


def _stubborn() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(300)


def _ignores_sigterm(pid: int | None) -> bool:
    """As Linux tells it: a set bit for each ignored signal."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (ignored,) = (int(line.split()[1], 16) for line in lines if line.startswith("SigIgn"))
    return bool(ignored >> (signal.SIGTERM - 1) & 1)
