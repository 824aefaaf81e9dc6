"""Ctrl-C, SIGTERM, SIGKILL, terminals and pipes: the command line in processes of its own."""

from __future__ import annotations

import os
import pty
import random
import shlex
import signal
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.toolenv.cli.command import (
    CLEAN,
    INFEASIBLE,
    Ended,
    environment,
    spawn,
    spawned,
    wait_for_episodes,
)
from toolenv.runner.reading import EPISODES_FILE, RUN_FILE
from toolenv.runner.shards import shard_paths

RUN = ("run", CLEAN, INFEASIBLE, "--agent", "random")
EVERYTHING = 1453 + 1451


class Stop(NamedTuple):
    """What stops a run, the exit status that shells have for it, and how it is told."""

    sent: signal.Signals
    code: int
    told: str


TERMINATED = Stop(signal.SIGTERM, 143, "terminated")

pytestmark = pytest.mark.usefixtures("bfcl_package")


def lines_of(folder: Path) -> list[bytes]:
    return [line for path in shard_paths(folder) for line in path.read_bytes().splitlines()]


def interrupted(
    *arguments: object, cwd: Path, name: str, size: int = 0, sent: signal.Signals = signal.SIGINT
) -> Ended:
    """Run a command until the file of that run has grown beyond ``size``, then press Ctrl-C."""
    with spawn(*arguments, cwd=cwd) as process:
        assert wait_for_episodes(process, cwd, name, size), process.communicate()
        process.send_signal(sent)
        out, err = process.communicate(timeout=60)
    return Ended(process.returncode, out, err)


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("stop", [Stop(signal.SIGINT, 130, "interrupted"), TERMINATED])
def test_what_stops_a_run_says_how_to_go_on(tmp_path: Path, concurrency: int, stop: Stop) -> None:
    command = (*RUN, "--limit", 1000, "--concurrency", concurrency, "--out", "a run")
    folder = tmp_path / "a run"
    ended = interrupted(*command, cwd=tmp_path, name="a run", size=200_000, sent=stop.sent)
    assert (ended.code, ended.out) == (stop.code, "")
    assert 0 < len(lines_of(folder)) < 2000
    told, _, again = ended.err.partition("Go on with: ")
    assert told == f"toolenv: {stop.told}; what had finished is kept in a run. "
    program, *arguments = shlex.split(again)
    assert (program, arguments) == ("toolenv", [*map(str, command), "--resume"])
    finished = spawned(*arguments, cwd=tmp_path)
    assert (finished.code, finished.err) == (0, "")
    assert len(lines_of(folder)) == len(set(lines_of(folder))) == 2000


STUCK = """
import threading
from toolenv import Message, NO_TOKENS

def stuck(observation):
    if "triangle" in observation.messages[-1].content:
        return Message("", usage=NO_TOKENS)
    threading.Event().wait()
"""
"""Answers the first questions of BFCL's `multiple`, which are about triangles, then waits for good."""


def test_ctrl_c_waits_for_no_server(tmp_path: Path) -> None:
    (tmp_path / "stuck.py").write_text(STUCK)
    command = ("run", CLEAN, "--agent", "stuck:stuck", "--limit", 5, "--concurrency", 3, "--out", "x")
    ended = interrupted(*command, cwd=tmp_path, name="x")
    assert ended.code == 130
    assert ended.err.startswith("toolenv: interrupted; what had finished is kept in x. Go on with: ")
    assert ended.err.count("\n") == 1


def test_sigterm_waits_for_no_server(tmp_path: Path) -> None:
    (tmp_path / "stuck.py").write_text(STUCK)
    command = ("run", CLEAN, "--agent", "stuck:stuck", "--limit", 5, "--concurrency", 3, "--out", "x")
    ended = interrupted(*command, cwd=tmp_path, name="x", sent=signal.SIGTERM)
    assert ended.code == 143
    assert ended.err.startswith("toolenv: terminated; what had finished is kept in x. Go on with: ")
    assert ended.err.count("\n") == 1


