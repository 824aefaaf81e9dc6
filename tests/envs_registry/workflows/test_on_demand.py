"""Training on demand: tasks are made when they are asked for, and there is no end to them."""

from __future__ import annotations

import time
from typing import Any, cast

import gymnasium
import pytest

from envs_registry.workflows import SUITE
from envs_registry.workflows.on_demand import WITHOUT_END, TaskIds, training_table
from toolenv import Stop, ToolEnv, rollout
from toolenv.agents.oracle import Oracle
from toolenv.errors import UsageError


def env(condition: str = "clean", **keywords: Any) -> ToolEnv:
    name = f"ToolFeas/Workflows-{condition}-v0"
    return cast(ToolEnv, gymnasium.make(name, subset="train", **keywords).unwrapped)


def test_the_first_tasks_are_those_of_the_subsets_with_an_end() -> None:
    table = training_table(1, 20)
    for at, task in enumerate(SUITE.tasks("train-1000")[:20]):
        assert table.ids[at] == task.id
        assert table.clean[task.id] == task
        assert table.masked[task.id].mask == task.metadata["blueprint"].critical


def test_ids_are_a_sequence_that_is_never_listed() -> None:
    ids = TaskIds(1)
    assert len(ids) == WITHOUT_END
    assert ids[-1] == ids[WITHOUT_END - 1]
    assert ids[-1] in ids
    assert list(ids[5:8]) == [ids[5], ids[6], ids[7]]
    assert "loans-mixture-0-0" not in ids  # of the evaluation set
    assert f"{ids[3]}~1" not in ids
    assert "no id at all" not in ids
    with pytest.raises(IndexError):
        ids[WITHOUT_END]


def test_making_it_costs_nothing_and_every_episode_has_a_fresh_task() -> None:
    start = time.perf_counter()
    made = env()
    assert time.perf_counter() - start < 5  # listing the ids alone would take minutes
    seen = set()
    for seed in range(40):
        made.reset(seed=seed)
        seen.add(made.task.id)
    assert len(seen) == 40


@pytest.mark.parametrize(
    ("condition", "labels"),
    [("clean", {"feasible"}), ("infeasible", {"infeasible"}), ("mixed", {"feasible", "infeasible"})],
)
def test_the_oracle_is_always_right(condition: str, labels: set[str]) -> None:
    made = env(condition)
    episodes = [rollout(made, Oracle(), seed=seed).episode for seed in range(60)]
    assert {episode.label for episode in episodes} == labels
    assert all(episode.reward == 1.0 for episode in episodes)


def test_the_same_seed_gives_the_same_episode_in_another_environment() -> None:
    first, second = env("mixed", decoys=True), env("mixed", decoys=True)
    second.reset(seed=1)
    for seed in range(20):
        assert first.reset(seed=seed)[0] == second.reset(seed=seed)[0]
        assert first.step(Stop("none"))[1] == second.step(Stop("none"))[1]


def test_single_tasks_can_be_chosen_and_unknown_ones_are_named() -> None:
    chosen = TaskIds(1)[123_456_789]
    made = env(tasks=chosen)
    assert made.source.task_ids == (chosen,)
    made.reset(seed=0)
    assert made.task.id == chosen
    with pytest.raises(UsageError, match="unknown task id 'loans-mixture-0-0'"):
        env(tasks="loans-mixture-0-0")


def test_a_subset_with_an_end_is_made_on_demand_too() -> None:
    made = cast(ToolEnv, gymnasium.make("ToolFeas/Workflows-mixed-v0", subset="train-10000").unwrapped)
    assert len(made.source.task_ids) == 10_000
    assert made.source.task_ids[9_999] == TaskIds(1)[9_999]
    assert TaskIds(1)[10_000] not in made.source.task_ids


def test_what_has_no_end_cannot_be_had_as_a_whole() -> None:
    with pytest.raises(UsageError, match="'train' has no end"):
        SUITE.tasks("train")
    with pytest.raises(UsageError, match="'train' has no end"):
        SUITE.masks("train")
    assert len(TaskIds(1)[:]) == len(TaskIds(1)), "and is not copied"


def test_a_manifest_of_masks_is_refused() -> None:
    with pytest.raises(UsageError, match="is made on demand: it takes no manifest"):
        env("infeasible", masks="masks.json")
