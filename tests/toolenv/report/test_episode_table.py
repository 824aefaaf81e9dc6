"""Episodes in columns come back as they went in, and cost little memory."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any

import pytest

from toolenv.episode import Episode, RoleTokens
from toolenv.facts.exposure import Exposure
from toolenv.facts.reaction import Reaction
from toolenv.report.episode_table import EpisodeTable
from toolenv.trouble import Trouble

PLAIN = Episode(
    env="ToolFeas/BFCL-clean-v0",
    agent="a",
    task_id="t",
    trial=0,
    seed=1,
    label="feasible",
    decision="feasible",
    lenient_decision="feasible",
    decided_by="message",
    success=True,
    reward=1.0,
    valid=True,
    turns=2,
    calls=1,
    input_tokens=10,
    output_tokens=3,
)

ODD: list[dict[str, Any]] = [
    {},
    {"reward": None, "valid": False, "error": "a bug", "success": None},
    {"input_tokens": None},
    {"output_tokens": None, "estimated_tokens": True},
    {"input_tokens": 0, "output_tokens": 0},
    {"input_tokens": -1},
    {"seed": 2**70, "trial": 2**40},
    {"reward": 1},
    {"reward": -0.25, "flags": ("no-op", "unpassable"), "accurate": True},
    {"turns": None},
    {"calls": "many"},
    {
        "exposure": Exposure("drift", "rename", "pay", True, 2, 1),
        "reaction": Reaction("error", "retry", 3, True),
    },
    {"roles": {"planner": RoleTokens(5, 6), "executor": RoleTokens(None, 7, True)}},
    {"roles": {"executor": RoleTokens(7, 0), "planner": RoleTokens(5, None)}},
    {"roles": {"planner": RoleTokens(-1, 6)}},
    {"roles": {"planner": RoleTokens(2**63, 6)}, "calls": 7},
    {"roles": {"planner": RoleTokens(1, 2)}, "trouble": Trouble("server/timeout")},
    {"task_id": "other", "label": "infeasible", "decision": "infeasible"},
]


def filled(*episodes: Episode) -> EpisodeTable:
    table = EpisodeTable()
    for one in episodes:
        table.append(one)
    return table


def test_what_goes_in_comes_back() -> None:
    episodes = [replace(PLAIN, **changes) for changes in ODD]
    table = filled(*episodes)
    assert list(table) == episodes
    assert [table[at] for at in range(len(table))] == episodes
    assert (table[-1], table[2:4]) == (episodes[-1], episodes[2:4])
    kinds = [[type(getattr(one, name)) for name in Episode.__slots__] for one in table]
    assert kinds == [[type(getattr(one, name)) for name in Episode.__slots__] for one in episodes]
    with pytest.raises(IndexError):
        table[len(table)]


def test_an_episode_that_stands_twice_is_found() -> None:
    once = [
        replace(PLAIN, task_id=f"t{task}", trial=trial, seed=task) for task in range(9) for trial in range(9)
    ]
    assert filled(*once).repeated() is None
    assert filled().repeated() is None
    again = replace(once[40], label="infeasible", reward=0.0)
    assert filled(*once, again).repeated() == (PLAIN.env, "a", "t4", 4, 4)
    # The same trial of another run, with another seed, is another episode.
    assert filled(*once, replace(once[40], seed=77)).repeated() is None


def test_an_episode_of_numbers_that_fit_no_column_is_found_twice_too() -> None:
    big = replace(PLAIN, seed=2**70)
    assert filled(PLAIN, big, replace(big, trial=1)).repeated() is None
    assert filled(PLAIN, big, replace(PLAIN, trial=5), big).repeated() == (PLAIN.env, "a", "t", 0, 2**70)


def test_two_odd_episodes_are_not_taken_for_one() -> None:
    """Their columns hold the same zeros."""
    assert filled(replace(PLAIN, seed=2**70), replace(PLAIN, seed=2**71)).repeated() is None


def test_an_episode_costs_less_than_a_hundred_bytes() -> None:
    tracemalloc.start()
    table = EpisodeTable()
    for number in range(100_000):
        table.append(replace(PLAIN, task_id=f"t{number % 1000}", trial=number // 1000, seed=number * 7919))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size / 100_000 < 100