def test_two_processes_never_write_into_one_folder(tmp_path: Path) -> None:
    (tmp_path / "stuck.py").write_text(STUCK)
    command = ("run", CLEAN, "--agent", "stuck:stuck", "--limit", 5, "--out", "x", "--resume")
    with spawn(*command, cwd=tmp_path) as first:
        assert wait_for_episodes(first, tmp_path, "x", 0), first.communicate()
        second = spawned(*command, cwd=tmp_path)
        first.kill()
    assert second == Ended(2, "", "toolenv: x is in use by another process\n")


def test_quickstart_goes_on_by_itself(tmp_path: Path) -> None:
    ended = interrupted("quickstart", "--limit", 500, cwd=tmp_path, name="runs/quickstart/oracle-*")
    assert ended.code == 130
    assert ended.err.endswith(". Go on with: toolenv quickstart --limit 500\n")


@pytest.mark.slow
@pytest.mark.parametrize("files", [1, 40])
def test_field_076_killed_ten_times_and_resumed_equals_one_run(tmp_path: Path, files: int) -> None:
    """SIGKILL when the files have grown beyond ten random sizes; then the records are those of a whole run.

    The killed run has one file, or rolls over to the next one again and again.
    """
    command = (*RUN, "--trials", 2)
    assert spawned(*command, "--out", "whole", cwd=tmp_path).code == 0
    whole = lines_of(tmp_path / "whole")
    assert len(whole) == 2 * EVERYTHING
    size = (tmp_path / "whole" / EPISODES_FILE).stat().st_size
    killed = environment(SHARD_BYTES=str(size // files + 1))
    moments = [0, *sorted(random.Random(76).sample(range(int(0.8 * size)), 9))]
    kept = 0
    for moment in moments:
        again = (*command, "--concurrency", 4, "--out", "killed", "--resume")
        with spawn(*again, cwd=tmp_path, env=killed) as process:
            assert wait_for_episodes(process, tmp_path, "killed", moment), process.communicate()
            process.kill()
            process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert (tmp_path / "killed" / RUN_FILE).exists()
        assert len(lines_of(tmp_path / "killed")) >= kept, "an episode was lost"
        kept = len(lines_of(tmp_path / "killed"))
    assert kept < len(whole)
    ended = spawned(*command, "--out", "killed", "--resume", cwd=tmp_path, env=killed)
    assert ended.code == 0
    # A file ends with the line that fills it, so that there are a few less than would fit exactly.
    assert 0.9 * files <= len(shard_paths(tmp_path / "killed")) <= files
    # Whole lines: episode and trace alike, and none of them twice.
    assert sorted(lines_of(tmp_path / "killed")) == sorted(whole)
    assert (tmp_path / "killed" / RUN_FILE).read_bytes() == (tmp_path / "whole" / RUN_FILE).read_bytes()


def on_a_terminal(*arguments: object, cwd: Path) -> Ended:
    """Run a command whose stderr is a terminal."""
    reading, writing = pty.openpty()
    with spawn(*arguments, cwd=cwd, stderr=writing) as process:
        os.close(writing)
        shown = b""
        while True:
            try:
                shown += os.read(reading, 65_536)
            except OSError:  # Linux: the other side has closed
                break
        out, _ = process.communicate(timeout=60)
    os.close(reading)
    return Ended(process.returncode, out, shown.decode())


def test_a_terminal_shows_progress_and_a_pipe_does_not(tmp_path: Path) -> None:
    command = (*RUN, "--limit", 200)
    shown = on_a_terminal(*command, "--out", "x", cwd=tmp_path)
    assert shown.code == 0
    assert "/400" in shown.err
    assert "random" in shown.err
    piped = spawned(*command, "--out", "y", cwd=tmp_path)
    assert (piped.code, piped.err) == (0, "")
    assert piped.out == shown.out.replace("Runs: x", "Runs: y")
