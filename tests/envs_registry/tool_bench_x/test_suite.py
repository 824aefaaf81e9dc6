"""The suite on a small tree: every condition, oracle and noop, hazards that fire, recovery, hints."""

from __future__ import annotations

import json
import pickle
import threading
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

import envs_registry
import toolenv
from envs_registry.tool_bench_x import ToolBenchX
from envs_registry.tool_bench_x.suite import OWN_HAZARDS
from tests.support.tool_bench_x import HINTS, NAMES, write_tree
from tests.toolenv.cli.command import spawned
from toolenv.agents.oracle import Oracle
from toolenv.agents.registry import make_agent
from toolenv.env import ToolEnv
from toolenv.errors import DataMissingError, ToolError, ToolFault, UnknownNameError, UsageError
from toolenv.hazards import exposure, hint
from toolenv.hazards.manifest import HazardManifest
from toolenv.source import conditions_of, make_source
from toolenv.types import Message, Stop, ToolCall, ToolCalls
from toolenv.validation import summarise, validate_source

CONDITIONS = ("clean", "infeasible", "mixed", *OWN_HAZARDS)
FARES = [
    "mixture/travel/fares/task_1",
    "parallel/travel/fares/task_1",
    "parallel/travel/fares/task_2",
    "sequential/travel/fares/task_1",
    "sequential/travel/fares/task_2",
]
PRINTER = "sequential/office/printing/task_1"


def env_of(suite: ToolBenchX, condition: str, **options: Any) -> ToolEnv:
    return ToolEnv(make_source(suite, condition, **options))


def test_tasks_are_in_the_order_of_files(suite: ToolBenchX) -> None:
    assert [task.id for task in suite.tasks("default")] == [*FARES[:3], PRINTER, *FARES[3:]]
    assert [task.id for task in suite.tasks("parallel")] == FARES[1:3]
    assert suite.tasks("default") is suite.tasks("default")


def test_a_task_says_what_its_tree_says(suite: ToolBenchX) -> None:
    task = next(one for one in suite.tasks("default") if one.id == FARES[4])
    assert [tool.name for tool in task.tools] == ["find_fare", "find_party", "total_price", "timetable"]
    fare = task.tools[0]
    assert fare.description == "Fare of one seat.\n\nReturns: The fare in EUR."
    assert fare.parameters["properties"]["route"] == {
        "type": "string",
        "description": "the route's code, such as NORTH-7.",
    }
    total = task.tools[2].parameters
    assert total["required"] == ["fare_eur", "seats"]
    assert total["properties"]["discount"] == {
        "anyOf": [{"type": "number"}, {"type": "null"}],
        "default": None,
        "description": "a share to take off.",
    }
    assert (task.metadata["workflow"], task.metadata["domain"], task.metadata["tool_count"]) == (
        "sequential",
        "travel",
        3,
    )


@pytest.mark.parametrize("condition", CONDITIONS)
def test_every_condition_validates(suite: ToolBenchX, condition: str) -> None:
    source = make_source(suite, condition)
    found = summarise(validate_source(source, Oracle(), make_agent("noop")))
    assert found.findings == ()
    assert found.tasks == len(source.task_ids) > 0


def test_conditions_and_ids() -> None:
    assert conditions_of(ToolBenchX()) == CONDITIONS
    assert {f"ToolFeas/ToolBenchX-{one}-v0" for one in CONDITIONS} <= set(envs_registry.env_ids())


@pytest.mark.parametrize("hazard", NAMES)
def test_each_hazard_fires_on_the_recovery_path_and_is_recovered_from(suite: ToolBenchX, hazard: str) -> None:
    env = env_of(suite, hazard)
    for task_id in env.source.task_ids:
        if task_id == PRINTER:
            continue
        rolled = toolenv.rollout(env, Oracle(), seed=0, task_id=task_id)
        assert rolled.episode.success is True
        found = exposure(rolled.trace)
        assert (found.hazard, found.mode, found.tool) == (hazard, "upstream", HINTS[hazard][0])
        assert found.seen >= 1
    env.close()


@pytest.mark.parametrize("hazard", NAMES)
def test_the_hazard_shows_on_the_clean_path(suite: ToolBenchX, hazard: str) -> None:
    """What the record says of a fired call is what the clean tool would have shown."""
    env = env_of(suite, hazard)
    task_id = next(one for one in env.source.task_ids if one != PRINTER)
    clean = next(one for one in suite.tasks("default") if one.id == task_id)
    env.reset(seed=0, options={"task_id": task_id})
    for action in clean.reference.solution()[:-1]:
        env.step(action)
    fired = [result for _, result in env.trace.calls() if result.record and result.record["hazard"]["fired"]]
    assert fired
    assert all(result.record and result.record["hazard"]["clean"] != result.text for result in fired)
    assert all(result.record and result.record["hazard"]["clean_kind"] == "ok" for result in fired)
    env.close()


