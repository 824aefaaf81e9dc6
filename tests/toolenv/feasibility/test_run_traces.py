"""Reading successful traces out of run directories, and refusing those that are of something else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.toy import Toy
from tests.toolenv.runner.toy_runs import CLEAN, INFEASIBLE, Payer, header_of, play, toy_ids
from toolenv.agents.oracle import Oracle
from toolenv.errors import StoreError, ToolEnvError, UsageError
from toolenv.feasibility.manifest import MaskManifest
from toolenv.feasibility.run_traces import read_runs, reference_traces, suite_options
from toolenv.feasibility.successful_traces import Traces
from toolenv.policy import Policy
from toolenv.runner.plan import RunConfig
from toolenv.runner.reading import EPISODES_FILE, RUN_FILE
from toolenv.runner.store import RunStore
from toolenv.types import Observation, ToolCall, ToolCalls

SUITE = Toy()
TASKS = {task.id: task for task in SUITE.tasks("default")}


@pytest.fixture(autouse=True)
def _toy_ids() -> Iterator[None]:
    with toy_ids():
        yield


class Looker(Payer):
    """As its base, after a look at the balance."""

    name = "looker"

    def act(self, observation: Observation, memory: Any) -> tuple[Any, Any]:
        if memory is None:
            return ToolCalls((ToolCall("accounts.balance", {"account": "A1"}),)), "looked"
        if memory == "looked":
            return ToolCalls((ToolCall("pay", {"account": "A1", "amount": 7}),)), "paid"
        return super().act(observation, memory)


def run(folder: Path, policy: Policy, envs: tuple[str, ...] = (CLEAN,), **changes: Any) -> Path:
    """A run directory of a policy."""
    config = RunConfig(**{"envs": envs, "agent": policy.name, "tasks": ("pay-7", "pay-30"), **changes})
    with RunStore(folder, header_of(config, policy)) as store:
        for rollout in play(config, policy):
            store.append(rollout)
    return folder


def read(*folders: Path, data: str = "none", condition: str = "clean") -> Traces:
    return read_runs(folders, SUITE, TASKS, data, condition=condition)


def change(folder: Path, file: str, edit: Callable[[dict[str, Any]], None]) -> Path:
    """Edit each JSON object of a file."""
    path = folder / file
    items = path.read_text().split("\n{") if file == EPISODES_FILE else [path.read_text()]
    edited = []
    for at, text in enumerate(items):
        item = json.loads(text if at == 0 else "{" + text)
        edit(item)
        edited.append(json.dumps(item))
    path.write_text("\n".join(edited) + "\n")
    return folder


def test_successful_traces_of_two_agents(tmp_path: Path) -> None:
    # Both pay 7, which solves the task that asks for 7 and not the one that asks for 30.
    traces = read(run(tmp_path / "a", Payer(), trials=2), run(tmp_path / "b", Looker()))
    assert {task: len(found) for task, found in traces.successes.items()} == {"pay-7": 3}
    assert [(one.agent, one.trial, sorted(one.tools)) for one in traces.successes["pay-7"]] == [
        ("looker", 0, ["accounts.balance", "pay"]),
        ("payer", 0, ["pay"]),
        ("payer", 1, ["pay"]),
    ]
    assert traces.attempts == {
        "pay-7": {"payer": 2, "looker": 1},
        "pay-30": {"payer": 2, "looker": 1},
    }
    assert traces.agents == {"payer", "looker"}
    assert [(one.agent, one.episodes, one.successful) for one in traces.sources] == [
        ("payer", 4, 2),
        ("looker", 2, 1),
    ]
    assert all(len(one.config_hash) == 16 for one in traces.sources)


def test_a_folder_of_run_directories_is_read_like_its_runs(tmp_path: Path) -> None:
    run(tmp_path / "runs" / "a", Payer())
    run(tmp_path / "runs" / "b", Looker())
    assert read(tmp_path / "runs").agents == {"payer", "looker"}


def test_a_run_may_hold_other_conditions_beside(tmp_path: Path) -> None:
    both = run(tmp_path / "both", Payer(), envs=(CLEAN, INFEASIBLE))
    assert len(read(both).successes["pay-7"]) == 1


def test_success_is_judged_again_and_not_believed(tmp_path: Path) -> None:
    def claim(record: dict[str, Any]) -> None:
        record["episode"]["success"] = True

    traces = read(change(run(tmp_path / "a", Payer()), EPISODES_FILE, claim))
    assert list(traces.successes) == ["pay-7"]
    assert traces.sources[0].disputed == 1


def test_invalid_episodes_are_no_attempts(tmp_path: Path) -> None:
    def break_down(record: dict[str, Any]) -> None:
        record["episode"]["valid"] = False

    traces = read(change(run(tmp_path / "a", Payer()), EPISODES_FILE, break_down))
    assert (traces.successes, traces.attempts) == ({}, {})


def test_successes_without_the_masked_tools_are_witnesses(tmp_path: Path) -> None:
    class Idle(Payer):
        name = "idle"

        def act(self, observation: Observation, memory: Any) -> tuple[Any, Any]:
            return ToolCalls(()), memory

    assert read(run(tmp_path / "x", Idle(), envs=(INFEASIBLE,)), condition="infeasible").successes == {}

    def restate(record: dict[str, Any]) -> None:
        record["trace"]["condition"] = "infeasible"

    # As if some remaining tool had paid: a successful trace, called one of the infeasible condition.
    witness = change(run(tmp_path / "a", Payer()), EPISODES_FILE, restate)
    traces = read(witness, condition="infeasible")
    assert [one.is_witness for one in traces.successes["pay-7"]] == [True]
    assert traces.attempts == {}, "a witness's agent does not count"
    assert traces.sources[0].kind == "refutation"


def test_reference_solutions_are_one_more_agents_traces() -> None:
    traces = reference_traces(SUITE, TASKS.values(), Oracle())
    assert {task: [one.agent for one in found] for task, found in traces.successes.items()} == {
        "pay-7": ["oracle"],
        "pay-30": ["oracle"],
        "two-turns": ["oracle"],
        "idle": ["oracle"],
    }
    assert traces.attempts["two-turns"] == {"oracle": 1}


def _other_suite(record: dict[str, Any]) -> None:
    record["trace"]["suite"] = "Elsewhere"


def _other_condition(record: dict[str, Any]) -> None:
    record["trace"]["condition"] = "infeasible"


def _other_version(record: dict[str, Any]) -> None:
    record["trace"]["version"] = 2


def _other_task(record: dict[str, Any]) -> None:
    record["trace"]["task_id"] = "pay-77"


def _other_tool(record: dict[str, Any]) -> None:
    record["trace"]["steps"][0]["action"]["calls"][0]["name"] = "payy"


@pytest.mark.parametrize(
    ("edit", "complaint"),
    [
        (_other_suite, r"/a holds no episode of Toy-clean; it holds Elsewhere-clean"),
        (_other_condition, r"/a holds no episode of Toy-clean; it holds Toy-infeasible"),
        (_other_version, r"line 1: .*trace version 2 cannot be read; this toolenv reads 1"),
        (_other_task, r"unknown task id 'pay-77' in suite Toy; did you mean 'pay-7'"),
        (_other_tool, r"unknown tool 'payy' in the pool of task 'pay-7'; did you mean 'pay'"),
    ],
)
def test_traces_of_something_else_are_named_and_refused(
    tmp_path: Path, edit: Callable[[dict[str, Any]], None], complaint: str
) -> None:
    folder = change(run(tmp_path / "a", Payer()), EPISODES_FILE, edit)
    with pytest.raises(StoreError, match=complaint):
        read(folder)


def test_a_run_on_other_masks_is_refused(tmp_path: Path) -> None:
    def other_masks(header: dict[str, Any]) -> None:
        header["manifests"][CLEAN] = "sha256:0"

    folder = change(run(tmp_path / "a", Payer()), RUN_FILE, other_masks)
    with pytest.raises(StoreError, match=r"was run with the mask manifest sha256:0.*of another version"):
        read(folder)


def test_a_run_on_other_data_is_refused(tmp_path: Path) -> None:
    folder = run(tmp_path / "a", Payer())
    with pytest.raises(StoreError, match=r"was run on the data none, and the suite's data are newer"):
        read(folder, data="newer")


def test_a_run_with_masks_of_its_own_is_checked_against_their_file(tmp_path: Path) -> None:
    file = tmp_path / "masks.json"
    masks = replace(SUITE.masks("default"), provenance="others")
    masks.write(file)
    folder = run(tmp_path / "a", Payer(), env_options={"masks": str(file)})
    assert "pay-7" in read(folder).successes
    MaskManifest.write(replace(masks, provenance="changed since"), file)
    with pytest.raises(StoreError, match=r"masks\.json is now sha256:"):
        read(folder)
    file.unlink()
    with pytest.raises(StoreError, match=r"the masks it was run with cannot be read: no mask manifest"):
        read(folder)


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is no run directory and holds none"):
        read(tmp_path)


def test_a_run_given_twice_is_refused(tmp_path: Path) -> None:
    first = run(tmp_path / "a", Payer())
    assert len(read(first, first).successes["pay-7"]) == 1, "the same folder is read once"
    shutil.copytree(first, tmp_path / "copy")
    with pytest.raises(UsageError, match=r"/copy and .*/a hold the same run"):
        read(first, tmp_path / "copy")


def test_settings_of_the_suites_own_have_to_agree(tmp_path: Path) -> None:
    def set_user(header: dict[str, Any]) -> None:
        header["config"]["env_options"] = {"user": "scripted", "subset": "default", "max_turns": 3}

    plain = run(tmp_path / "a", Payer())
    talking = change(run(tmp_path / "b", Looker()), RUN_FILE, set_user)
    assert suite_options([plain]) == {}
    assert suite_options([talking]) == {"user": "scripted"}
    with pytest.raises(UsageError, match=r"was run with the suite's settings \{'user': 'scripted'\}"):
        suite_options([plain, talking])


def test_every_complaint_is_one_of_ours(tmp_path: Path) -> None:
    def gone(header: dict[str, Any]) -> None:
        header["config"]["env_options"] = {"subset": "defaul"}

    folder = change(run(tmp_path / "a", Payer()), RUN_FILE, gone)
    with pytest.raises(ToolEnvError, match=r"unknown subset 'defaul'.*did you mean 'default'"):
        read(folder)
