"""What an environment of the toy suite leaves out, by hand: `idle` uses no tool and has no mask."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.toy import toy_source
from tests.toolenv.runner.toy_runs import CLEAN, INFEASIBLE, header_of, ten_episodes
from toolenv.errors import StoreError
from toolenv.report.notes import REASONS_SHOWN, exclusion_line, exclusion_lines
from toolenv.runner.exclusions import exclusions
from toolenv.runner.plan import RunConfig, origins
from toolenv.runner.reading import RUN_FILE, read_header

IDLE = {"no tool is used": ("idle",)}


@pytest.mark.parametrize(("condition", "excluded"), [("clean", {}), ("infeasible", IDLE), ("mixed", IDLE)])
def test_what_is_left_out_and_why(condition: str, excluded: Mapping[str, Any]) -> None:
    found = exclusions(toy_source(condition), {})
    assert (found.tasks, found.excluded) == (4, excluded)


def test_chosen_tasks_change_nothing_in_what_an_env_leaves_out() -> None:
    found = origins(RunConfig(envs=(CLEAN, INFEASIBLE), agent="x", tasks=("pay-7",)))
    assert {env: one["excluded"] for env, one in found.items()} == {
        CLEAN: {},
        INFEASIBLE: {"no tool is used": ["idle"]},
    }
    assert exclusion_lines([{"origins": found}]) == {
        INFEASIBLE: f"{INFEASIBLE}: 3 of 4 tasks; left out: 1 × no tool is used"
    }


def test_that_only_some_tasks_were_asked_for_is_told() -> None:
    config = RunConfig(envs=(CLEAN, INFEASIBLE), agent="x", limit=2)
    header = {"origins": origins(config), "config": {"limit": 2}}
    assert exclusion_lines([header]) == {
        CLEAN: f"{CLEAN}: 4 tasks, of which 2 were asked for (--limit)",
        INFEASIBLE: f"{INFEASIBLE}: 3 of 4 tasks, of which 2 were asked for (--limit); left out:"
        " 1 × no tool is used",
    }
    assert CLEAN not in exclusion_lines([{**header, "config": {"limit": 4}}])


def test_many_reasons_are_cut_and_counted() -> None:
    counts = {f"reason {number}": number for number in range(1, REASONS_SHOWN + 3)}
    line = exclusion_line("env", 1000, counts)
    assert line.startswith("env: 972 of 1,000 tasks; left out: 7 × reason 7; 6 × reason 6;")
    assert line.endswith("; 3 for 2 other reasons")


def test_runs_of_earlier_versions_do_not_tell() -> None:
    assert exclusion_lines([{}, {"origins": {CLEAN: {"data": "d", "corrections": {}}}}]) == {}


@pytest.mark.parametrize("wrong", [{"tasks": "4"}, {"excluded": []}, {"excluded": {"reason": "idle"}}])
def test_a_header_with_other_exclusions_cannot_be_used(tmp_path: Path, wrong: Mapping[str, Any]) -> None:
    origin = {"data": "d", "corrections": {}, **wrong}
    (tmp_path / RUN_FILE).write_text(json.dumps({**header_of(ten_episodes()), "origins": {CLEAN: origin}}))
    with pytest.raises(StoreError, match=f"origin of '{CLEAN}' is"):
        read_header(tmp_path)
