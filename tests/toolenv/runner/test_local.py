"""Many episodes: the same at any concurrency, none lost to another's failure."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

import pytest

from tests.toolenv.runner.toy_runs import CLEAN, INFEASIBLE, MIXED, Payer, plain, play, ten_episodes
from toolenv import Message, Observation, Rollout
from toolenv.agents.registry import make_agent
from toolenv.errors import UsageError
from toolenv.policy import FunctionPolicy
from toolenv.runner.local import run_jobs
from toolenv.runner.plan import RunConfig, plan

EVERYTHING = RunConfig(envs=(CLEAN, INFEASIBLE, MIXED), agent="x", trials=10)


@pytest.mark.parametrize("spec", ["random", "oracle", "always-stop"])
def test_the_episodes_are_the_same_at_any_concurrency(spec: str) -> None:
    one = plain(play(EVERYTHING, make_agent(spec), concurrency=1))
    assert len(one) == 100
    assert plain(play(EVERYTHING, make_agent(spec), concurrency=8)) == one
    assert plain(play(EVERYTHING, make_agent(spec), concurrency=1)) == one


def test_an_episode_does_not_depend_on_those_before_it() -> None:
    jobs, _ = plan(EVERYTHING)
    policy = make_agent("random")
    forwards = {one.episode.key: one for one in run_jobs(jobs, policy, {})}
    backwards = {one.episode.key: one for one in run_jobs(jobs[::-1], policy, {})}
    assert plain(forwards[key] for key in sorted(forwards)) == plain(
        backwards[key] for key in sorted(forwards)
    )


class AllAtOnce(Payer):
    """Goes on only when ``parties`` threads are inside it at the same time."""

    def __init__(self, parties: int) -> None:
        self.barrier = threading.Barrier(parties, timeout=30)

    def act(self, observation: Observation, memory: Any) -> tuple[Any, Any]:
        if observation.messages[-1].role == "user":
            self.barrier.wait()
        return super().act(observation, memory)


def test_one_policy_is_shared_by_all_threads_at_once() -> None:
    rollouts = play(ten_episodes(tasks=("pay-7",), trials=8), AllAtOnce(8), concurrency=8)
    assert [one.episode.success for one in rollouts] == [True] * 8


@pytest.mark.parametrize("concurrency", [1, 4])
def test_field_105_one_exception_never_costs_the_others(concurrency: int) -> None:
    def sometimes(observation: Observation) -> Message:
        if "30" in observation.messages[0].content:
            raise ZeroDivisionError("a bug of the policy")
        return Message("Done.")

    rollouts = play(ten_episodes(), FunctionPolicy(sometimes), concurrency)
    assert Counter(one.episode.decided_by for one in rollouts) == {"message": 5, "agent_error": 5}
    failed = [one.episode for one in rollouts if not one.episode.valid]
    assert {one.task_id for one in failed} == {"pay-30"}
    assert all("ZeroDivisionError: a bug of the policy" in one.error for one in failed)


class Confused(Payer):
    """Returns no action in one of its episodes, once the others are all under way."""

    def act(self, observation: Observation, memory: Any) -> tuple[Any, Any]:
        if "30" in observation.messages[0].content:
            return {"tool": "pay"}, memory
        return super().act(observation, memory)


@pytest.mark.parametrize("concurrency", [1, 2, 8])
def test_what_is_no_action_ends_the_run_after_the_episodes_before_it(concurrency: int) -> None:
    jobs, _ = plan(ten_episodes(tasks=("pay-7",), trials=6))
    (bad,), _ = plan(ten_episodes(tasks=("pay-30",), trials=1))
    kept: list[Rollout] = []
    episodes = run_jobs([*jobs[:5], bad, *jobs[5:]], Confused(), {}, concurrency)
    with pytest.raises(UsageError, match=r"policy 'payer' gave no action: dict \{'tool': 'pay'\} is none of"):
        kept.extend(episodes)
    # Those before it have all ended; of those after it, only what was under way may have.
    assert {one.episode.key for one in kept} >= {job.key for job in jobs[:5]}
    assert len(kept) == 5 if concurrency == 1 else len(kept) >= 5


def test_a_run_of_nothing_yields_nothing() -> None:
    assert list(run_jobs([], Payer(), {}, concurrency=4)) == []
    assert list(run_jobs([], Payer(), {})) == []


def test_more_threads_than_episodes() -> None:
    assert len(play(ten_episodes(trials=1), Payer(), concurrency=64)) == 2


def test_a_bad_concurrency_is_refused_before_any_episode() -> None:
    with pytest.raises(UsageError, match="concurrency=0: give a whole number of at least 1"):
        run_jobs([], Payer(), {}, concurrency=0)


class Counting(Payer):
    """Counts the episodes it begins; the third waits until it is told to go on."""

    def __init__(self) -> None:
        self.begun, self.waited = 0, False
        self.reached, self.go_on = threading.Event(), threading.Event()

    def act(self, observation: Observation, memory: Any) -> tuple[Any, Any]:
        if observation.messages[-1].role == "user":
            self.begun += 1
            if self.begun > 2:
                self.reached.set()
                self.go_on.wait(timeout=30)
                self.waited = True
        return super().act(observation, memory)


def test_a_run_that_is_given_up_begins_no_more_and_waits_for_nothing() -> None:
    jobs, _ = plan(ten_episodes(trials=50))
    policy = Counting()
    episodes = run_jobs(jobs, policy, {}, concurrency=2)
    next(episodes)
    assert policy.reached.wait(timeout=30)
    episodes.close()  # type: ignore[attr-defined]
    assert not policy.waited, "it waited for an episode that was under way"
    policy.go_on.set()
    assert policy.begun <= 4


def test_jobs_are_taken_as_they_are_needed() -> None:
    """No more than twice the concurrency is ever waiting, however long the run."""
    jobs, _ = plan(ten_episodes(trials=200))
    taken = 0

    class Watched(list[Any]):
        def __iter__(self) -> Any:
            nonlocal taken
            for job in jobs:
                taken += 1
                yield job

    episodes = run_jobs(Watched(jobs), Payer(), {}, concurrency=3)
    for done in range(1, 20):
        next(episodes)
        assert taken <= done + 2 * 3 + 3
