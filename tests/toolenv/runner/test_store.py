"""The run directory: torn lines, other runs, two writers, full disks, and what is fit to be written."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pytest

from tests.toolenv.runner.toy_runs import (
    CLEAN,
    INFEASIBLE,
    Payer,
    go_on,
    header_of,
    open_store,
    plain,
    play,
    ten_episodes,
)
from toolenv import Rollout, Usage
from toolenv.errors import StoreError
from toolenv.metrics.rates import sr
from toolenv.runner.reading import EPISODES_FILE, RUN_FILE, read_episodes, read_header, read_rollouts
from toolenv.runner.store import RunStore, TornLineWarning, finished

HALF_A_LINE = b'{"task_id": "t7", "tri'


def lines_of(folder: Path) -> list[bytes]:
    return (folder / EPISODES_FILE).read_bytes().splitlines(keepends=True)


def tear(folder: Path, keep: int = 7) -> None:
    """Leave ``keep`` whole lines and half of another."""
    (folder / EPISODES_FILE).write_bytes(b"".join(lines_of(folder)[:keep]) + HALF_A_LINE)


def changed(rollout: Rollout, **changes: Any) -> Rollout:
    return replace(rollout, trace=replace(rollout.trace, **changes))


def test_field_076_half_a_line_is_dropped_with_a_warning_and_run_again(tmp_path: Path) -> None:
    config = ten_episodes()
    go_on(tmp_path / "whole", config, resume=False)
    go_on(tmp_path / "torn", config, resume=False)
    tear(tmp_path / "torn")
    with pytest.warns(TornLineWarning, match="unfinished last line of 22 bytes"):
        assert len(go_on(tmp_path / "torn", config)) == 3
    assert go_on(tmp_path / "torn", config) == []
    records = [json.loads(line) for line in lines_of(tmp_path / "torn")]
    keys = [(one["episode"]["env"], one["episode"]["task_id"], one["episode"]["trial"]) for one in records]
    assert len(records) == len(set(keys)) == 10
    assert lines_of(tmp_path / "torn") == lines_of(tmp_path / "whole")
    torn, whole = (sr(list(read_episodes(tmp_path / name))) for name in ("torn", "whole"))
    assert torn == whole
    # By hand: `pay-7` succeeds five times, `pay-30` never.
    assert (torn.value, torn.n) == (0.5, 10)


def test_field_076_each_episode_is_on_disk_before_the_next(tmp_path: Path) -> None:
    config = ten_episodes()
    with open_store(tmp_path, config) as store:
        for number, rollout in enumerate(play(config), 1):
            store.append(rollout)
            assert len(list(read_rollouts(tmp_path))) == number


@pytest.mark.parametrize("keep", [0, 3])
def test_reading_leaves_out_half_a_line_and_changes_nothing(tmp_path: Path, keep: int) -> None:
    config = ten_episodes()
    go_on(tmp_path, config, resume=False)
    tear(tmp_path, keep)
    before = (tmp_path / EPISODES_FILE).read_bytes()
    assert len(list(read_episodes(tmp_path))) == keep
    assert len(finished(tmp_path, header_of(config), resume=True)) == keep
    assert (tmp_path / EPISODES_FILE).read_bytes() == before


def test_a_torn_line_longer_than_a_block_is_dropped(tmp_path: Path) -> None:
    config = ten_episodes()
    go_on(tmp_path, config, resume=False, stop_after=2)
    with (tmp_path / EPISODES_FILE).open("ab") as file:
        file.write(b"x" * 200_000)
    with pytest.warns(TornLineWarning, match="200000 bytes"):
        assert len(go_on(tmp_path, config)) == 8


def test_a_run_that_was_killed_before_its_first_episode_goes_on(tmp_path: Path) -> None:
    config = ten_episodes()
    open_store(tmp_path, config).close()
    assert len(go_on(tmp_path, config)) == 10


def test_a_run_killed_before_its_first_episode_is_begun_anew_by_the_same_command(tmp_path: Path) -> None:
    open_store(tmp_path, ten_episodes(seed=1)).close()
    assert len(go_on(tmp_path, ten_episodes(), resume=False)) == 10
    assert read_header(tmp_path)["config"]["seed"] == 0, (
        "the header is that of the run which has the episodes"
    )


def test_what_fails_before_its_first_episode_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no cluster"), open_store(tmp_path / "run", ten_episodes()):
        raise RuntimeError("no cluster")
    assert list(tmp_path.iterdir()) == []


def append_and_fail(folder: Path) -> None:
    with open_store(folder, ten_episodes()) as store:
        store.append(next(iter(play(ten_episodes()))))
        raise RuntimeError("later")


def test_what_fails_later_keeps_its_episodes(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="later"):
        append_and_fail(tmp_path)
    assert len(list(read_episodes(tmp_path))) == 1


def test_a_resumed_run_without_any_episode_stays(tmp_path: Path) -> None:
    open_store(tmp_path, ten_episodes()).close()
    with pytest.raises(RuntimeError, match="again"), open_store(tmp_path, ten_episodes(), resume=True):
        raise RuntimeError("again")
    assert (tmp_path / RUN_FILE).exists()


def test_a_file_of_the_users_in_the_folder_stays(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RuntimeError, match="no cluster"), open_store(tmp_path, ten_episodes()):
        raise RuntimeError("no cluster")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_run_that_had_nothing_to_play_is_a_run(tmp_path: Path) -> None:
    header = {**header_of(ten_episodes()), "planned": {CLEAN: 0}}
    RunStore(tmp_path, header).close()
    with pytest.raises(StoreError, match="already holds a run"):
        finished(tmp_path, header, resume=False)


def test_a_run_killed_while_its_header_was_written_is_none_yet(tmp_path: Path) -> None:
    (tmp_path / "run.partial").write_text('{"version": 1, "conf')
    assert len(go_on(tmp_path, ten_episodes(), resume=False)) == 10


def test_an_existing_run_without_resume_is_refused(tmp_path: Path) -> None:
    config = ten_episodes()
    go_on(tmp_path, config, resume=False, stop_after=2)
    before = lines_of(tmp_path)
    with pytest.raises(StoreError, match="already holds a run; add --resume"):
        open_store(tmp_path, config)
    assert lines_of(tmp_path) == before


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"seed": 3}, "seed is 0 there and 3 here"),
        ({"agent": "other"}, "agent is 'payer' there and 'other' here"),
        ({"trials": 6}, "planned is .*10.* there and .*12.* here|trials is 5 there and 6 here"),
        ({"env_options": {"max_turns": 2}}, r"env_options is \{\} there and \{'max_turns': 2\} here"),
        ({"agent_options": {"temperature": 1}}, r"agent_options is \{\} there and \{'temperature': 1\} here"),
    ],
)
def test_another_configuration_is_refused_by_name(tmp_path: Path, changes: Any, told: str) -> None:
    go_on(tmp_path, ten_episodes(), resume=False, stop_after=2)
    tear(tmp_path, 2)
    before = (tmp_path / EPISODES_FILE).read_bytes()
    with pytest.raises(StoreError, match=f"holds another run: {told}"):
        open_store(tmp_path, ten_episodes(**changes), resume=True)
    assert (tmp_path / EPISODES_FILE).read_bytes() == before, "another run's file was mended"


def test_other_masks_are_another_run(tmp_path: Path) -> None:
    header = header_of(ten_episodes())
    go_on(tmp_path, ten_episodes(), resume=False, stop_after=1)
    other = {**header, "manifests": {CLEAN: "sha256:0"}}
    with pytest.raises(
        StoreError, match=f"mask manifest of {CLEAN} is 'sha256:.*' there and 'sha256:0' here"
    ):
        finished(tmp_path, other, resume=True)


class Settled(Payer):
    """A policy with settings, as chat agents have them."""

    class Settings:
        def __init__(self, **values: Any) -> None:
            self.values = values

        def to_json(self) -> dict[str, Any]:
            return self.values

    def __init__(self, **values: Any) -> None:
        self.settings = self.Settings(**values)


def test_a_run_may_go_on_with_another_server_but_not_with_another_prompt(tmp_path: Path) -> None:
    here = {"base_url": "http://a/v1", "timeout": 5.0}
    first = ten_episodes(agent_options=here)
    open_store(tmp_path, first, policy=Settled(prompt_version=1, **here)).close()
    there = {"base_url": "http://b/v1", "timeout": 60.0}
    second = ten_episodes(agent_options=there)
    open_store(tmp_path, second, resume=True, policy=Settled(prompt_version=1, **there)).close()
    with pytest.raises(StoreError, match="agent setting prompt_version is 1 there and 2 here"):
        open_store(tmp_path, second, resume=True, policy=Settled(prompt_version=2, **there))


def test_a_key_never_reaches_the_disk(tmp_path: Path) -> None:
    open_store(tmp_path, ten_episodes(agent_options={"api_key": "sk-secret"})).close()
    assert "sk-secret" not in (tmp_path / RUN_FILE).read_text()


def test_the_header_says_what_was_run(tmp_path: Path) -> None:
    config = ten_episodes()
    open_store(tmp_path, config).close()
    header = read_header(tmp_path)
    assert header["config_hash"] == config.hash
    assert (header["agent"], header["planned"]) == ("payer", {CLEAN: 10})
    assert header["config"]["tasks"] == ["pay-7", "pay-30"]
    assert set(header["versions"]) == {"python", "toolenv", "gymnasium", "numpy", "jsonschema-rs"}


def test_episodes_without_a_header_are_refused(tmp_path: Path) -> None:
    (tmp_path / EPISODES_FILE).write_bytes(b"{}\n")
    with pytest.raises(StoreError, match=f"holds episodes but no {RUN_FILE}"):
        open_store(tmp_path, ten_episodes(), resume=True)


def test_a_second_writer_is_refused_until_the_first_has_closed(tmp_path: Path) -> None:
    config = ten_episodes()
    first = open_store(tmp_path, config)
    with pytest.raises(StoreError, match="in use by another process"):
        open_store(tmp_path, config, resume=True)
    first.close()
    open_store(tmp_path, config, resume=True).close()


def test_another_process_is_refused_and_a_dead_one_holds_nothing(tmp_path: Path) -> None:
    hold = (
        "import sys, filelock\n"
        "lock = filelock.FileLock(sys.argv[1] + '/.lock')\n"
        "lock.acquire(timeout=0)\n"
        "print('held', flush=True)\n"
        "sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", hold, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(StoreError, match="in use by another process"):
            open_store(tmp_path, ten_episodes())
        process.kill()
    open_store(tmp_path, ten_episodes()).close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file" / "run", tmp_path / "file"):
        with pytest.raises(StoreError, match=r"file.* cannot be written: (Not a directory|File exists)"):
            open_store(folder, ten_episodes())
    assert (tmp_path / "file").read_text() == ""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc, where even root makes no folder")
def test_a_folder_that_may_not_be_written_is_named() -> None:
    with pytest.raises(StoreError, match="/proc/toolenv-run cannot be written"):
        open_store(Path("/proc/toolenv-run"), ten_episodes())


@contextmanager
def disk_full_at(size: int) -> Iterator[None]:
    """Files end at ``size`` bytes, as on a full disk: a write goes as far as it can, the next one fails."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_an_error_that_leaves_no_half_line(tmp_path: Path) -> None:
    config = ten_episodes()
    first, second, *_ = play(config)
    with open_store(tmp_path, config) as store:
        store.append(first)
        room = (tmp_path / EPISODES_FILE).stat().st_size + 100
        with disk_full_at(room), pytest.raises(StoreError, match="cannot be written: File too large"):
            store.append(second)
        assert len(lines_of(tmp_path)) == 1
        store.append(second)
    assert list(read_rollouts(tmp_path)) == [first, second]


