"""Runs whose files somebody has edited: refused by file and line, or fit for every table."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.mutations import RAW, as_bytes, damaged, edited, read_or_refused
from tests.toolenv.runner.toy_runs import go_on, ten_episodes
from toolenv.errors import StoreError
from toolenv.metrics.dimensions import DIMENSIONS, in_order
from toolenv.metrics.registry import catalogue
from toolenv.metrics.troubles import troubles
from toolenv.runner.reading import EPISODES_FILE, RUN_FILE, read_episodes, read_header, read_rollouts

EDITS = 300


@pytest.fixture
def run(tmp_path: Path) -> Path:
    go_on(tmp_path, ten_episodes(), resume=False)
    return tmp_path


def test_edited_episodes_are_refused_or_can_be_counted(run: Path) -> None:
    path, ended = run / EPISODES_FILE, Counter[str]()
    lines = path.read_bytes().splitlines(keepends=True)
    record = json.loads(lines[3])
    for seed in range(EDITS):
        line = as_bytes({**record, "episode": edited(record["episode"], seed)}) + b"\n"
        path.write_bytes(b"".join([*lines[:3], line, *lines[4:]]))
        where = f"{path}, line 4: not a record: "
        episodes = read_or_refused(lambda: list(read_episodes(run)), StoreError, where)
        if episodes is None:
            ended["refused"] += 1
            continue
        ended["read"] += 1
        for metric in catalogue().values():
            metric(episodes)
        assert troubles(episodes).played_again >= 0
        for of in DIMENSIONS.values():
            assert in_order({of(one) for one in episodes})
    assert ended["refused"] > EDITS / 3
    assert ended["read"] > EDITS / 10


def test_edited_traces_are_refused_or_can_be_added_up(run: Path) -> None:
    path, ended = run / EPISODES_FILE, Counter[str]()
    record = json.loads(path.read_bytes().splitlines()[0])
    for seed in range(EDITS):
        path.write_bytes(as_bytes({**record, "trace": edited(record["trace"], seed)}) + b"\n")
        where = f"{path}, line 1: not a record: "
        played = read_or_refused(lambda: list(read_rollouts(run)), StoreError, where)
        ended["refused" if played is None else "read"] += 1
        assert all(isinstance(one.trace.usage.generations, int) for one in played or ())
    assert min(ended["refused"], ended["read"]) > EDITS / 10


def test_an_edited_header_is_refused_or_read(run: Path) -> None:
    path, ended = run / RUN_FILE, Counter[str]()
    plain = json.loads(path.read_bytes())
    for seed in range(EDITS):
        path.write_bytes(as_bytes(edited(plain, seed)))
        header = read_or_refused(lambda: read_header(run), StoreError, str(path))
        ended["refused" if header is None else "read"] += 1
        if header is not None:
            assert sum(header["planned"].values()) >= 0
            assert dict(header["config"]["env_options"]).keys() == header["config"]["env_options"].keys()
            assert all(isinstance(one, str) for one in header["manifests"].values())
    assert min(ended["refused"], ended["read"]) > EDITS / 10


@pytest.mark.parametrize("way", [one for one in RAW if one not in ("NaN", "key twice")])
def test_a_damaged_header_is_refused(run: Path, way: str) -> None:
    path = run / RUN_FILE
    path.write_bytes(damaged(path.read_bytes(), way))
    with pytest.raises(StoreError, match=r"run\.json cannot be read: "):
        read_header(run)


def test_a_folder_in_place_of_episodes_is_named(run: Path) -> None:
    (run / EPISODES_FILE).unlink()
    (run / EPISODES_FILE).mkdir()
    with pytest.raises(StoreError, match="is a folder, expected a file"):
        list(read_episodes(run))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"label": "infeasable"}, "unknown label 'infeasable'; did you mean 'infeasible'"),
        ({"decision": "stop"}, "unknown decision 'stop'; known: feasible, infeasible"),
        ({"success": 1}, "success is 1"),
        ({"valid": "true"}, "valid is 'true'"),
        ({"calls": 1.5}, "calls is 1.5"),
        ({"input_tokens": -5}, "input_tokens is -5, no count"),
        ({"output_tokens": 2**53}, "output_tokens is 9007199254740992, no count"),
        ({"flags": [1]}, "flags has 1"),
        ({"exposure": {"hazard": 3}}, "KeyError: 'mode'"),
    ],
)
def test_what_cannot_be_is_named_with_its_value(run: Path, change: dict[str, Any], why: str) -> None:
    path = run / EPISODES_FILE
    record = json.loads(path.read_bytes().splitlines()[0])
    path.write_bytes(as_bytes({**record, "episode": {**record["episode"], **change}}) + b"\n")
    with pytest.raises(StoreError, match=f"line 1: not a record: .*{why}"):
        list(read_episodes(run))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"arm": ""}, "unknown arm ''; known: baseline, hint, oracle, tts"),
        ({"arm": "hints"}, "unknown arm 'hints'; did you mean 'hint'"),
        ({"arm": "hint"}, "arm 'hint' has no config_hash under baseline"),
        ({"arm": "hint", "baseline": {"config_hash": 5}}, "arm 'hint' has no config_hash under baseline"),
    ],
)
def test_an_arm_that_is_none_or_names_no_study_is_refused(run: Path, change: Any, told: str) -> None:
    header = json.loads((run / RUN_FILE).read_text())
    (run / RUN_FILE).write_text(json.dumps({**header, **change}))
    with pytest.raises(StoreError, match=told):
        read_header(run)
