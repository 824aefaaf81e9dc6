"""Reading runs: corrupt lines are named, memory stays flat, folders are found."""

from __future__ import annotations

import json
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.toolenv.runner.toy_runs import CLEAN, go_on, open_store, play, ten_episodes
from toolenv.errors import StoreError
from toolenv.report.rows import Run, build_rows
from toolenv.runner.reading import (
    EPISODES_FILE,
    RUN_FILE,
    find_runs,
    read_episodes,
    read_header,
    read_rollouts,
)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b'{"task_id": "t7", "tri', "ValueError"),
        (b"", "ValueError"),
        (b"[]", "TypeError"),
        (b"null", "TypeError"),
        (b"{}", "KeyError: 'episode'"),
        (b'{"episode": {"env": "x"}}', "episode version None"),
        (b'{"episode": {"reward": NaN}}', "ValueError"),
        (b"\xff\xfe", "ValueError"),
    ],
)
def test_a_corrupt_line_in_the_middle_is_named_by_number(tmp_path: Path, line: bytes, told: str) -> None:
    config = ten_episodes()
    go_on(tmp_path, config, resume=False)
    lines = (tmp_path / EPISODES_FILE).read_bytes().splitlines()
    lines[3] = line
    damaged = b"".join(one + b"\n" for one in lines)
    (tmp_path / EPISODES_FILE).write_bytes(damaged)
    for read in (read_episodes, read_rollouts):
        episodes = read(tmp_path)
        assert [next(episodes) for _ in range(3)], "the lines before are good"
        with pytest.raises(StoreError, match=rf"{EPISODES_FILE}, line 4: not a record: .*{told}"):
            next(episodes)
    with pytest.raises(StoreError, match="line 4"):
        open_store(tmp_path, config, resume=True)
    assert (tmp_path / EPISODES_FILE).read_bytes() == damaged


def test_a_trace_of_another_version_is_named_by_line(tmp_path: Path) -> None:
    go_on(tmp_path, ten_episodes(), resume=False, stop_after=1)
    record = json.loads((tmp_path / EPISODES_FILE).read_bytes())
    record["trace"]["version"] = 99
    (tmp_path / EPISODES_FILE).write_text(json.dumps(record) + "\n")
    with pytest.raises(StoreError, match=r"line 1: .*trace version 99 cannot be read"):
        list(read_rollouts(tmp_path))
    assert len(list(read_episodes(tmp_path))) == 1, "the table needs no traces"


def header_text(**more: Any) -> str:
    """The smallest header, with more in it."""
    parts = {"config": {}, "agent": "a", "agent_settings": {}, "manifests": {}, "planned": {}}
    return json.dumps({"version": 1, **parts, **more})


def test_a_run_of_an_earlier_version_has_no_origins(tmp_path: Path) -> None:
    (tmp_path / RUN_FILE).write_text(header_text())
    assert read_header(tmp_path)["origins"] == {}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "cannot be read"),
        ("[1]", r"version \[1\], expected 1"),
        ('{"version": 2}', "version 2, expected 1"),
        ('{"version": 1}', "config is None, not a dict"),
        (header_text(origins=[]), r"origins is \[\], not a dict"),
        (header_text(origins={"env": "x"}), "origin of 'env' is 'x'"),
        (header_text(origins={"env": {"data": 1, "corrections": {}}}), "origin of 'env' is"),
        (header_text(origins={"env": {"data": "", "corrections": {"hash": "x"}}}), "origin of 'env' is"),
        ('{"version": 1, "config": {}, "agent": 5}', "agent is 5, not a str"),
    ],
)
def test_a_header_that_cannot_be_used_is_named(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / RUN_FILE).write_text(text)
    with pytest.raises(StoreError, match=rf"{RUN_FILE}.* {told}"):
        read_header(tmp_path)


def test_a_folder_without_a_header_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"is no run directory: it has no run\.json"):
        read_header(tmp_path)
    with pytest.raises(StoreError, match="is no run directory and holds none"):
        find_runs([tmp_path])
    with pytest.raises(StoreError, match="is no run directory and holds none"):
        find_runs([tmp_path / "nowhere"])


def test_runs_are_found_below_a_folder_and_each_once(tmp_path: Path) -> None:
    for name in ("b", "a"):
        open_store(tmp_path / name, ten_episodes()).close()
    (tmp_path / "empty").mkdir()
    assert find_runs([tmp_path]) == [tmp_path / "a", tmp_path / "b"]
    assert find_runs([tmp_path / "b", tmp_path, tmp_path / "a" / ".." / "b"]) == [
        tmp_path / "b",
        tmp_path / "a",
    ]


def test_field_108_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """2,000 records of 50 kB: 100 MB, of which a reader holds a record or two at a time."""
    go_on(tmp_path, ten_episodes(), resume=False, stop_after=1)
    record: dict[str, Any] = json.loads((tmp_path / EPISODES_FILE).read_bytes())
    record["trace"]["error"] = "x" * 50_000
    build_rows([Run(read_episodes(tmp_path))])  # imports what it needs
    with (tmp_path / EPISODES_FILE).open("w") as file:
        for number in range(2000):
            record["episode"]["task_id"] = f"t{number}"
            file.write(json.dumps(record) + "\n")
    assert (tmp_path / EPISODES_FILE).stat().st_size > 100e6
    tracemalloc.start()
    try:
        counted = Counter(type(one).__name__ for one in read_rollouts(tmp_path))
        _, reading_peak = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        (row,) = build_rows([Run(read_episodes(tmp_path))])
        _, report_peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert counted == {"Rollout": 2000}
    assert (row.env, row.valid) == (CLEAN, 2000)
    assert reading_peak < 2e6
    assert report_peak < 10e6


def test_the_episodes_come_in_the_order_they_ended(tmp_path: Path) -> None:
    config = ten_episodes()
    rollouts = play(config)[::-1]
    with open_store(tmp_path, config) as store:
        for rollout in rollouts:
            store.append(rollout)
    assert list(read_rollouts(tmp_path)) == rollouts