def test_an_episode_is_kept_once(tmp_path: Path) -> None:
    config = ten_episodes()
    rollout = play(config)[0]
    with open_store(tmp_path, config) as store:
        store.append(rollout)
        with pytest.raises(StoreError, match="is already in"):
            store.append(rollout)
    assert len(lines_of(tmp_path)) == 1


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_nan_is_never_written(tmp_path: Path, number: float) -> None:
    rollout = play(ten_episodes())[0]
    bad = replace(rollout, episode=replace(rollout.episode, reward=number))
    with open_store(tmp_path, ten_episodes()) as store:
        with pytest.raises(StoreError, match=r"pay-7.* is not fit for JSON"):
            store.append(bad)
        store.append(rollout)
    assert list(read_rollouts(tmp_path)) == [rollout]


def test_field_079_any_text_is_one_line_of_utf_8(tmp_path: Path) -> None:
    rollout = play(ten_episodes())[0]
    text = "ok \ud83c end \ud83c\udf78 \x00\u2028\x85\ufeff\u200f\r\n"
    with open_store(tmp_path, ten_episodes()) as store:
        store.append(changed(rollout, error=text))
    (line,) = (tmp_path / EPISODES_FILE).read_bytes().split(b"\n")[:-1]
    line.decode("utf-8")
    (kept,) = read_rollouts(tmp_path)
    assert kept.trace.error == "ok \ufffd end \U0001f378 \x00\u2028\x85\ufeff\u200f\r\n"


