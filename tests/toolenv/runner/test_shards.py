"""Runs of several files: nothing between the files is lost, and traces are parsed only when wanted."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.toolenv.runner.test_server_errors import Flaky
from tests.toolenv.runner.toy_runs import go_on, open_store, plain, play, ten_episodes
from toolenv import Rollout
from toolenv.episode import RoleTokens
from toolenv.errors import StoreError
from toolenv.runner import shards
from toolenv.runner.reading import RUN_FILE, read_episodes, read_header, read_records, read_rollouts
from toolenv.runner.shards import shard_path, shard_paths
from toolenv.runner.store import TornLineWarning


@pytest.fixture
def three_lines(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A file is full with its third line."""
    folder = tmp_path_factory.mktemp("one")
    go_on(folder, ten_episodes(), resume=False, stop_after=1)
    monkeypatch.setattr(shards, "SHARD_BYTES", 2 * shard_path(folder, 0).stat().st_size + 100)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("episodes*"))


def lines_in(folder: Path) -> list[int]:
    return [len(path.read_bytes().splitlines()) for path in shard_paths(folder)]


FOUR = ["episodes-00001.jsonl", "episodes-00002.jsonl", "episodes-00003.jsonl", "episodes.jsonl"]


@pytest.mark.usefixtures("three_lines")
def test_a_full_file_is_followed_by_another(tmp_path: Path) -> None:
    config = ten_episodes()
    rollouts = play(config)
    with open_store(tmp_path, config) as store:
        for number, rollout in enumerate(rollouts, 1):
            store.append(rollout)
            assert len(list(read_episodes(tmp_path))) == number
    assert names_in(tmp_path) == FOUR
    assert lines_in(tmp_path) == [3, 3, 3, 1]
    assert plain(read_rollouts(tmp_path)) == plain(rollouts)


@pytest.mark.usefixtures("three_lines")
@pytest.mark.parametrize("keep", range(10))
def test_a_run_cut_off_anywhere_goes_on_to_the_same_files(tmp_path: Path, keep: int) -> None:
    config = ten_episodes()
    go_on(tmp_path / "whole", config, resume=False)
    go_on(tmp_path / "cut", config, resume=False, stop_after=keep)
    last = shard_paths(tmp_path / "cut")[-1]
    with last.open("ab") as file:
        file.write(b'{"episode":{"env":"x')
    with pytest.warns(TornLineWarning, match=rf"{last.name}: dropped an unfinished last line of 20 bytes"):
        assert len(go_on(tmp_path / "cut", config)) == 10 - keep
    for number in range(4):
        there, whole = (shard_path(tmp_path / name, number).read_bytes() for name in ("cut", "whole"))
        assert there == whole


@pytest.mark.usefixtures("three_lines")
def test_a_run_killed_between_two_files_goes_on(tmp_path: Path) -> None:
    """The next file was made, and nothing is in it yet."""
    config = ten_episodes()
    go_on(tmp_path, config, resume=False, stop_after=3)
    shard_path(tmp_path, 1).touch()
    assert len(go_on(tmp_path, config)) == 7
    assert lines_in(tmp_path) == [3, 3, 3, 1]


@pytest.mark.usefixtures("three_lines")
def test_a_missing_file_is_named(tmp_path: Path) -> None:
    go_on(tmp_path, ten_episodes(), resume=False)
    shard_path(tmp_path, 2).unlink()
    with pytest.raises(StoreError, match=r"episodes-00002.jsonl is missing; the episodes in it are lost"):
        list(read_episodes(tmp_path))
    with pytest.raises(StoreError, match=r"episodes-00002.jsonl is missing"):
        open_store(tmp_path, ten_episodes(), resume=True)


@pytest.mark.usefixtures("three_lines")
def test_a_corrupt_line_is_named_with_its_file(tmp_path: Path) -> None:
    go_on(tmp_path, ten_episodes(), resume=False)
    path = shard_path(tmp_path, 1)
    path.write_bytes(path.read_bytes().replace(b'{"episode"', b'{"epi', 2))
    with pytest.raises(StoreError, match=r"episodes-00001.jsonl, line 1: not a record"):
        list(read_episodes(tmp_path))


