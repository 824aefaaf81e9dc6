"""What the requests before a run cost is kept beside the episodes, once a start, whatever happens to it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.toolenv.runner.test_remote import ScriptedCrew, give_up, never
from tests.toolenv.runner.toy_runs import Payer, open_store, play, ten_episodes
from toolenv import Observation, Usage
from toolenv.append_only import locked
from toolenv.errors import PreflightError, StoreError
from toolenv.ledger import ledger_to_json
from toolenv.runner.plan import plan
from toolenv.runner.preflights import (
    PREFLIGHTS_FILE,
    append_preflight,
    keep_failed_preflight,
    read_preflights,
)
from toolenv.runner.remote import run_remote
from toolenv.runner.store import LOCK_FILE
from toolenv.types import NO_TOKENS

SPENT = {"planner": Usage(11, 7), "executor": Usage(None, None)}


def test_each_start_adds_a_line_and_all_are_read_back(tmp_path: Path) -> None:
    append_preflight(tmp_path, SPENT)
    append_preflight(tmp_path, {"agent": Usage(5, 1, retried_input_tokens=2, generations=2)})
    assert read_preflights(tmp_path) == [
        SPENT,
        {"agent": Usage(5, 1, retried_input_tokens=2, generations=2)},
    ]


def test_what_spends_nothing_leaves_nothing(tmp_path: Path) -> None:
    append_preflight(tmp_path, {"agent": NO_TOKENS})
    append_preflight(tmp_path, {})
    assert list(tmp_path.iterdir()) == []
    assert read_preflights(tmp_path) == [], "as of every run of an earlier version"


def test_half_a_line_that_a_crash_left_is_no_record_and_harms_none_after_it(tmp_path: Path) -> None:
    append_preflight(tmp_path, SPENT)
    with (tmp_path / PREFLIGHTS_FILE).open("ab") as file:
        file.write(b'{"roles":{"agent":{"inp')
    assert read_preflights(tmp_path) == [SPENT]
    append_preflight(tmp_path, SPENT)
    assert read_preflights(tmp_path) == [SPENT, SPENT]


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "{}",
        '{"roles": {}}',
        "{",
        "\udc80",
        '{"roles": {"agent": {"input_tokens": 1}}}',
        '{"roles": {"agent": "1"}}',
        json.dumps({"roles": ledger_to_json({"agent": replace(Usage(1, 1), input_tokens=10**18)})}),
    ],
)
def test_a_line_edited_by_hand_is_named(tmp_path: Path, line: str) -> None:
    append_preflight(tmp_path, SPENT)
    with (tmp_path / PREFLIGHTS_FILE).open("ab") as file:
        file.write(line.encode("utf-8", "surrogateescape") + b"\n")
    with pytest.raises(StoreError, match=rf"{PREFLIGHTS_FILE}, line 2: not a record: "):
        read_preflights(tmp_path)


def test_a_run_without_an_episode_takes_its_preflight_away_and_a_resumed_one_keeps_it(tmp_path: Path) -> None:
    config = ten_episodes()
    store = open_store(tmp_path / "x", config)
    append_preflight(tmp_path / "x", SPENT)
    with pytest.raises(KeyboardInterrupt), store:
        raise KeyboardInterrupt
    assert not (tmp_path / "x").exists()
    with open_store(tmp_path / "x", config) as store:
        append_preflight(tmp_path / "x", SPENT)
        store.append(play(config)[0])
    with open_store(tmp_path / "x", config, resume=True):
        append_preflight(tmp_path / "x", SPENT)
    assert read_preflights(tmp_path / "x") == [SPENT, SPENT]


def test_what_was_killed_before_its_first_episode_is_no_part_of_the_run_begun_anew(tmp_path: Path) -> None:
    config = ten_episodes()
    open_store(tmp_path, config).close()
    append_preflight(tmp_path, SPENT)
    open_store(tmp_path, config).close()
    assert read_preflights(tmp_path) == []


def test_a_failed_try_is_kept_unless_another_process_is_writing(tmp_path: Path) -> None:
    lock = tmp_path / LOCK_FILE
    keep_failed_preflight(tmp_path, lock, SPENT)
    held = locked(lock, tmp_path)
    keep_failed_preflight(tmp_path, lock, SPENT)
    held.release()
    assert read_preflights(tmp_path) == [SPENT]


class Loaded(Payer):
    """Holds a model, so that each worker tries its own, for 11 and 7 tokens."""

    def __init__(self, fault: str = "") -> None:
        self.fault = fault

    def preflight(self) -> Usage:
        if self.fault:
            raise PreflightError(self.fault, Usage(9, 0))
        return Usage(11, 7)

    def act_batch(self, observations: Sequence[Observation], memories: Sequence[Any]) -> list[Any]:
        return [self.act(*pair) for pair in zip(observations, memories, strict=True)]


def test_each_worker_tells_once_what_trying_its_model_cost() -> None:
    told: list[Any] = []
    crew = ScriptedCrew(never, size=3, make=Loaded)
    assert len(list(run_remote(plan(ten_episodes())[0], crew, give_up, told.append))) == 10
    assert told == [{"agent": Usage(11, 7)}] * 3


def test_a_worker_tells_what_a_failed_try_cost() -> None:
    told: list[Any] = []
    crew = ScriptedCrew(never, size=1, make=lambda: Loaded("no template"))
    with pytest.raises(PreflightError, match="no template"):
        list(run_remote(plan(ten_episodes())[0], crew, give_up, told.append))
    assert told[0] == {"agent": Usage(9, 0)}
