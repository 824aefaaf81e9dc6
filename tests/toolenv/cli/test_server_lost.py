"""A server that dies during a run stops the run, and resuming goes on where it can (FIELD-076)."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path

import pytest

from tests.support.fake_server import Answer, FakeServer, Request, completion, error
from tests.toolenv.cli.command import CLEAN, Ended, spawned
from toolenv.runner.reading import read_episodes

pytestmark = pytest.mark.usefixtures("bfcl_package")

DEAD = error(500, "the model is gone")


class Dying:
    """Answers the preflight and so many requests behind it, then fails for good."""

    def __init__(self, answers: int) -> None:
        self.left = answers + 1

    def __call__(self, request: Request) -> Answer:
        self.left -= 1
        return completion("I can't do this.") if self.left >= 0 else DEAD


def run(server: FakeServer, place: Path, *more: object) -> Ended:
    """Forty tasks, a retry for none."""
    options = ("--base-url", server.base_url, "--agent-option", "attempts=1", "--out", "x", "--limit", 40)
    return spawned("run", CLEAN, "--agent", "chat:fake-model", *options, *more, cwd=place)


@pytest.mark.parametrize(("concurrency", "failed"), [(1, 8), (6, 12)])
def test_a_run_stops_when_its_server_fails_every_episode(
    tmp_path: Path, concurrency: int, failed: int
) -> None:
    with FakeServer(Dying(5)) as server:
        ended = run(server, tmp_path, "--concurrency", concurrency)
    told = "chat:fake-model: preflight, in no episode: 11 input and 7 output tokens\n"
    assert (ended.code, ended.out) == (2, told)
    kept = Counter(one.decided_by for one in read_episodes(tmp_path / "x"))
    assert kept["server_error"] >= failed
    assert kept.total() < 40
    assert ended.err.count("\n") == 1, "one line"
    assert ended.err.startswith(f"toolenv: stopped: {failed} episodes in a row met a failed server (")
    assert (
        f"{kept.total()} episodes stored in x; --resume goes on, and runs again those that failed"
        in ended.err
    )
    assert shlex.split(ended.err.partition("Go on with: ")[2])[-1] == "--resume"


def test_resuming_runs_again_what_failed_and_nothing_twice(tmp_path: Path) -> None:
    with FakeServer(Dying(5)) as server:
        assert run(server, tmp_path).code == 2
    good = [one for one in read_episodes(tmp_path / "x") if one.valid]
    with FakeServer(completion("I can't do this.")) as server:
        ended = run(server, tmp_path, "--resume")
    assert (ended.code, ended.err) == (0, "")
    episodes = list(read_episodes(tmp_path / "x"))
    assert episodes[: len(good)] == good
    assert len({one.key for one in episodes}) == len(episodes) == 40
    assert all(one.valid for one in episodes)


def test_failures_with_successes_between_them_stop_nothing(tmp_path: Path) -> None:
    asked = 0

    def every_third_answers(request: Request) -> Answer:
        nonlocal asked
        asked += 1
        return DEAD if asked % 3 == 0 else completion("I can't do this.")

    with FakeServer(every_third_answers) as server:
        ended = run(server, tmp_path)
    assert ended.code == 0
    assert len(list(read_episodes(tmp_path / "x"))) == 40
