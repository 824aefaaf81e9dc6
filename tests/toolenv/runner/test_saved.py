"""A run that is played from Python is one that the command line reads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from toolenv import Action, Message, Observation, Stop
from toolenv.errors import StoreError, UsageError
from toolenv.report.folders import report_of
from toolenv.runner.plan import RunConfig
from toolenv.runner.reading import read_episodes, read_header
from toolenv.runner.saved import save_run
from toolenv.task import Task
from toolenv.types import Usage

IDS = ("ToolFeas/Workflows-clean-v0", "ToolFeas/Workflows-infeasible-v0")
CONFIG = RunConfig(IDS, agent="step 100", limit=3)


def stops(observation: Observation) -> Action:
    return Stop("no", usage=Usage(7, 2))


def test_its_rows_are_those_that_were_played(tmp_path: Path) -> None:
    """Three tasks stopped on: as they are, wrongly; masked, rightly. Seven and two tokens each."""
    folder = save_run(CONFIG, stops, tmp_path / "run")
    assert folder == tmp_path / "run"
    clean, infeasible, pooled = report_of([folder]).rows
    assert {row.agent for row in (clean, infeasible, pooled)} == {"step 100"}
    assert (clean.metrics["false_stop_rate"].count, clean.metrics["sr"].count) == (3, 0)
    assert (infeasible.metrics["fcr_strict"].count, pooled.metrics["fass"].count) == (0, 3)
    assert [one.tokens for one in read_episodes(folder)] == [9] * 6


def test_it_says_what_it_was_made_of(tmp_path: Path) -> None:
    header = read_header(save_run(CONFIG, stops, tmp_path))
    assert (header["planned"], header["privileged"]) == (dict.fromkeys(IDS, 3), False)
    assert header["manifests"].keys() == header["origins"].keys() == set(IDS)
    assert header["config_hash"] == CONFIG.hash


def test_it_goes_on_where_it_was_left(tmp_path: Path) -> None:
    """What is there is not played again, and a folder is not written over."""
    asked = []

    def breaks_off(observation: Observation) -> Action:
        asked.append(observation)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return Message("done")

    with pytest.raises(KeyboardInterrupt):
        save_run(CONFIG, breaks_off, tmp_path)
    assert [one.decision for one in read_episodes(tmp_path)] == ["feasible"] * 2
    with pytest.raises(StoreError, match="already holds a run"):
        save_run(CONFIG, stops, tmp_path)
    with pytest.raises(StoreError, match="holds another run"):
        save_run(replace(CONFIG, seed=1), stops, tmp_path, resume=True)
    save_run(CONFIG, stops, tmp_path, resume=True, concurrency=2)
    assert [one.decision for one in read_episodes(tmp_path)] == ["feasible"] * 2 + ["infeasible"] * 4


def test_who_is_told_the_truth_is_marked(tmp_path: Path) -> None:
    class Told:
        name = "told"

        def brief(self, task: Task) -> str:
            return task.label

        def act(self, observation: Observation, memory: Any) -> tuple[Action, Any]:
            return (Stop("masked") if memory == "infeasible" else Message("done")), memory

    rows = report_of([save_run(CONFIG, Told(), tmp_path)]).rows
    assert all(row.privileged for row in rows)
    assert rows[1].metrics["fcr_strict"].count == 0


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"agent": " "}, "agent=' ': give the name"),
        ({"limit": None, "env_options": {"subset": "train"}}, "the subset has no end .*give limit=N"),
        ({"limit": 1, "trials": 10**11}, "100,000,000,000 trials of .* give fewer trials"),
    ],
)
def test_what_cannot_be_played_leaves_nothing(change: dict[str, Any], why: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=why):
        save_run(replace(CONFIG, **change), stops, tmp_path / "run")
    assert not (tmp_path / "run").exists()
