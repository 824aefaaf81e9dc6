"""What a run is: its identity, its episodes, and what cannot be one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pytest

from tests.toolenv.runner.toy_runs import CLEAN, INFEASIBLE, MIXED, ten_episodes
from toolenv.errors import UnknownNameError, UsageError
from toolenv.runner.plan import RunConfig, plan


def test_every_task_of_every_env_as_often_as_asked() -> None:
    jobs, manifests = plan(RunConfig(envs=(CLEAN, INFEASIBLE), agent="x", trials=2))
    # By hand: 4 tasks, 3 of which have a mask, twice each.
    assert len({job.key for job in jobs}) == len(jobs) == 2 * (4 + 3)
    assert set(manifests) == {CLEAN, INFEASIBLE}


def test_conditions_are_paired_by_seed_and_trials_are_not() -> None:
    jobs, _ = plan(RunConfig(envs=(CLEAN, INFEASIBLE), agent="x", trials=2))
    seeds: dict[tuple[str, int], set[int]] = {}
    for job in jobs:
        seeds.setdefault((job.task_id, job.trial), set()).add(job.seed)
    assert all(len(one) == 1 for one in seeds.values())
    assert len(set.union(*seeds.values())) == len(seeds) == 8


def test_the_limit_counts_tasks_of_each_env_in_the_suites_order() -> None:
    jobs, _ = plan(RunConfig(envs=(CLEAN, MIXED), agent="x", limit=2))
    first_two = ["pay-7", "pay-30"]
    assert [(job.env, job.task_id) for job in jobs] == [
        (env, task) for env in (CLEAN, MIXED) for task in first_two
    ]


@pytest.mark.usefixtures("bfcl_package")
def test_the_limit_takes_tasks_first_that_the_other_conditions_have_too() -> None:
    """Else a comparison of conditions has no pairs: no task of BFCL's first 200 has this hazard."""
    clean, hazard = (f"ToolFeas/BFCL-{name}-v0" for name in ("clean", "invocation-error"))
    jobs, _ = plan(RunConfig(envs=(clean, hazard), agent="x", limit=20))
    chosen = {env: [job.task_id for job in jobs if job.env == env] for env in (clean, hazard)}
    assert chosen[clean] == chosen[hazard]
    assert len(set(chosen[clean])) == 20
    alone, _ = plan(RunConfig(envs=(clean,), agent="x", limit=20))
    assert [job.task_id for job in alone] == [f"multiple_{number}" for number in range(20)]


def test_tasks_that_others_lack_fill_the_limit_up() -> None:
    """By hand: 3 of the 4 tasks have a mask."""
    jobs, _ = plan(RunConfig(envs=(CLEAN, INFEASIBLE), agent="x", limit=4))
    assert [job.task_id for job in jobs] == [
        *("pay-7", "pay-30", "two-turns", "idle"),
        *("pay-7", "pay-30", "two-turns"),
    ]


def test_a_limit_beyond_the_tasks_is_all_of_them() -> None:
    assert len(plan(RunConfig(envs=(CLEAN,), agent="x", limit=1000))[0]) == 4


def test_the_hash_is_that_of_what_decides_the_episodes() -> None:
    config = ten_episodes()
    assert config.hash == ten_episodes().hash
    assert config.hash == replace(config, agent_options={"base_url": "http://x/v1", "api_key": "k"}).hash
    others = [
        replace(config, seed=1),
        replace(config, trials=4),
        replace(config, limit=1),
        replace(config, agent="random"),
        replace(config, envs=(CLEAN, INFEASIBLE)),
        replace(config, env_options={"max_turns": 3}),
        replace(config, agent_options={"temperature": 1}),
        replace(config, tasks=()),
    ]
    assert len({config.hash, *(one.hash for one in others)}) == 9


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"limit": 0}, "limit=0: give a whole number of at least 1"),
        ({"trials": 0}, "trials=0: give a whole number of at least 1"),
        ({"trials": True}, "trials=True: give a whole number"),
        ({"limit": "5"}, "limit='5': give a whole number"),
        ({"seed": -1}, "seed=-1: give a whole number of at least 0"),
        ({"seed": 0.5}, "seed=0.5: give a whole number"),
        ({"envs": ()}, "no environment id given"),
    ],
)
def test_what_is_no_run_is_refused(changes: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        ten_episodes(**changes)


def test_unknown_tasks_are_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"'pay-8'.*'pay-7'"):
        plan(ten_episodes(tasks=("pay-8",)))
    with pytest.raises(UsageError, match="'idle' is not in Toy-infeasible: no tool is used"):
        plan(ten_episodes(envs=(INFEASIBLE,), tasks=("idle",)))


def test_how_a_role_s_server_is_reached_is_no_part_of_a_run_either() -> None:
    options = {
        "planner.base_url": "http://127.0.0.1:1/v1",
        "executor.api_key": "secret",
        "planner.max_tokens": 7,
    }
    config = RunConfig(("ToolFeas/BFCL-clean-v0",), "noop", agent_options=options)
    assert config.to_json()["agent_options"] == {"planner.max_tokens": 7}


def test_the_jobs_of_millions_of_episodes_are_made_as_they_are_read() -> None:
    jobs, _ = plan(RunConfig(envs=(CLEAN, INFEASIBLE), agent="x", trials=10**6))
    listed, _ = plan(RunConfig(envs=(CLEAN, INFEASIBLE), agent="x", trials=3))
    assert len(jobs) == 7 * 10**6
    assert [listed[at] for at in range(len(listed))] == list(listed) == listed[:]
    assert listed[-1] == list(listed)[-1]
    assert (jobs[-1].trial, jobs[4 * 10**6].env) == (10**6 - 1, INFEASIBLE)
    with pytest.raises(IndexError):
        listed[len(listed)]


class Setting:
    """An option that is no JSON value and has no text of its own."""


def test_options_that_are_no_json_values_are_told_the_same_in_every_process() -> None:
    """A set's order and an object's address differ from one process to the next."""
    config = RunConfig(
        envs=(CLEAN,), agent="x", env_options={"a": {"c", "b"}, "user": Setting(), "p": Path("x")}
    )
    told = config.to_json()["env_options"]
    assert told == {"a": ["b", "c"], "user": f"{__name__}.Setting", "p": "x"}
    assert config.hash == replace(config, env_options={"a": {"b", "c"}, "user": Setting(), "p": "x"}).hash


def test_numbers_of_numpy_make_the_same_run() -> None:
    plain = RunConfig(envs=(CLEAN,), agent="x", limit=2, trials=3, seed=4)
    given = RunConfig(
        envs=(CLEAN,), agent="x", limit=numpy.int64(2), trials=numpy.int32(3), seed=numpy.uint8(4)
    )
    assert (given, given.hash) == (plain, plain.hash)
    assert list(plan(given)[0]) == list(plan(plain)[0])
