"""The arms of paper 2 on scripted policies: baseline ≤ tts ≤ hint ≤ oracle, and why each is where it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from envs_registry.workflows import SUITE
from toolenv.agents.recovery import CALLED_FOR, make
from toolenv.env import ToolEnv
from toolenv.hazards import hint, kinds
from toolenv.rollout import Rollout, rollout
from toolenv.runner.arms import CONTINUING, FURTHER_DECISIONS, told
from toolenv.source import make_source
from toolenv.suite import hazard_manifests
from toolenv.wrappers.go_on import GoOn

TASKS = {task.id: task for task in SUITE.tasks("default")}
SAMPLE = list(TASKS)[5::36]


@cache
def armed(condition: str) -> Mapping[str, Mapping[str, Any]]:
    """The sample's instances, as the manifest that ships has them."""
    manifest = json.loads(hazard_manifests(SUITE)[condition].read_text(encoding="utf-8"))
    return {task_id: manifest["tasks"][task_id][0] for task_id in SAMPLE if task_id in manifest["tasks"]}


@cache
def arms(condition: str, agent: str = "hinted") -> Mapping[str, Mapping[str, Rollout]]:
    """Every arm of the sample, by task id."""
    policy, source = make(agent, {}), make_source(SUITE, condition)
    base = {one: rollout(ToolEnv(source), policy, seed=0, task_id=one) for one in armed(condition)}
    failed = {task_id: one.trace for task_id, one in base.items() if not one.episode.success}
    found = {"baseline": base}
    for arm in CONTINUING:
        env = GoOn(
            ToolEnv(source),
            arm,
            lambda task_id, seed: failed[task_id],
            lambda task, arm=arm: told(arm, task, source.hazards[task.id]),  # type: ignore[misc]
            FURTHER_DECISIONS,
        )
        found[arm] = {one: rollout(env, policy, seed=0, task_id=one) for one in failed}
    clean = ToolEnv(make_source(SUITE))
    found["oracle"] = {one: rollout(clean, policy, seed=0, task_id=one) for one in base}
    return found


def succeeded(condition: str, arm: str, agent: str = "hinted") -> set[str]:
    played = arms(condition, agent)
    carried = played["baseline"] if arm in CONTINUING else {}
    return {task_id for task_id, one in {**carried, **played[arm]}.items() if one.episode.success}


def recovers_by_itself(condition: str, task_id: str) -> bool:
    """Whether a script that makes each call of the plan once, and then once more, gets past the failures."""
    one = armed(condition)[task_id]
    failures = one["parameters"].get("failures", 0) if one["hazard"] == "execution-failure" else 0
    made = sum(call.tool == one["tool"] for call in TASKS[task_id].metadata["plan"].calls)
    return bool(0 < failures <= made)


@pytest.mark.parametrize("condition", [*kinds(), "hazard"])
def test_baseline_tts_hint_oracle(condition: str) -> None:
    """More rounds alone help against failures that pass, hints against the rest; clean, all is solved."""
    baseline, tts, hinted, oracle = (
        succeeded(condition, arm) for arm in ("baseline", "tts", "hint", "oracle")
    )
    assert baseline == set()
    assert tts == {one for one in armed(condition) if recovers_by_itself(condition, one)}
    assert tts <= hinted <= oracle == set(armed(condition))
    assert len(hinted) >= 0.9 * len(oracle)


def test_more_rounds_help_some() -> None:
    assert succeeded("execution-failure", "tts")


@pytest.mark.parametrize("condition", [*kinds(), "hazard"])
def test_what_a_hint_cannot_mend_is_done_already_or_takes_longer(condition: str) -> None:
    """The world goes on as it was left: what was entered wrong stays. And ten rounds are ten rounds."""
    played, source = arms(condition), make_source(SUITE)
    for task_id in set(armed(condition)) - succeeded(condition, "hint"):
        untouched = source.kernel(TASKS[task_id]).start(0).digest()
        left = played["baseline"][task_id].trace.checkpoints[-1]
        assert played["hint"][task_id].trace.ending == "truncated" or left != untouched


@pytest.mark.parametrize("condition", kinds())
def test_every_hint_calls_for_a_skill(condition: str) -> None:
    source = make_source(SUITE, condition)
    for task_id in source.task_ids:
        text = hint(source.get(task_id), source.hazards[task_id])
        assert sum(words in text for words in CALLED_FOR) == 1, text


@pytest.mark.parametrize("condition", ["execution-failure", "output-drift"])
def test_a_policy_that_reads_no_hint_gains_nothing_by_it(condition: str) -> None:
    assert succeeded(condition, "hint", "naive") == succeeded(condition, "tts", "naive")


def test_an_episode_goes_on_from_the_attempts_made_so_far() -> None:
    """A tool that failed once at first has failed: the first call after the message works."""
    seen = 0
    for task_id, one in arms("execution-failure")["tts"].items():
        trace, instance = one.trace, armed("execution-failure")[task_id]
        assert trace.continuation is not None
        records = [result.record or {} for call, result in trace.calls() if call.name == instance["tool"]]
        fired = [record["hazard"]["attempt"] for record in records if record["hazard"]["fired"]]
        assert fired == list(range(len(fired)))
        if recovers_by_itself("execution-failure", task_id):
            assert len(fired) == instance["parameters"]["failures"] <= len(records)
            seen += 1
    assert seen
