"""Every registered id: gymnasium's checker, vectors, specs, spawned workers, and no leaks."""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

import envs_registry
from tests.support.toy import toy_source
from toolenv import Action, Message, Score, Stop, ToolEnv, Trace, Usage, rollout
from toolenv.agents.oracle import Oracle
from toolenv.data import DataStore
from toolenv.errors import DataError, UnknownNameError, UsageError
from toolenv.source import TaskSource
from toolenv.wrappers import RecordReward

BROUGHT = "ToolBenchX"
"""Its data must be brought by who may have them; ``tool_bench_x/test_suite.py`` asks the same of its ids."""

GOLDEN = envs_registry.env_ids()
IDS = [name for name in GOLDEN if BROUGHT not in name]


@pytest.fixture(autouse=True)
def _data() -> None:
    for suite in envs_registry.suites().values():
        if suite.data and suite.name != BROUGHT:
            try:
                DataStore(envs_registry.DATA_FOLDER).require(suite.data)
            except DataError as error:
                pytest.skip(str(error))


def test_the_ids_are_the_golden_ones() -> None:
    golden = (Path(__file__).parent.parent / "ids.txt").read_text().split()
    assert list(GOLDEN) == golden


@pytest.mark.parametrize("name", IDS)
def test_check_env_passes(name: str) -> None:
    check_env(gymnasium.make(name, disable_env_checker=True).unwrapped)


@pytest.mark.parametrize("name", IDS)
def test_make_puts_the_recording_wrappers_on(name: str) -> None:
    env = gymnasium.make(name)
    env.reset(seed=1)
    *_, info = env.step(Stop("nothing fits"))
    assert isinstance(info["trace"], Trace)
    assert info["episode"] == {
        "r": info["verdict"]["reward"],
        "l": 1,
        "calls": 0,
        "input_tokens": None,
        "output_tokens": None,
        "known_usage": False,
    }


@pytest.mark.parametrize("name", IDS)
def test_specs_survive_json_and_pickle(name: str) -> None:
    env = gymnasium.make(name, max_turns=3)
    assert env.spec is not None
    for spec in (EnvSpec.from_json(env.spec.to_json()), pickle.loads(pickle.dumps(env.spec))):
        again = gymnasium.make(spec)
        assert again.spec == env.spec
        assert again.reset(seed=4)[0] == env.reset(seed=4)[0]


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("name", IDS)
def test_make_vec(name: str, mode: str) -> None:
    options = {"shared_memory": False} if mode == "async" else {}
    envs = gymnasium.make_vec(name, num_envs=2, vectorization_mode=mode, vector_kwargs=options)
    try:
        observations, _ = envs.reset(seed=[1, 2])
        assert len(observations) == 2
        single = gymnasium.make(name)
        assert observations[1] == single.reset(seed=2)[0]
        _, rewards, terminated, _, infos = envs.step((Stop("none"), Stop("none")))
        assert list(terminated) == [True, True]
        assert rewards[1] == single.step(Stop("none"))[1]
        assert len(infos["task_id"]) == 2
    finally:
        envs.close()