def test_transient_failures_are_counted_by_the_tools_own_state(suite: ToolBenchX) -> None:
    env = env_of(suite, "execution-failure")
    env.reset(seed=0, options={"task_id": FARES[1]})
    kinds = []
    for _ in range(3):
        env.step(ToolCalls((ToolCall("find_party", {"route": "NORTH-7"}),)))
        kinds.append(env.trace.calls()[-1][1].kind)
    assert kinds == ["tool_error", "tool_error", "ok"]
    assert env.trace.calls()[0][1].content == "Error: TimeoutError: no answer within 30 s"
    env.close()


def test_upstreams_own_injection_is_armed_strictly(suite: ToolBenchX) -> None:
    """Two failures by the strict profile; the guided one would have none. The seed is upstream's, 7."""
    env = env_of(suite, "execution-failure")
    env.reset(seed=0, options={"task_id": PRINTER})
    texts = []
    for _ in range(3):
        env.step(ToolCalls((ToolCall("toner_level", {"printer": "PR-9"}),)))
        texts.append(env.trace.calls()[-1][1].content)
    assert texts[0] == texts[1] == "Error: ConnectionError: at toner_level::before_tool_logic (seed 7)"
    assert json.loads(texts[2])["percent"] == 61
    *_, info = env.step(Message("61 percent"))
    assert info["verdict"]["success"] is True
    env.close()


def test_tools_that_ask_the_network_first_go_on_without_it(suite: ToolBenchX) -> None:
    env = env_of(suite, "clean")
    env.reset(seed=0, options={"task_id": PRINTER})
    env.step(ToolCalls((ToolCall("toner_level", {"printer": "PR-9"}),)))
    assert json.loads(env.trace.calls()[0][1].content) == {
        "ok": True,
        "source": "rule-engine",
        "error": "URLError",
        "percent": 61,
    }
    env.close()


@pytest.mark.parametrize("hazard", NAMES)
def test_the_hint_arm_gives_upstreams_words(suite: ToolBenchX, hazard: str) -> None:
    source = make_source(suite, hazard)
    for task_id, instance in source.hazards.items():
        words = "Call it again until it answers." if task_id == PRINTER else HINTS[hazard][1]
        assert hint(source.get(task_id), instance) == words


def test_an_exception_is_what_the_agent_reads(suite: ToolBenchX) -> None:
    world = suite.world(suite.tasks("default")[0], 0)
    with pytest.raises(ToolError, match=r"Error: KeyError: 'no route X'"):
        world.call("find_fare", {"route": "X"})


def test_a_copy_of_a_world_has_its_state_and_a_life_of_its_own(suite: ToolBenchX) -> None:
    task = suite.tasks("default")[1]
    instance = make_source(suite, "execution-failure").hazards[task.id]
    world = suite.perturbed_world(task, instance, 0)
    arguments = {"route": "NORTH-7"}
    assert world.call("find_party", arguments).failed
    fork = world.fork()
    assert fork.digest() == world.digest()
    assert fork.view() == world.view() == {"calls": [{"tool": "find_party", "arguments": arguments}]}
    assert fork.call("find_party", arguments).failed
    assert not fork.call("find_party", arguments).failed
    assert world.call("find_party", arguments).failed  # its own second call
    assert fork.digest() != world.digest()


def test_a_closed_world_goes_on_where_it_was(suite: ToolBenchX) -> None:
    """Its process is started again and the calls made again."""
    task = suite.tasks("default")[1]
    instance = make_source(suite, "execution-failure").hazards[task.id]
    world = suite.perturbed_world(task, instance, 0)
    kinds = []
    for _ in range(3):
        kinds.append(world.call("find_party", {"route": "NORTH-7"}).failed)
        world.close()  # type: ignore[attr-defined]
    assert kinds == [True, True, False]


def test_episodes_are_the_same_in_any_number_of_threads(suite: ToolBenchX) -> None:
    source = make_source(suite, "hazard", tasks=FARES)
    alone = {one: toolenv.rollout(ToolEnv(source), Oracle(), seed=3, task_id=one).trace for one in FARES}
    found: dict[str, list[Any]] = {one: [] for one in FARES}

    def play(task_id: str) -> None:
        found[task_id].append(toolenv.rollout(ToolEnv(source), Oracle(), seed=3, task_id=task_id).trace)

    threads = [threading.Thread(target=play, args=(one,)) for one in FARES for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {one: [trace, trace] for one, trace in alone.items()}


# ---- what a tool does wrong -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("__import__('os').kill(1, 9)", "forbidden"),
        ("return {1, 2}", "no JSON value"),
        ("return 'x' * (1 << 21)", "output"),
    ],
)
def test_a_tool_that_has_to_be_stopped_costs_one_episode(tmp_path: Path, body: str, said: str) -> None:
    folder = write_tree(tmp_path)
    path = folder / "tools/mixture/travel/fares/task_1.py"
    path.write_text(path.read_text().replace('return {"seats": SEATS[route]}', body))
    suite = ToolBenchX(folder)
    env = env_of(suite, "clean")
    bad = toolenv.rollout(env, Oracle(), seed=0, task_id="mixture/travel/fares/task_1")
    assert bad.episode.valid is False
    assert said in bad.trace.error
    good = toolenv.rollout(env, Oracle(), seed=0, task_id="parallel/travel/fares/task_1")
    assert good.episode.success is True


