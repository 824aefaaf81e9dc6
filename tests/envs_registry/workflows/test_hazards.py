"""The hazards of the frozen set: what ships is what arming makes, and the table of the scripted policies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache

import pytest

from envs_registry.workflows import SUITE
from envs_registry.workflows.leakage import leaked_forms, squeeze
from toolenv.agents.recovery import SKILLS, make
from toolenv.agents.registry import make_agent
from toolenv.env import ToolEnv
from toolenv.hazards import exposure, hint, kinds
from toolenv.hazards.manifest import HazardManifest
from toolenv.recoverability.building import Policies, arm_tasks
from toolenv.recoverability.proving import play
from toolenv.rollout import rollout
from toolenv.source import make_source
from toolenv.suite import hazard_manifests
from toolenv.types import ToolCalls
from toolenv.validation import summarise, validate_source

CONDITIONS = ("confusable", *kinds(), "hazard")
TASKS = {task.id: task for task in SUITE.tasks("default")}
SAMPLE = list(TASKS)[::36]
POLICIES = Policies(
    make_agent("oracle"), make("naive", {}), (make_agent("recovery:trusting"), make_agent("recovery"))
)


@cache
def manifest(condition: str) -> HazardManifest:
    return HazardManifest.read(hazard_manifests(SUITE)[condition])


def test_the_seven_conditions_ship() -> None:
    assert sorted(hazard_manifests(SUITE)) == sorted(CONDITIONS)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_nearly_every_task_has_an_instance_in_the_papers_split(condition: str) -> None:
    """Paper 2: 378 sequential, 358 parallel and 370 mixture tasks."""
    tasks = manifest(condition).tasks
    split = Counter(TASKS[task_id].metadata["workflow"] for task_id in tasks)
    whole = {"sequential": 378, "parallel": 358, "mixture": 370}
    missing = {name: count - split[name] for name, count in whole.items()}
    assert missing == {
        "sequential": 4 if condition == "cross-source-conflict" else 0,
        "parallel": 0,
        "mixture": 0,
    }
    assert len(tasks) + len(manifest(condition).excluded) == 1106


@pytest.mark.parametrize("condition", kinds())
def test_every_mode_ships(condition: str) -> None:
    modes = Counter(proved[0].instance.mode for proved in manifest(condition).tasks.values())
    expected = set(kinds()[condition].modes) - {"renamed-parameter"}  # outputs are documented here
    assert set(modes) == expected
    assert min(modes.values()) >= 100


def test_what_ships_is_what_arming_makes() -> None:
    for armed in arm_tasks(SUITE, [TASKS[task_id] for task_id in SAMPLE], POLICIES):
        for hazard, proved in armed.proved.items():
            assert manifest(hazard).tasks[armed.task_id] == proved
        assert manifest("hazard").tasks[armed.task_id] == armed.proved[armed.chosen()]


def kinds_of(condition: str) -> Iterator[tuple[str, str]]:
    """The sample's tasks with the kind of their hazard, execution failures by whether they end."""
    for task_id in SAMPLE:
        for proved in manifest(condition).tasks.get(task_id, ()):
            lasting = (
                proved.instance.mode.partition("-")[0] if condition == "execution-failure" else condition
            )
            yield task_id, lasting


OWN: Mapping[str, set[str]] = {
    "reference": {*kinds(), "transient", "persistent"},
    "naive": set(),
    "retry-only": {"transient"},
    "switch-only": {"persistent"},
    "normalise-only": {"output-drift"},
}


@pytest.mark.parametrize("policy", OWN)
def test_every_policy_solves_the_clean_tasks(policy: str) -> None:
    source = make_source(SUITE)
    for task_id in SAMPLE:
        assert rollout(ToolEnv(source), make(policy, {}), seed=0, task_id=task_id).episode.success is True


@pytest.mark.parametrize("condition", kinds())
@pytest.mark.parametrize("policy", OWN)
def test_each_policy_recovers_its_own_kind_and_no_other(policy: str, condition: str) -> None:
    assert set(OWN) < set(SKILLS)
    source = make_source(SUITE, condition)
    for task_id, kind in kinds_of(condition):
        played = rollout(ToolEnv(source), make(policy, {}), seed=0, task_id=task_id)
        assert played.episode.success is (kind in OWN[policy]), task_id
        assert exposure(played.trace).fired


@pytest.mark.parametrize("condition", CONDITIONS)
def test_hints_do_not_hold_the_answer(condition: str) -> None:
    """Paper 2's appendix: hints are searched for exact and normalised forms of the answer."""
    for task_id, proved in manifest(condition).tasks.items():
        text = squeeze(hint(TASKS[task_id], proved[0].instance))
        assert not any(form in text for form in leaked_forms(TASKS[task_id].metadata["blueprint"].answer))


@pytest.mark.parametrize("condition", kinds())
def test_what_fails_does_not_hold_the_answer(condition: str) -> None:
    """Paper 2's appendix: exception messages are searched, too."""
    source = make_source(SUITE, condition)
    for task_id in SAMPLE:
        if task_id not in source.task_ids:
            continue
        trace = rollout(ToolEnv(source), make_agent("oracle"), seed=0, task_id=task_id).trace
        sent = squeeze(" ".join(str(call.arguments) for call, _ in trace.calls()))
        for form in leaked_forms(TASKS[task_id].metadata["blueprint"].answer):
            for _, result in trace.calls("tool_error", "invalid_arguments"):
                assert form not in squeeze(result.content) or form in sent


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_sample_is_sound(condition: str) -> None:
    ids = [task_id for task_id in SAMPLE if task_id in manifest(condition).tasks]
    source = make_source(SUITE, condition, tasks=ids)
    found = summarise(validate_source(source, make_agent("oracle"), make_agent("noop")))
    assert (found.tasks, found.findings) == (len(ids), ())


def test_a_witness_makes_the_calls_it_is_said_to_cost() -> None:
    for condition in kinds():
        for task_id in SAMPLE:
            for proved in manifest(condition).tasks.get(task_id, ()):
                task = proved.recoverable(TASKS[task_id])
                calls = [
                    call
                    for action in task.reference.solution()
                    if isinstance(action, ToolCalls)
                    for call in action.calls
                ]
                assert len(calls) - len(task.metadata["plan"].calls) == proved.extra_calls
                assert play(SUITE, task, make_agent("oracle"), proved.instance).episode.success is True