def test_field_047_same_step_autoreset_keeps_the_finished_episode_s_info() -> None:
    envs = gymnasium.make_vec(
        "ToolFeas/BFCL-infeasible-v0",
        num_envs=2,
        vectorization_mode="async",
        vector_kwargs={"shared_memory": False, "autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP},
    )
    try:
        envs.reset(seed=[1, 2])
        *_, infos = envs.step((Stop("none"), Message("Done.")))
        final = infos["final_info"]
        assert list(final["verdict"]["decision"]) == ["infeasible", "feasible"]
        assert list(final["episode"]["l"]) == [1, 1]
        assert len(set(final["task_id"])) == 2
    finally:
        envs.close()


def test_field_048_spawned_workers_need_only_gymnasium() -> None:
    code = """
import gymnasium
def make():
    return gymnasium.make("toolenv:ToolFeas/BFCL-clean-v0", tasks="multiple_0")
if __name__ == "__main__":
    envs = gymnasium.vector.AsyncVectorEnv([make, make], shared_memory=False, context="spawn")
    observations, _ = envs.reset(seed=1)
    print(len(observations), observations[0].messages[-1].role)
    envs.close()
"""
    script = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(script, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.strip() == "2 user", done.stderr


def test_importing_twice_neither_raises_nor_warns() -> None:
    code = (
        "import importlib, toolenv, envs_registry; importlib.reload(envs_registry); importlib.reload(toolenv)"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)


def test_field_070_truth_is_in_nothing_a_policy_can_see() -> None:
    env = gymnasium.make("ToolFeas/BFCL-clean-v0", tasks="multi_turn_base_0")
    observation, info = env.reset(seed=0)
    shown = "\n".join(
        [repr(observation), repr(info), repr(env), repr(env.unwrapped), json.dumps(env.spec.kwargs)]
    )
    # The ground truth of this task's later turns, and the words the project has for the truth.
    for secret in ("ground_truth", "reference", "feasible", "mask", "grep(", "final_report.pdf', pattern"):
        assert secret not in shown


def test_mixed_and_clean_show_the_same_but_for_the_tools() -> None:
    clean = gymnasium.make("ToolFeas/BFCL-clean-v0", tasks="multiple_0").reset(seed=0)[0]
    masked = gymnasium.make("ToolFeas/BFCL-infeasible-v0", tasks="multiple_0").reset(seed=0)[0]
    assert (clean.messages, clean.turns_left) == (masked.messages, masked.turns_left)
    offered = [tool.name for tool in clean.tools]
    assert offered == ["triangle_properties.get", "circle_properties.get"]
    assert [tool.name for tool in masked.tools] == ["circle_properties.get"]


@pytest.mark.parametrize(
    ("keywords", "problem"),
    [
        ({"subset": "multipel"}, "unknown subset 'multipel'.*did you mean 'multiple'"),
        ({"subset": "simple_java"}, "not available.*Java"),
        ({"tasks": "multiple_9999"}, "unknown task id 'multiple_9999'"),
        ({"prior": 1.5}, "prior=1.5"),
        ({"max_turns": 0}, "max_turns=0"),
        ({"max_turn": 3}, "unknown option 'max_turn' in suite BFCL; did you mean 'max_turns'"),
        ({"Subset": "multiple"}, "unknown option 'Subset' in suite BFCL; did you mean 'subset'"),
        (
            {"xyzzy": 1},
            "known: corrections, decoys, hazard_seed, hazards, masks, max_turns, prior, render_mode,",
        ),
        ({"corrections": 3}, "corrections=3: give a path"),
    ],
)
def test_bad_keywords_are_named(keywords: dict[str, object], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        gymnasium.make("ToolFeas/BFCL-mixed-v0", **keywords)


@pytest.mark.parametrize(
    ("location", "problem"),
    [
        ("workflows", "unknown suite 'workflows'; did you mean 'Workflows'"),
        (
            "Library",
            "known: APIBank, .*Workflows \\(one of your own is MODULE:ATTRIBUTE, e.g. library_suite:SUITE",
        ),
        ("tests.support.depot:Depots", "did you mean 'tests.support.depot:SUITE'"),
        ("no_such_module:SUITE", "unknown suite or module 'no_such_module'"),
        ("json:lods", "unknown attribute 'lods' in module json; did you mean 'loads'"),
        ("json:loads", "json:loads is no suite: it is function"),
    ],
)
def test_a_suite_that_is_not_there_is_named(location: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        envs_registry.get_suite(location)


def test_a_task_without_a_mask_says_why() -> None:
    with pytest.raises(UsageError, match=r"live_multiple_862-181-3.*no successful trace"):
        gymnasium.make("ToolFeas/BFCL-infeasible-v0", tasks="live_multiple_862-181-3")


def test_an_unknown_id_offers_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="ToolFeas/BFCL-infeasible-v0"):
        envs_registry.parse_env_id("ToolFeas/BFCL-infeasable-v0")


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("usages", [(Usage(1, 1), None), (None, Usage(1, 1))])
def test_vectors_hold_known_and_unknown_token_counts_beside_each_other(
    mode: str, usages: tuple[Usage | None, Usage | None]
) -> None:
    options = {"shared_memory": False} if mode == "async" else {}
    envs = gymnasium.make_vec(
        "ToolFeas/BFCL-clean-v0",
        num_envs=2,
        vectorization_mode=mode,
        vector_kwargs=options,
        subset="multiple",
    )
    try:
        envs.reset(seed=[1, 2])
        *_, infos = envs.step(tuple(Message("Done.", usage=usage) for usage in usages))
        assert list(infos["episode"]["input_tokens"]) == [usage and 1 for usage in usages]
    finally:
        envs.close()


def test_decoys_hide_the_label_from_the_number_of_tools() -> None:
    env = gymnasium.make("ToolFeas/APIBank-mixed-v0", decoys=True)
    sizes: dict[str, set[int]] = {"feasible": set(), "infeasible": set()}
    for seed in range(60):
        observation, _ = env.reset(seed=seed, options={"task_id": "AddAlarm-level-1-1"})
        task = env.unwrapped.task  # type: ignore[attr-defined]
        sizes[task.label].add(len(observation.tools))
        if task.label == "feasible":
            assert rollout(env, Oracle(), seed=seed, task_id=task.id).episode.success is True
    assert sizes["feasible"] == sizes["infeasible"]
    assert len(sizes["feasible"]) == 1
    with pytest.raises(UsageError, match="decoys='yes'"):
        gymnasium.make("ToolFeas/APIBank-mixed-v0", decoys="yes")


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_vectors_hold_a_success_that_cannot_be_said_beside_one_that_can(
    mode: str, order: tuple[int, int]
) -> None:
    """One task cannot be assessed, whichever of the two comes first: NaN, never false."""
    made = [_unassessable, _solved]
    kind = gymnasium.vector.SyncVectorEnv if mode == "sync" else _Async
    envs = kind([made[at] for at in order])
    try:
        envs.reset(seed=1)
        *_, infos = envs.step((Message("Paid."), Message("Paid.")))
        found = infos["is_success"]
        assert found.dtype == float
        assert [math.isnan(found[at]) for at in order] == [True, False]
        assert found[order.index(1)] == 1.0
    finally:
        envs.close()


class _Async(gymnasium.vector.AsyncVectorEnv):
    def __init__(self, made: list[Any]) -> None:
        super().__init__(made, shared_memory=False)


class _Said:
    """The reference of a task on which nothing can be judged, or everything is right."""

    def __init__(self, success: bool | None) -> None:
        self.success = success

    def score(self, trace: Trace) -> Score:
        return Score(self.success)

    def solution(self) -> tuple[Action, ...]:
        return ()


def _toy(success: bool | None) -> gymnasium.Env[Any, Any]:
    source = toy_source("clean", tasks="pay-7")
    task = replace(source.get("pay-7"), reference=_Said(success))
    return RecordReward(ToolEnv(TaskSource(source.suite, "clean", {task.id: task}, {}, 0.0, 4)))


def _unassessable() -> gymnasium.Env[Any, Any]:
    return _toy(None)


def _solved() -> gymnasium.Env[Any, Any]:
    return _toy(True)
