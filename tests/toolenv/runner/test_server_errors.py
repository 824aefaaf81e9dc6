"""Runs whose server died: what met it is run again on resuming, and nothing else is (FIELD-076)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.toolenv.runner.toy_runs import Payer, go_on, header_of, open_store, play, ten_episodes
from toolenv import Observation
from toolenv.errors import ServerError, StoreError
from toolenv.runner.reading import EPISODES_FILE, RUN_FILE, read_episodes
from toolenv.runner.store import finished


class Flaky(Payer):
    """Its server fails for `pay-30`, and a bug of its own shows in trial 4 of `pay-7`."""

    def __init__(self) -> None:
        self.paid = 0

    def act(self, observation: Observation, memory: Any) -> tuple[Any, Any]:
        if "30" in observation.messages[0].content:
            raise ServerError("connection refused")
        self.paid += 1
        if self.paid > 8:
            raise ZeroDivisionError("a bug of the policy")
        return super().act(observation, memory)


@pytest.fixture
def halved(tmp_path: Path) -> Path:
    """Ten stored episodes: four good ones, one of a bug, five that met a failed server."""
    with open_store(tmp_path, ten_episodes()) as store:
        for rollout in play(ten_episodes(), Flaky()):
            store.append(rollout)
    ended = Counter(one.decided_by for one in read_episodes(tmp_path))
    assert ended == {"message": 4, "agent_error": 1, "server_error": 5}
    return tmp_path


def test_field_076_what_met_a_failed_server_is_run_again_once(halved: Path) -> None:
    before = (halved / EPISODES_FILE).read_bytes().splitlines()
    again = go_on(halved, ten_episodes())
    assert Counter(job.task_id for job in again) == {"pay-30": 5}
    after = (halved / EPISODES_FILE).read_bytes().splitlines()
    assert [line for line in before if b"connection refused" not in line] == after[:5], (
        "others stay as they are"
    )
    episodes = list(read_episodes(halved))
    assert len({one.key for one in episodes}) == len(episodes) == 10
    assert Counter(one.decided_by for one in episodes) == {"message": 9, "agent_error": 1}
    assert go_on(halved, ten_episodes()) == []


def test_looking_changes_nothing(halved: Path) -> None:
    before = (halved / EPISODES_FILE).read_bytes()
    assert len(finished(halved, header_of(ten_episodes()), resume=True)) == 5
    assert (halved / EPISODES_FILE).read_bytes() == before
    assert sorted(path.name for path in halved.iterdir() if path.name != ".lock") == [EPISODES_FILE, RUN_FILE]


def test_a_rewriting_that_a_crash_cut_off_is_done_anew(halved: Path) -> None:
    (halved / EPISODES_FILE).with_suffix(".partial").write_bytes(b'{"episode": {"en')
    open_store(halved, ten_episodes(), resume=True).close()
    assert len(list(read_episodes(halved))) == 5


def test_a_file_without_failed_servers_is_left_alone(tmp_path: Path) -> None:
    go_on(tmp_path, ten_episodes(), resume=False)
    inode = (tmp_path / EPISODES_FILE).stat().st_ino
    assert go_on(tmp_path, ten_episodes()) == []
    assert (tmp_path / EPISODES_FILE).stat().st_ino == inode


def rewrite_versions(folder: Path, **changes: str) -> None:
    header = json.loads((folder / RUN_FILE).read_text())
    header["versions"].update(changes)
    (folder / RUN_FILE).write_text(json.dumps(header))


@pytest.mark.parametrize("name", ["toolenv", "jsonschema-rs"])
def test_a_run_of_another_version_is_refused(halved: Path, name: str) -> None:
    rewrite_versions(halved, **{name: "0.0.7"})
    before = (halved / EPISODES_FILE).read_bytes()
    with pytest.raises(
        StoreError, match=rf"holds a run made with {name} 0\.0\.7, and this is {name} \d.*another"
    ):
        open_store(halved, ten_episodes(), resume=True)
    assert (halved / EPISODES_FILE).read_bytes() == before


def test_another_python_is_no_other_run(halved: Path) -> None:
    rewrite_versions(halved, python="3.13.99", gymnasium="0")
    assert len(go_on(halved, ten_episodes())) == 5


def test_a_run_that_does_not_say_its_version_is_refused(halved: Path) -> None:
    header = json.loads((halved / RUN_FILE).read_text())
    del header["versions"]
    (halved / RUN_FILE).write_text(json.dumps(header))
    with pytest.raises(StoreError, match="made with toolenv a version not recorded"):
        open_store(halved, ten_episodes(), resume=True)