@pytest.mark.usefixtures("three_lines")
def test_a_second_writer_is_refused_whatever_the_files(tmp_path: Path) -> None:
    config = ten_episodes()
    with open_store(tmp_path, config) as first:
        for rollout in play(config):
            first.append(rollout)
            with pytest.raises(StoreError, match="in use by another process"):
                open_store(tmp_path, config, resume=True)


@pytest.mark.usefixtures("three_lines")
def test_field_076_what_met_a_failed_server_is_taken_out_of_every_file(tmp_path: Path) -> None:
    config = ten_episodes()
    with open_store(tmp_path, config) as store:
        for rollout in play(config, Flaky()):
            store.append(rollout)
    assert len(go_on(tmp_path, config)) == 5
    episodes = list(read_episodes(tmp_path))
    assert len({one.key for one in episodes}) == len(episodes) == 10
    assert all(one.decided_by != "server_error" for one in episodes)
    assert go_on(tmp_path, config) == []


def test_other_files_are_no_part_of_a_run(tmp_path: Path) -> None:
    go_on(tmp_path, ten_episodes(), resume=False)
    for name in ("episodes.jsonl.bak", "episodes-1.jsonl", "episodes-00001.jsonl.gz", "old-episodes.jsonl"):
        (tmp_path / name).write_text("?")
    assert len(list(read_episodes(tmp_path))) == 10


HOSTILE: list[dict[str, Any]] = [
    {"error": '"},"trace":{"version":1}}'},
    {"error": '\\"},"trace":{'},
    {"error": "}},\\"},
    {"task_id": '{"episode":{'},
    {"roles": {"a": RoleTokens(1, 2), "trace": RoleTokens(3, 4)}},
    {"roles": {"trace": RoleTokens(1, 2)}},
]


@pytest.mark.parametrize("changes", HOSTILE)
def test_no_text_is_taken_for_the_place_where_the_trace_begins(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    first = play(ten_episodes())[0]
    hostile = replace(first.trace, error='"},"trace":{"episode":{}}}')
    rollout = Rollout(replace(first.episode, **changes), hostile)
    with open_store(tmp_path, ten_episodes()) as store:
        store.append(rollout)
    assert list(read_episodes(tmp_path)) == [rollout.episode]
    assert list(read_rollouts(tmp_path)) == [rollout]
    assert [trace for _, trace in read_records(tmp_path)] == [json.loads(json.dumps(hostile.to_json()))]


def test_a_line_of_another_layout_is_read_whole(tmp_path: Path) -> None:
    go_on(tmp_path, ten_episodes(), resume=False)
    before = plain(read_rollouts(tmp_path))
    records = [json.loads(line) for line in shard_path(tmp_path, 0).read_bytes().splitlines()]
    turned = [{"trace": one["trace"], "episode": one["episode"]} for one in records]
    for form in (records, turned):
        text = "".join(json.dumps(one, indent=None) + "\n" for one in form)
        shard_path(tmp_path, 0).write_text(text)
        assert plain(read_rollouts(tmp_path)) == before


def test_tables_parse_no_trace(tmp_path: Path) -> None:
    go_on(tmp_path, ten_episodes(), resume=False)
    path = shard_path(tmp_path, 0)
    path.write_bytes(path.read_bytes().replace(b'"trace":{"version":', b'"trace":{version:'))
    assert len(list(read_episodes(tmp_path))) == 10
    with pytest.raises(StoreError, match=r"line 1: not a record: ValueError"):
        list(read_rollouts(tmp_path))


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    """Reading a pipe that nobody writes to would never end."""
    config = ten_episodes()
    go_on(tmp_path, config, resume=False)
    os.mkfifo(shard_path(tmp_path, 1))
    with pytest.raises(StoreError, match=r"episodes-00001\.jsonl is no file"):
        list(read_episodes(tmp_path))
    (tmp_path / RUN_FILE).unlink()
    os.mkfifo(tmp_path / RUN_FILE)
    with pytest.raises(StoreError, match=r"run\.json is no file"):
        read_header(tmp_path)
