"""Ctrl-C as a terminal sends it, to all processes of a run: one line, whenever it comes (FIELD-076)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.toolenv.cli.command import CODE, children_of, environment, wait_for_episodes

ENVS = ("ToolFeas/Workflows-clean-v0", "ToolFeas/Workflows-infeasible-v0")
RUN = ("run", *ENVS, "--agent", "random", "--trials", "20", "--runner", "processes", "--concurrency", "4")

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")


def started(place: Path) -> subprocess.Popen[str]:
    """The run in a process group of its own. Warnings are printed: as errors, the tracker swallows them."""
    command = [sys.executable, "-W", "default", "-c", CODE, *RUN, "--out", "x"]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, cwd=place, env=environment(), text=True, stdout=pipe, stderr=pipe, start_new_session=True
    )


def interrupted(
    process: subprocess.Popen[str], times: int = 1, sent: signal.Signals = signal.SIGINT
) -> tuple[int, str, str]:
    for _ in range(times):
        with suppress(ProcessLookupError):  # it may have ended
            os.killpg(process.pid, sent)
        os.sched_yield()
    # To its end: until the last of the processes that it started has closed these, too.
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.mark.parametrize("children", [1, 2, 3])
def test_ctrl_c_while_processes_start(tmp_path: Path, children: int) -> None:
    """The first child is Python's tracker of semaphores, the others are workers, which begin with imports."""
    if children == 3 and (os.cpu_count() or 1) < 2:
        pytest.skip("one processor, one worker")
    with started(tmp_path) as process:
        while len(children_of(process.pid)) < children:
            assert process.poll() is None, process.communicate()
        code, out, err = interrupted(process)
    assert (code, out, err.count("\n")) == (130, "", 1), err
    assert err.startswith("toolenv: interrupted; no episode had finished. Go on with: toolenv run ")


def test_ctrl_c_while_processes_play(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        assert wait_for_episodes(process, tmp_path, "x", 0), process.communicate()
        code, out, err = interrupted(process)
    assert (code, out, err.count("\n")) == (130, "", 1), err
    assert err.startswith("toolenv: interrupted; what had finished is kept in x. Go on with: toolenv run ")


def test_sigterm_while_processes_play_as_slurm_sends_it(tmp_path: Path) -> None:
    """To all processes of a job: the workers leave it to their parent, which ends them."""
    with started(tmp_path) as process:
        assert wait_for_episodes(process, tmp_path, "x", 0), process.communicate()
        code, out, err = interrupted(process, sent=signal.SIGTERM)
    assert (code, out, err.count("\n")) == (143, "", 1), err
    assert err.startswith("toolenv: terminated; what had finished is kept in x. Go on with: toolenv run ")


def test_sigterm_while_processes_start(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        while len(children_of(process.pid)) < 2:
            assert process.poll() is None, process.communicate()
        code, out, err = interrupted(process, sent=signal.SIGTERM)
    assert (code, out, err.count("\n")) == (143, "", 1), err
    assert err.startswith("toolenv: terminated; no episode had finished. Go on with: toolenv run ")


def test_ctrl_c_pressed_again_while_the_run_is_being_stopped(tmp_path: Path) -> None:
    """No traceback, no warning; the line is there unless the last press cut it off."""
    with started(tmp_path) as process:
        assert wait_for_episodes(process, tmp_path, "x", 0), process.communicate()
        code, out, err = interrupted(process, times=5)
    assert (code, out) == (130, "")
    assert err == "" or (err.startswith("toolenv: interrupted; ") and err.count("\n") == 1), err
