"""Processes of this machine: the same episodes, whatever becomes of the processes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.toolenv.cli.command import ROOT, children_of, environment, spawn, spawned, wait_for_episodes
from tests.toolenv.runner.elsewhere import ENVS, give_up, here, jobs_of, killing, maker, records
from toolenv.agents.registry import make_agent
from toolenv.errors import UsageError
from toolenv.runner.processes import ProcessCrew
from toolenv.runner.remote import run_remote
from toolenv.runner.select import Workplace, run_at
from toolenv.runner.worker import Orders


@pytest.fixture
def crew() -> Iterator[ProcessCrew]:
    crew = ProcessCrew(Orders(maker(), {}, (str(ROOT),)), size=2)
    yield crew
    crew.close()


def is_up(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):  # it may end between the two questions
        return False
    return state != "Z"


def wait_until_gone(pids: set[int]) -> None:
    until = time.monotonic() + 30
    while any(map(is_up, pids)):
        assert time.monotonic() < until, "a process was left behind"
        os.sched_yield()


def test_the_episodes_are_those_of_one_process() -> None:
    jobs = jobs_of(limit=40)
    place = Workplace("processes", concurrency=2)
    there = list(run_at(place, jobs, make_agent("random"), maker(), {}))
    assert len(there) == 80
    assert records(there) == here(jobs)


UNGUARDED = """
from functools import partial
from toolenv.agents.registry import make_agent
from toolenv.runner import remote
from toolenv.runner.plan import RunConfig, plan
from toolenv.runner.select import Workplace, run_at

remote.LOST_IN_A_ROW = 1
options = {"text": "x" * 200_000}

def make(options):
    return make_agent("random")

jobs, _ = plan(RunConfig(envs=("ToolFeas/Workflows-clean-v0",), agent="random", limit=2))
place = Workplace("processes", concurrency=1)
list(run_at(place, jobs, make_agent("random"), partial(make, options), {}))
"""


@pytest.mark.slow
def test_a_script_without_a_guard_is_told_of_it_however_much_its_workers_are_given(tmp_path: Path) -> None:
    """Each dies before it has read that; who writes it to them must not wait for ever."""
    (tmp_path / "script.py").write_text(UNGUARDED)
    command = [sys.executable, "script.py"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 1
    assert "workers in a row died" in done.stderr
    assert 'a script that starts processes needs `if __name__ == "__main__":`' in done.stderr


def test_a_run_of_nothing_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolenv.runner.select.ProcessCrew", NotImplemented)
    assert list(run_at(Workplace("processes"), [], make_agent("random"), maker(), {})) == []


def test_killed_processes_lose_nothing_and_double_nothing(crew: ProcessCrew) -> None:
    jobs = jobs_of(limit=150, trials=2)
    moments = random.Random(6).sample(range(1, 500), 6)
    there = list(killing(run_remote(jobs, crew, give_up), crew.pids, moments, seed=6))
    assert len(there) == 600
    assert records(there) == here(jobs)


def test_a_run_that_is_given_up_leaves_no_process(crew: ProcessCrew) -> None:
    episodes = run_remote(jobs_of(limit=150), crew, give_up)
    next(episodes)
    pids = crew.pids()
    assert pids
    episodes.close()  # type: ignore[attr-defined]
    wait_until_gone(pids)


OWN = """
import os, signal
from toolenv import Message, NO_TOKENS

def confused(observation):
    return {"tool": "pay"}

def deadly(observation):
    if "triangle" in observation.messages[-1].content and "area" in observation.messages[-1].content:
        os.kill(os.getpid(), signal.SIGKILL)
    return Message("Done.", usage=NO_TOKENS)
"""


@pytest.mark.usefixtures("bfcl_package")
def test_an_agent_of_ones_own_works_there_and_its_mistakes_are_told(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    command = ("run", "ToolFeas/BFCL-clean-v0", "--runner", "processes", "--concurrency", 2, "--limit", 9)
    ended = spawned(*command, "--agent", "own:confused", "--out", "x", cwd=tmp_path)
    assert ended.code == 2
    assert ended.err.startswith("toolenv: policy 'confused' gave no action: dict {'tool': 'pay'} is none of")
    assert ended.err.count("\n") == 1


def test_an_agent_that_decides_for_many_is_refused() -> None:
    class Many:
        name = "many"

        def act(self, observation: object, memory: object) -> object:
            raise NotImplementedError

        def act_batch(self, observations: object, memories: object) -> object:
            raise NotImplementedError

    place = Workplace("processes", concurrency=2)
    with pytest.raises(UsageError, match=r"agent 'many' decides for many episodes at once.*--runner local"):
        next(run_at(place, jobs_of(1), Many(), Many, {}))  # type: ignore[arg-type]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_processes_end_with_the_one_that_started_them(tmp_path: Path, sent: signal.Signals) -> None:
    command = ("run", *ENVS, "--agent", "random", "--runner", "processes", "--concurrency", 2, "--out", "x")
    with spawn(*command, cwd=tmp_path) as process:
        assert wait_for_episodes(process, tmp_path, "x", 0), process.communicate()
        children = children_of(process.pid)
        assert len(children) >= 2
        process.send_signal(sent)
        _, err = process.communicate(timeout=60)
    assert process.returncode == (-signal.SIGKILL if sent == signal.SIGKILL else 130)
    assert sent == signal.SIGKILL or err.startswith("toolenv: interrupted; what had finished is kept in x.")
    wait_until_gone(children)
    ended = spawned(*command, "--resume", cwd=tmp_path)
    assert (ended.code, ended.err) == (0, "")
    assert len((tmp_path / "x/episodes.jsonl").read_bytes().splitlines()) == 2 * 1106
