"""Hazards as conditions of environments: ids, choosing, errors with reasons, and validation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gymnasium
import pytest

import envs_registry
from tests.support.depot import DepotSuite
from tests.support.toy import Toy
from tests.toolenv.hazards.depot_cases import NAIVE, RECOVER, armed
from toolenv.agents.recovery import make
from toolenv.agents.registry import make_agent
from toolenv.env import ToolEnv
from toolenv.errors import DataCorruptError, UnknownNameError, UsageError
from toolenv.hazards import Instance, hint
from toolenv.hazards.manifest import HazardManifest, ProvedInstance
from toolenv.recoverability.building import Policies, arm_tasks, manifests
from toolenv.rollout import rollout
from toolenv.source import CONDITIONS, conditions_of, make_source
from toolenv.validation import summarise, validate_source

CONDITION_NAMES = (
    "cross-source-conflict",
    "execution-failure",
    "hazard",
    "invocation-error",
    "output-drift",
    "specification-drift",
)


@dataclass
class ArmedDepot(DepotSuite):
    """The depot with a folder of hazard manifests."""

    name: str = "ArmedDepot"
    hazards: Path | None = None


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> ArmedDepot:
    folder = tmp_path_factory.mktemp("hazards")
    suite = ArmedDepot()
    policies = Policies(make_agent("oracle"), NAIVE, (make("trusting", {}), RECOVER))
    every = list(arm_tasks(suite, suite.tasks("default"), policies, seeds=(0, 3)))
    for manifest in manifests(suite, "none", "by test", every, fewest=1).values():
        manifest.write(folder / f"{manifest.condition}.json")
    return replace(suite, hazards=folder)


def test_a_suite_has_a_condition_per_manifest(suite: ArmedDepot) -> None:
    assert conditions_of(suite) == (*CONDITIONS, *CONDITION_NAMES)
    assert conditions_of(Toy()) == CONDITIONS


@pytest.mark.parametrize("condition", CONDITION_NAMES)
def test_the_witness_is_what_the_oracle_plays(suite: ArmedDepot, condition: str) -> None:
    source = make_source(suite, condition)
    for task_id in source.task_ids:
        for seed in (0, 1):
            played = rollout(ToolEnv(source), make_agent("oracle"), seed=seed, task_id=task_id)
            assert played.episode.success is True
            assert played.trace.condition == condition
            assert played.episode.label == "feasible"
        naive = rollout(ToolEnv(source), NAIVE, seed=0, task_id=task_id)
        assert naive.episode.success is False


@pytest.mark.parametrize("condition", CONDITION_NAMES)
def test_sound_environments_have_no_findings(suite: ArmedDepot, condition: str) -> None:
    found = summarise(
        validate_source(make_source(suite, condition), make_agent("oracle"), make_agent("noop"))
    )
    assert (found.tasks, found.findings) == (2, ())


def test_the_instance_does_not_depend_on_the_episode(suite: ArmedDepot) -> None:
    """Every arm of a study and every seed meets the same instance."""
    source = make_source(suite, "hazard")
    task_id = source.task_ids[0]
    played = [rollout(ToolEnv(source), RECOVER, seed=seed, task_id=task_id).trace for seed in range(4)]
    assert len({json.dumps([step.results for step in trace.steps]) for trace in played}) == 1


def test_hazard_seeds(suite: ArmedDepot) -> None:
    first, third = make_source(suite, "output-drift"), make_source(suite, "output-drift", hazard_seed=3)
    assert {one.seed for one in first.hazards.values()} == {0}
    assert {one.seed for one in third.hazards.values()} == {3}
    with pytest.raises(UnknownNameError, match=r"hazard_seed '4' in ArmedDepot-output-drift; known: 0, 3"):
        make_source(suite, "output-drift", hazard_seed=4)
    with pytest.raises(UsageError, match="have no meaning in ArmedDepot-clean"):
        make_source(suite, "clean", hazard_seed=0)


def test_a_manifest_of_ones_own(suite: ArmedDepot, tmp_path: Path) -> None:
    assert suite.hazards is not None
    path = suite.hazards / "output-drift.json"
    bare = ArmedDepot()
    assert (
        make_source(bare, "output-drift", hazards=path).hazards == make_source(suite, "output-drift").hazards
    )
    with pytest.raises(DataCorruptError, match="of ArmedDepot-output-drift, not of ArmedDepot-hazard"):
        make_source(bare, "hazard", hazards=path)
    with pytest.raises(UnknownNameError, match="unknown condition 'output-drift' in suite ArmedDepot"):
        make_source(bare, "output-drift")


def test_a_task_without_the_hazard_is_refused_with_the_reason(suite: ArmedDepot, tmp_path: Path) -> None:
    assert suite.hazards is not None
    whole = HazardManifest.read(suite.hazards / "output-drift.json")
    kept = {"lamp-north": whole.tasks["lamp-north"]}
    path = tmp_path / "output-drift.json"
    replace(whole, tasks=kept, excluded={"desk-south": "it does not fit"}).write(path)
    assert make_source(suite, "output-drift", hazards=path).task_ids == ("lamp-north",)
    with pytest.raises(UsageError, match="'desk-south' is not in ArmedDepot-output-drift: it does not fit"):
        make_source(suite, "output-drift", hazards=path, tasks="desk-south")


def test_a_hazard_on_a_tool_that_the_task_lacks_is_refused(suite: ArmedDepot, tmp_path: Path) -> None:
    """It would never fire, and the perturbed score would be the clean one."""
    assert suite.hazards is not None
    whole = HazardManifest.read(suite.hazards / "output-drift.json")
    (one, *_) = whole.tasks["lamp-north"]
    wrong = replace(one, instance=replace(one.instance, tool=one.instance.tool + "s"))
    path = tmp_path / "output-drift.json"
    replace(whole, tasks={"lamp-north": (wrong,)}).write(path)
    said = rf"unknown tool '{one.instance.tool}s' in task 'lamp-north'; did you mean '{one.instance.tool}'"
    with pytest.raises(DataCorruptError, match=rf"output-drift\.json: {said}"):
        make_source(suite, "output-drift", hazards=path)


@pytest.mark.parametrize("part", ["tasks", "excluded"])
def test_a_manifest_with_a_task_that_no_subset_has_is_refused(
    part: str, suite: ArmedDepot, tmp_path: Path
) -> None:
    """Somebody believes that it is armed, or accounted for."""
    assert suite.hazards is not None
    whole = HazardManifest.read(suite.hazards / "output-drift.json")
    path = tmp_path / "output-drift.json"
    more = {"tasks": {"lamp-nort": whole.tasks["lamp-north"]}, "excluded": {"lamp-nort": "it was raining"}}
    edited = replace(whole, **{part: {**getattr(whole, part), **more[part]}})  # type: ignore[arg-type]
    edited.write(path)
    with pytest.raises(
        DataCorruptError, match=r"output-drift\.json: unknown task id 'lamp-nort'.*'lamp-north'"
    ):
        make_source(suite, "output-drift", hazards=path)


def test_hazards_proved_on_other_data_are_refused(suite: ArmedDepot, tmp_path: Path) -> None:
    """Tasks of the same ids may be other tasks there; of masks the same is refused."""
    assert suite.hazards is not None
    path = tmp_path / "output-drift.json"
    replace(HazardManifest.read(suite.hazards / "output-drift.json"), data="f00").write(path)
    said = r"output-drift\.json: hazards proved on data 'f00'; ArmedDepot here has 'none'"
    with pytest.raises(DataCorruptError, match=said):
        make_source(suite, "output-drift", hazards=path)


@pytest.mark.parametrize(
    ("instance", "said"),
    [
        (
            armed("invocation-error", "truncated", "weigh", name="item_cod"),
            "unknown parameter 'item_cod' in task 'lamp-north', tool 'weigh'; did you mean 'item_code'",
        ),
        (
            armed("execution-failure", "transient-timeout", "weigh", failures=1, also=["frieght"]),
            "unknown tool 'frieght' in task 'lamp-north'; did you mean 'freight'",
        ),
        (
            armed("output-drift", "upstream", "weigh"),
            "task 'lamp-north' has no tools of ArmedDepot's own perturbed by output-drift",
        ),
    ],
)
def test_what_a_hazard_names_must_be_there(
    instance: Instance, said: str, suite: ArmedDepot, tmp_path: Path
) -> None:
    path, proved = tmp_path / "hazard.json", ProvedInstance(instance, ([0], {"repeat": 0}), 0)
    HazardManifest("ArmedDepot", "hazard", "none", "by hand", {"lamp-north": (proved,)}).write(path)
    with pytest.raises(DataCorruptError, match=rf"hazard\.json: {said}"):
        make_source(suite, "hazard", hazards=path)


@pytest.mark.parametrize(
    ("witness", "said"),
    [
        ([[7]], "the witness repeats call 7 of the solution, which has those from 0 to 2"),
        ([{"repeat": 1}], "the witness repeats message 1 of the solution, which has those from 0 to 0"),
        (
            [[{"call": 1, "names": {"item_cod": "x"}}]],
            "the witness: unknown argument 'item_cod' in call 1 of the solution; did you mean 'item_code'",
        ),
    ],
)
def test_a_witness_made_for_another_solution_is_refused(
    witness: list[Any], said: str, suite: ArmedDepot, tmp_path: Path
) -> None:
    path = tmp_path / "output-drift.json"
    proved = ProvedInstance(armed("output-drift", "wrapping", "weigh"), tuple(witness), 0)
    HazardManifest("ArmedDepot", "output-drift", "none", "by hand", {"lamp-north": (proved,)}).write(path)
    source = make_source(suite, "output-drift", hazards=path)
    with pytest.raises(DataCorruptError, match=rf"output-drift\.json, task 'lamp-north': {said}"):
        source.get("lamp-north").reference.solution()


def broken(suite: ArmedDepot, proved: ProvedInstance, folder: Path) -> list[str]:
    """What validation finds with one bad entry in place of the lamp's."""
    manifest = HazardManifest("ArmedDepot", "output-drift", "none", "by hand", {"lamp-north": (proved,)})
    manifest.write(folder / "output-drift.json")
    source = make_source(suite, "output-drift", hazards=folder / "output-drift.json")
    found = summarise(validate_source(source, make_agent("oracle"), make_agent("noop")))
    return [f"{one.check}: {one.problem}" for one in found.findings]


