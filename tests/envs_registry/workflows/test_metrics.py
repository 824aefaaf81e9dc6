"""Paper 2's metrics on Workflows, with the scripted policies of docs/hazards.md."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest

import envs_registry
from toolenv.agents.registry import make_agent
from toolenv.env import ToolEnv
from toolenv.episode import Episode
from toolenv.facts.reaction import FirstAction
from toolenv.metrics.accuracy import accuracy, accuracy_exposed, exposure_rate
from toolenv.metrics.rates import sr
from toolenv.metrics.recovery import call_expansion
from toolenv.report.build import build_report
from toolenv.report.collect import Run
from toolenv.rollout import rollout
from toolenv.source import make_source
from toolenv.types import Message

SUITE = envs_registry.get_suite("Workflows")
LIMIT = 60
"""Tasks of each condition, from the first on."""


@cache
def played(condition: str, agent: str) -> tuple[Episode, ...]:
    source = make_source(SUITE, condition)
    env, policy, name = ToolEnv(source), make_agent(agent, {}), f"ToolFeas/Workflows-{condition}-v0"
    return tuple(
        rollout(env, policy, seed=0, task_id=task_id, env_id=name).episode
        for task_id in source.task_ids[:LIMIT]
    )


def first_actions(episodes: Sequence[Episode]) -> set[FirstAction]:
    return {one.reaction.first_action for one in episodes if one.reaction is not None}


def test_clean_the_naive_script_is_right_with_the_reference_s_calls() -> None:
    clean = played("clean", "recovery:naive")
    assert (sr(clean).value, accuracy(clean).value, accuracy(clean).n) == (1, 1, LIMIT)
    assert (call_expansion(clean).value, call_expansion(clean).n) == (1, LIMIT)
    assert exposure_rate(clean).n == 0
    assert {one.reaction.failure for one in clean if one.reaction} == {""}


@pytest.mark.parametrize("condition", ["execution-failure", "output-drift", "specification-drift"])
def test_every_proved_instance_is_met_and_told_from_its_condition(condition: str) -> None:
    """docs/hazards.md: the naive script fails on every instance, the reference one on none."""
    naive, recovering = played(condition, "recovery:naive"), played(condition, "recovery")
    assert (sr(naive).value, sr(recovering).value) == (0, 1)
    for episodes in (naive, recovering):
        assert {one.exposure.hazard for one in episodes if one.exposure} == {condition}
        assert all(one.reaction and one.reaction.failure for one in episodes)
        assert (exposure_rate(episodes).value, accuracy_exposed(episodes).n) == (1, LIMIT)
    assert accuracy(recovering).value == 1
    assert accuracy(naive).value < 0.3


def test_accuracy_is_never_below_sr() -> None:
    for condition, agent in (
        ("output-drift", "recovery:naive"),
        ("execution-failure", "recovery:retry-only"),
    ):
        for one in played(condition, agent):
            assert one.accurate is not None
            assert one.accurate >= bool(one.success)


def test_each_one_skill_script_reacts_its_own_way() -> None:
    """docs/hazards.md: retry-only recovers transient failures alone, switch-only persistent ones alone."""
    retrying = played("execution-failure", "recovery:retry-only")
    switching = played("execution-failure", "recovery:switch-only")
    assert first_actions(retrying) == {"retry"}
    for agent, episodes, recovered in (("retry", retrying, "transient"), ("switch", switching, "persistent")):
        kinds = {one.exposure.mode.partition("-")[0]: one.success for one in episodes if one.exposure}
        assert kinds == {"transient": recovered == "transient", "persistent": recovered == "persistent"}, (
            agent
        )
    persistent = [one for one in switching if one.exposure and one.exposure.mode.startswith("persistent")]
    assert first_actions(persistent) == {"switch"}
    naive = played("execution-failure", "recovery:naive")
    assert "retry" not in first_actions(naive)


def test_degradation_is_all_of_the_naive_script_s_success() -> None:
    runs = [Run(played(condition, "recovery:naive")) for condition in ("clean", "output-drift")]
    (row,) = build_report(runs, by=["workflow"]).degradation
    wrong = sum(one.accurate is False for one in played("output-drift", "recovery:naive"))
    paired = {one.task_id for one in played("clean", "recovery:naive")} & {
        one.task_id for one in played("output-drift", "recovery:naive")
    }
    assert row.matching.pairs == len(paired)
    assert row.comparison.first.value == 1
    assert row.comparison.pairs is not None
    assert row.comparison.pairs.only_first <= wrong


def accuracy_of(task_id: str, final: str, *, solved: bool) -> tuple[bool | None, bool | None]:
    """(success, accurate) of an episode that makes the reference calls or none, and ends with these words."""
    source = make_source(SUITE, "clean", tasks=[task_id])
    task = source.get(task_id)
    env = ToolEnv(source)
    env.reset(seed=0, options={"task_id": task_id})
    for action in task.reference.solution()[:-1] if solved else ():
        env.step(action)
    *_, info = env.step(Message(final))
    return info["verdict"]["success"], info["verdict"]["accurate"]


def a_task(changes_state: bool) -> tuple[str, str]:
    source = make_source(SUITE)
    found = (source.get(task_id) for task_id in source.task_ids)
    task = next(one for one in found if one.metadata["blueprint"].changes_state is changes_state)
    return task.id, task.metadata["blueprint"].answer.text


def test_the_final_state_or_the_answer_makes_an_episode_accurate() -> None:
    """Paper 2, §4: the recorded state matches, or the response contains the answer. SR here asks for both."""
    task_id, answer = a_task(changes_state=True)
    assert accuracy_of(task_id, f"It is {answer}.", solved=True) == (True, True)
    assert accuracy_of(task_id, "Done.", solved=True) == (False, True), "the state alone"
    assert accuracy_of(task_id, f"It is {answer}.", solved=False) == (False, True), "the answer alone"
    assert accuracy_of(task_id, "Done.", solved=False) == (False, False)
    assert accuracy_of(task_id, f"It is x{answer}x.", solved=False) == (False, False), "no whole token"
    assert accuracy_of(task_id, f"STOP: not {answer}", solved=True) == (False, False), "a stop is no answer"


def test_a_world_left_alone_proves_nothing_where_no_change_was_asked_for() -> None:
    task_id, answer = a_task(changes_state=False)
    assert accuracy_of(task_id, "I do not know.", solved=True) == (False, False)
    assert accuracy_of(task_id, answer, solved=False) == (True, True)
