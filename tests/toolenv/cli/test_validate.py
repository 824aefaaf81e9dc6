"""``toolenv validate --limit``: the first tasks of each environment, and said to be no more."""

from __future__ import annotations

import json

import pytest

from tests.toolenv.cli.command import Command

CLEAN, INFEASIBLE = "ToolFeas/Workflows-clean-v0", "ToolFeas/Workflows-infeasible-v0"
TASKS = 1106
"""Of the suite's default subset, as its manifest lists them."""


def test_the_first_tasks_are_looked_at_and_the_rest_is_told_of(toolenv: Command) -> None:
    ended = toolenv("validate", CLEAN, INFEASIBLE, "--limit", 3)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        f"{CLEAN}: the first 3 of {TASKS} tasks, 0 findings",
        f"{INFEASIBLE}: the first 3 of {TASKS} tasks, 0 findings",
        "2 environments: 6 tasks, the first of each, 0 findings",
    ]


def test_what_is_armed_is_counted_in_these_alone(toolenv: Command) -> None:
    ended = toolenv("validate", "ToolFeas/Workflows-hazard-v0", "--limit", 4, "--json")
    (found,) = json.loads(ended.out)["envs"]
    assert (found["tasks"], found["first_of"]) == (4, TASKS)
    assert sum(found["armed"]["hazard"].values()) == 4


def test_a_limit_beyond_the_end_leaves_nothing_out(toolenv: Command) -> None:
    tasks = ("--tasks", "rail_journeys-sequential-0-0")
    ended = toolenv("validate", CLEAN, *tasks, "--limit", 1)
    assert ended.out == f"{CLEAN}: 1 tasks, 0 findings\n"
    (found,) = json.loads(toolenv("validate", CLEAN, *tasks, "--limit", 1, "--json").out)["envs"]
    assert "first_of" not in found


def test_a_subset_without_end_can_be_looked_at(toolenv: Command) -> None:
    ended = toolenv("validate", CLEAN, "--subset", "train", "--limit", 3)
    assert ended.out == f"{CLEAN}: the first 3 of tasks without end, 0 findings\n"


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(toolenv: Command, limit: int) -> None:
    ended = toolenv("validate", CLEAN, "--limit", limit)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"toolenv: limit={limit}: give a whole number of at least 1\n"