def test_validation_finds_a_hazard_that_is_never_met(suite: ArmedDepot, tmp_path: Path) -> None:
    """FIELD-021: a fault that never landed makes a clean-looking result."""
    unmet = ProvedInstance(
        armed("output-drift", "wrapping", "register_entry"), ([0], [1], [2], {"repeat": 0}), 0
    )
    assert broken(suite, unmet, tmp_path) == ["hazard: the recovery path never meets the hazard"]


def test_validation_finds_a_witness_that_does_not_recover(suite: ArmedDepot, tmp_path: Path) -> None:
    useless = ProvedInstance(armed("output-drift", "wrapping", "weigh"), ([0], [1], {"say": "No idea."}), 0)
    assert broken(suite, useless, tmp_path) == ["oracle: decided by message, success False"]


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from texts(key)
            yield from texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts(item)


@pytest.mark.parametrize("condition", CONDITION_NAMES)
def test_nothing_of_the_hazard_is_in_observations_and_infos(suite: ArmedDepot, condition: str) -> None:
    source = make_source(suite, condition)
    for task_id in source.task_ids:
        env, instance = ToolEnv(source), source.hazards[task_id]
        observation, info = env.reset(seed=0, options={"task_id": task_id})
        for action in source.get(task_id).reference.solution():
            shown = [message.content for message in observation.messages]
            shown += [
                f"{tool.name} {tool.description} {json.dumps(tool.parameters)}" for tool in observation.tools
            ]
            for text in [*shown, *texts(info)]:
                for word in (instance.hazard, "hazard", hint(source.get(task_id), instance)):
                    assert word not in text
            observation, _, over, _, info = env.step(action)
        assert over
        assert set(info) == {"task_id", "verdict"}


def test_ids_of_real_suites_are_registered() -> None:
    for name in ("APIBank", "BFCL", "StableToolBench", "TauBench"):
        assert f"ToolFeas/{name}-hazard-v0" in envs_registry.env_ids()
        spec = gymnasium.spec(f"ToolFeas/{name}-execution-failure-v0")
        assert spec.kwargs == {"suite": name, "condition": "execution-failure"}


@pytest.mark.parametrize("name", ["APIBank", "BFCL", "StableToolBench", "TauBench"])
def test_no_argument_of_a_data_set_stands_in_a_manifest(name: str) -> None:
    """The project holds no data: witnesses are told by the data set's own solution."""
    folder = envs_registry.get_suite(name).hazards  # type: ignore[attr-defined]
    for path in folder.glob("*.json"):
        manifest = HazardManifest.read(path)
        assert len(manifest.tasks) >= 20
        for proved in manifest.tasks.values():
            for decision in proved[0].witness:
                if isinstance(decision, list):
                    assert all(isinstance(call, int | dict) for call in decision)
                else:
                    assert decision == {"repeat": decision.get("repeat")} or decision == {"say": "Done."}