def test_a_tool_that_does_not_load_is_the_environments_fault(tmp_path: Path) -> None:
    folder = write_tree(tmp_path)
    path = folder / "tools/mixture/travel/fares/task_1.py"
    path.write_text("import requests\n" + path.read_text())
    suite = ToolBenchX(folder)
    world = suite.world(suite.tasks("default")[0], 0)
    with pytest.raises(ToolFault, match="does not load: ModuleNotFoundError: No module named 'requests'"):
        world.call("find_fare", {"route": "NORTH-7"})


# ---- the ids ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_ids_keep_gymnasiums_contract(tree: Path, condition: str) -> None:
    name = f"ToolFeas/ToolBenchX-{condition}-v0"
    env = gymnasium.make(name, folder=str(tree), disable_env_checker=True)
    check_env(env.unwrapped)
    assert env.spec is not None
    for spec in (EnvSpec.from_json(env.spec.to_json()), pickle.loads(pickle.dumps(env.spec))):
        assert gymnasium.make(spec).reset(seed=4)[0] == env.reset(seed=4)[0]
    env.close()


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_vectors(tree: Path, mode: str) -> None:
    options = {"shared_memory": False} if mode == "async" else {}
    envs = gymnasium.make_vec(
        "ToolFeas/ToolBenchX-clean-v0",
        num_envs=2,
        vectorization_mode=mode,
        vector_kwargs=options,
        folder=str(tree),
        tasks=FARES[0],
    )
    call = ToolCalls((ToolCall("find_fare", {"route": "NORTH-7"}),))
    try:
        envs.reset(seed=[1, 2])
        observations, *_ = envs.step((call, call))
        assert [one.messages[-1].content for one in observations] == ['{"fare_eur": 41.5}'] * 2
        _, rewards, terminated, *_ = envs.step((Message("124.5"), Stop("no")))
        assert list(terminated) == [True, True]
        assert list(rewards) == [1.0, 0.0]
    finally:
        envs.close()


def test_without_data_the_way_to_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLENV_DATA", str(tmp_path))
    with pytest.raises(DataMissingError, match=r"toolenv data pull tool-bench-x --from DIR"):
        gymnasium.make("ToolFeas/ToolBenchX-clean-v0")
    with pytest.raises(DataMissingError, match="there is no such folder"):
        gymnasium.make("ToolFeas/ToolBenchX-clean-v0", folder=str(tmp_path / "absent"))


def test_what_does_not_exist_is_named(suite: ToolBenchX) -> None:
    with pytest.raises(UsageError, match="no tools perturbed by output-drift for it"):
        make_source(suite, "output-drift", tasks=FARES[0])
    with pytest.raises(UnknownNameError, match="sequential"):
        make_source(suite, "clean", subset="sequental")


def test_manifests_write_and_read(suite: ToolBenchX, tmp_path: Path) -> None:
    """The data set's own hazards as a file, to be looked at or to be used under another id."""
    manifest = suite.hazard_manifest("hazard")
    manifest.write(tmp_path / "hazard.json")
    assert HazardManifest.read(tmp_path / "hazard.json") == manifest
    masks = suite.masks("default")
    assert set(masks.flags) == {*FARES[:4], PRINTER}
    assert masks.data == manifest.data


# ---- the command line -------------------------------------------------------------------------------------


def test_pull_validate_and_run(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLENV_DATA", str(tmp_path / "data"))
    pulled = spawned("data", "pull", "tool-bench-x", "--from", tree, cwd=tmp_path)
    assert pulled.code == 0, pulled.err
    assert "tool-bench-x your own copy: whole" in pulled.out
    assert spawned("data", "verify", "tool-bench-x", cwd=tmp_path).out == "tool-bench-x: whole\n"
    validated = spawned("validate", "ToolFeas/ToolBenchX-hazard-v0", cwd=tmp_path)
    assert validated.code == 0, validated.out
    assert "6 tasks, 0 findings" in validated.out
    command = ("run", "ToolFeas/ToolBenchX-clean-v0", "ToolFeas/ToolBenchX-hazard-v0", "--out", "runs")
    ran = spawned(*command, "--agent", "oracle", "--agent", "noop", "--concurrency", 4, cwd=tmp_path)
    assert ran.code == 0, ran.err
    reported = spawned("report", "runs/oracle", "runs/noop", "--json", cwd=tmp_path)
    rates = {
        (row["env"], row["agent"]): row["metrics"]["sr"]["value"] for row in json.loads(reported.out)["rows"]
    }
    # Five of six: of one nobody knows the way, and the oracle says nothing.
    assert rates["ToolFeas/ToolBenchX-clean-v0", "oracle"] == pytest.approx(5 / 6)
    assert rates["ToolFeas/ToolBenchX-hazard-v0", "oracle"] == pytest.approx(5 / 6)
    assert rates["ToolFeas/ToolBenchX-clean-v0", "noop"] == 0