def test_counts_of_numpy_are_numbers(tmp_path: Path) -> None:
    rollout = changed(play(ten_episodes())[0], lost_usage=Usage(numpy.int64(5), 6))  # type: ignore[arg-type]
    with open_store(tmp_path, ten_episodes()) as store:
        store.append(rollout)
    (kept,) = read_rollouts(tmp_path)
    assert kept.trace.lost_usage == Usage(5, 6)


def test_what_is_read_equals_what_was_written(tmp_path: Path) -> None:
    config = ten_episodes(envs=(CLEAN, INFEASIBLE), tasks=())
    rollouts = play(config)
    with open_store(tmp_path, config) as store:
        for rollout in rollouts:
            store.append(rollout)
    assert list(read_rollouts(tmp_path)) == rollouts
    assert plain(read_rollouts(tmp_path)) == plain(rollouts)
    assert list(read_episodes(tmp_path)) == [rollout.episode for rollout in rollouts]


class Lagging(set[Any]):
    """Does not know of an episode before the signal comes."""

    def add(self, key: object) -> None:
        raise KeyboardInterrupt


def test_an_episode_that_is_written_is_kept_though_a_signal_comes_right_behind_it(tmp_path: Path) -> None:
    """A new run without an episode is taken away; this one has one."""
    (one, *_) = play(ten_episodes())

    def interrupted() -> None:
        with open_store(tmp_path / "run", ten_episodes()) as store:
            store.done = Lagging()  # type: ignore[assignment]
            store.append(one)

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [kept.key for kept in read_episodes(tmp_path / "run")] == [one.episode.key]
