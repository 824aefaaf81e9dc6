"""Subsets, tasks, masks, and what the suite says about its own data."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import envs_registry
from envs_registry.tau_bench import SUITE, TauBench
from envs_registry.tau_bench.splits import SUBSETS
from envs_registry.tau_bench.suite import MASKS
from tests.envs_registry.tau_bench.test_reward import DO_NOTHING_PASSES
from tests.support.corrections import entry, write_corrections
from toolenv.agents.noop import make as make_noop
from toolenv.agents.oracle import Oracle
from toolenv.cli.build import PROVENANCE
from toolenv.cli.certify import planner_of
from toolenv.cli.validate import app
from toolenv.errors import DataCorruptError, DataMissingError, UnknownNameError, UsageError
from toolenv.feasibility.certificates.settle import settled
from toolenv.feasibility.manifest import MaskManifest
from toolenv.feasibility.reference_masks import reference_masks
from toolenv.source import make_source
from toolenv.validation import summarise, validate_source

SPLIT_MANIFESTS = ("retail", "airline", "retail_train", "retail_dev")


@pytest.mark.parametrize(
    ("subset", "size"),
    [("default", 165), ("retail", 115), ("airline", 50), ("retail_train", 500), ("retail_dev", 20)],
)
def test_subsets(subset: str, size: int) -> None:
    """NOTES.md, "Counts"."""
    tasks = SUITE.tasks(subset)
    assert len({task.id for task in tasks}) == size
    assert SUITE.tasks(subset)[0] is tasks[0]
    assert tuple(SUBSETS) == SUITE.subsets


def test_a_task_opens_with_the_policy_and_the_instruction(tau_folder: Path) -> None:
    policy = (tau_folder / "tau_bench/envs/retail/wiki.md").read_text(encoding="utf-8")
    raw = json.loads((tau_folder / "derived/retail_tasks_test.json").read_text(encoding="utf-8"))
    task = SUITE.tasks("retail")[0]
    assert task.id == "retail_test_0"
    assert [(message.role, message.content) for message in task.messages] == [
        ("system", policy),
        ("user", raw[0]["instruction"]),
    ]
    assert task.terminal_tools == {"transfer_to_human_agents"}


@pytest.mark.parametrize(("subset", "size"), [("retail", 16), ("airline", 14)])
def test_the_pool_is_the_same_for_every_task_of_a_domain(subset: str, size: int, tau_folder: Path) -> None:
    tasks = SUITE.tasks(subset)
    assert len(tasks[0].tools) == size
    assert all(task.tools is tasks[0].tools for task in tasks)
    shipped = json.loads((tau_folder / f"derived/{subset}_tools.json").read_text(encoding="utf-8"))
    assert [tool.to_openai() for tool in tasks[0].tools] == shipped


def test_without_data_the_command_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TOOLENV_DATA", str(tmp_path))
    with pytest.raises(DataMissingError, match="toolenv data pull tau-bench"):
        TauBench().tasks("default")


# ---- masks ----


@pytest.mark.parametrize("subset", SPLIT_MANIFESTS)
def test_the_manifests_are_what_build_makes(subset: str) -> None:
    data = envs_registry.data_store().source("tau-bench").manifest_hash
    plain = reference_masks(SUITE, subset, Oracle(), data, PROVENANCE)
    built, _ = settled(SUITE, planner_of(SUITE), plain)
    assert built == MaskManifest.read(MASKS / f"{subset}.json")


def test_what_doing_nothing_solves_is_not_called_infeasible() -> None:
    """Of the 26 tasks that reward doing nothing (NOTES.md), 14 use a tool, and none is left with a mask."""
    manifest = SUITE.masks("default")
    refuted = {task for task, known in manifest.evidence.items() if known["status"] == "refuted"}
    assert len(refuted) == 14
    assert refuted < DO_NOTHING_PASSES
    assert DO_NOTHING_PASSES.isdisjoint(manifest.masks)
    assert len(manifest.masks) == 165 - 26 - 1  # and retail_test_57, which uses no tool


def test_how_sure_each_label_is_stands_with_its_mask() -> None:
    manifest = SUITE.masks("default")
    status = Counter(manifest.evidence[task]["status"] for task in manifest.masks)
    assert status == {"certified": 135, "unknown": 3}


@pytest.mark.parametrize("subset", SUBSETS)
def test_a_manifest_holds_every_task_once(subset: str) -> None:
    manifest = SUITE.masks(subset)
    assert sorted([*manifest.masks, *manifest.excluded]) == sorted(task.id for task in SUITE.tasks(subset))
    assert (manifest.suite, manifest.subset) == ("TauBench", subset)


def test_inert_tools_are_never_critical() -> None:
    """Ground truths use two of them (NOTES.md); neither changes anything."""
    used = {
        action.name
        for task in SUITE.tasks("default")
        for action in task.reference.actions  # type: ignore[attr-defined]
    }
    assert {"calculate", "transfer_to_human_agents"} <= used
    masked = {tool for tools in SUITE.masks("default").masks.values() for tool in tools}
    assert masked.isdisjoint(SUITE.inert_tools)
    assert masked <= used


def test_a_call_that_fails_is_not_critical() -> None:
    """retail_test_36: the e-mail is unknown, the name and zip code are not; _12: the return is refused."""
    masks = reference_masks(SUITE, "retail", Oracle(), "none", "a test").masks
    assert "find_user_id_by_email" not in masks["retail_test_36"]
    assert "find_user_id_by_name_zip" in masks["retail_test_36"]
    assert "return_delivered_order_items" not in masks["retail_test_12"]


def test_a_lookup_of_what_the_query_holds_is_flagged() -> None:
    manifest = SUITE.masks("retail")
    tasks = {task.id: task for task in SUITE.tasks("retail")}
    for task_id, tools in manifest.masks.items():
        task = tasks[task_id]
        known = task.metadata["user_id"] in task.messages[-1].content
        looked_up = not SUITE.lookup_tools.isdisjoint(tools)
        assert ("query_grounded" in manifest.flags.get(task_id, ())) is (known and looked_up)
    # retail_test_57 names its user, but is left out: it uses nothing but get_* of nothing.
    assert sum("query_grounded" in flags for flags in manifest.flags.values()) == 24


def test_flags_of_tasks_that_doing_nothing_passes() -> None:
    flags = SUITE.masks("default").flags
    assert {task for task, found in flags.items() if "do_nothing_passes" in found} == DO_NOTHING_PASSES


def test_field_097_infeasible_is_what_a_mask_makes_and_broken_is_something_else() -> None:
    """No reference fails, so no task is flagged as one that can never pass; all are feasible unmasked."""
    flags = Counter(flag for found in SUITE.masks("default").flags.values() for flag in found)
    assert "can_never_pass" not in flags
    assert {task.label for task in SUITE.tasks("default")} == {"feasible"}
    masked = make_source(SUITE, "infeasible")
    assert all(masked.get(task_id).mask for task_id in masked.task_ids)


def test_field_097_a_broken_task_is_told_from_an_infeasible_one(tmp_path: Path) -> None:
    """A task whose solution cannot be told to its user: a comma is taken out of what the agent says."""
    entries = {"retail_dev_0": entry("replace", {"outputs": ["1,000"]})}
    broken = write_corrections(tmp_path / "corrections.json", "TauBench", entries)
    suite = SUITE.configured(corrections=broken)
    manifest = reference_masks(suite, "retail_dev", Oracle(), "none", "a test")
    assert "retail_dev_0" not in manifest.masks
    assert manifest.excluded["retail_dev_0"].startswith("no successful trace")
    assert manifest.flags["retail_dev_0"] == ("can_never_pass", "corrected", "corrected_tools")
    assert suite.tasks("retail_dev")[0].label == "feasible"


# ---- validation ----


def test_validate_finds_nothing_wrong_in_any_condition() -> None:
    for condition in ("clean", "infeasible", "mixed"):
        source = make_source(SUITE, condition)
        found = summarise(validate_source(source, Oracle(), make_noop("", {})))
        assert found.findings == ()
        assert found.tasks == len(source.task_ids)


def test_field_063_validate_lists_ground_truth_calls_that_return_errors() -> None:
    """24 in retail (NOTES.md), none in airline, by task and source revision; such tasks are marked."""
    source = make_source(SUITE)
    found = summarise(validate_source(source, Oracle(), make_noop("", {})))
    failing = [one for one in found.warnings if "ground-truth call" in one.problem]
    assert len(failing) == 24
    assert failing[0].task_id == "retail_test_2"
    assert failing[0].problem == (
        'ground-truth call 2, get_product_details({"product_id": "6086499569"}), '
        "returns Error: product not found (upstream 59a200c6d575)"
    )
    assert found.flagged["reference_call_fails"] == len({one.task_id for one in failing}) == 19


def test_field_063_a_correction_overrides_the_ground_truth(tmp_path: Path) -> None:
    actions = _raw_task("retail_test_2")["actions"]
    actions[1]["kwargs"]["product_id"] = "9523456873"
    entries = {"retail_test_2": entry("replace", {"actions": actions})}
    path = write_corrections(tmp_path / "corrections.json", "TauBench", entries)
    corrected = SUITE.configured(corrections=str(path))
    shipped = SUITE.tasks("retail")
    tasks = corrected.tasks("retail")
    assert corrected.warnings(tasks[2]) == ()
    assert len(SUITE.warnings(shipped[2])) == 1
    assert tasks[3] is shipped[3]


def test_a_corrected_task_reads_the_same_in_both_modes(tmp_path: Path) -> None:
    """In user mode the simulated user brings the instruction, which the agent then does not see at once."""
    gold = {"instruction": "You are mia_li_3668. Thank them.", "actions": [], "outputs": ["welcome"]}
    entries = {"airline_test_0": entry("replace", gold), "airline_test_1": entry("exclude")}
    path = write_corrections(tmp_path / "corrections.json", "TauBench", entries)
    solo = SUITE.configured(corrections=path)
    talking = SUITE.configured(corrections=path, user="scripted")
    alone, asked = solo.tasks("airline")[0], talking.tasks("airline")[0]
    assert [message.role for message in asked.messages] == ["system"]
    assert alone.messages[1].content == asked.metadata["instruction"] == gold["instruction"]
    assert alone.reference == asked.reference != SUITE.tasks("airline")[0].reference
    assert alone.flags == asked.flags == {"corrected", "corrected_tools"}
    assert [task.id for task in talking.tasks("airline")][:2] == ["airline_test_0", "airline_test_2"]
    assert solo.tasks("airline")[0] is alone


def test_the_mask_of_a_corrected_task_stays_only_with_its_tools(tmp_path: Path) -> None:
    """retail_test_2's third call gets a product that exists; retail_test_0 needs nothing any more."""
    actions = _raw_task("retail_test_2")["actions"]
    actions[1]["kwargs"]["product_id"] = "9523456873"
    entries = {
        "retail_test_2": entry("replace", {"actions": actions}),
        "retail_test_0": entry("replace", {"actions": []}),
        "retail_test_1": entry("exclude"),
    }
    path = write_corrections(tmp_path / "corrections.json", "TauBench", entries)
    suite = SUITE.configured(corrections=path)
    official, corrected = make_source(SUITE, "infeasible"), make_source(suite, "infeasible")
    assert set(official.task_ids) - set(corrected.task_ids) == {"retail_test_0", "retail_test_1"}
    assert corrected.get("retail_test_2").mask == official.get("retail_test_2").mask
    for condition in ("clean", "infeasible", "mixed"):
        source = make_source(suite, condition, subset="retail")
        found = summarise(validate_source(source, Oracle(), make_noop("", {})))
        assert found.findings == ()


@pytest.mark.parametrize(
    ("task_id", "one", "error", "problem"),
    [
        ("retail_test_115", entry("exclude"), UnknownNameError, "retail_test_11"),
        ("retail_test_0", entry("widen", {"outputs": []}), UsageError, "cannot widen, only replace"),
        ("retail_test_0", entry("replace", {"output": []}), UnknownNameError, "did you mean 'outputs'"),
        ("retail_test_0", entry("replace", {}), DataCorruptError, "gold is"),
        ("retail_test_0", entry("replace", []), DataCorruptError, "gold is"),
        ("retail_test_0", entry("replace", {"outputs": "10"}), DataCorruptError, "'10', not a list"),
        ("retail_test_0", entry("replace", {"outputs": [10]}), DataCorruptError, "not a list of texts"),
        ("retail_test_0", entry("replace", {"actions": [{"name": "think"}]}), DataCorruptError, "kwargs"),
        (
            "retail_test_0",
            entry("replace", {"actions": [{"name": "thnk", "kwargs": {}}]}),
            UnknownNameError,
            "did you mean 'think'",
        ),
    ],
)
def test_bad_corrections_are_named(
    task_id: str, one: dict[str, Any], error: type[Exception], problem: str, tmp_path: Path
) -> None:
    path = write_corrections(tmp_path / "corrections.json", "TauBench", {task_id: one})
    with pytest.raises(error, match=problem) as raised:
        SUITE.configured(corrections=path).tasks("retail")
    assert str(path) in str(raised.value)


def _raw_task(task_id: str) -> Any:
    from envs_registry.tau_bench.load import data_folder

    split, _, index = task_id.rpartition("_")
    domain, _, name = split.partition("_")
    path = data_folder() / f"derived/{domain}_tasks_{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))[int(index)]


def test_field_114_disagreements_between_fields_are_warnings() -> None:
    """retail_test_64 is about harper_moore_6183; its ground truth changes another user's orders."""
    warnings = [(task.id, line) for task in SUITE.tasks("default") for line in SUITE.warnings(task)]
    disagreeing = {task_id: line for task_id, line in warnings if "ground-truth call" not in line}
    assert disagreeing == {
        "retail_test_64": "the ground truth acts for user james_sanchez_3954, "
        "the task is about harper_moore_6183 (upstream 59a200c6d575)"
    }


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (
            {
                "instruction": "You are mia_li_3668. Fly on May 12 from JFK to SEA.",
                "actions": [
                    {
                        "name": "search_direct_flight",
                        "kwargs": {"origin": "JFK", "destination": "SEA", "date": "2024-05-22"},
                    }
                ],
            },
            "the instruction is about 2024-05-12, the ground truth about 2024-05-22",
        ),
        ({"instruction": "You are chen_jackson_3290."}, "the instruction names user chen_jackson_3290"),
    ],
)
def test_field_114_dates_and_ids(fields: dict[str, object], problem: str, tmp_path: Path) -> None:
    """The field case: 2024-05-22 in the ground truth, 2024-05-12 in the words."""
    entries = {"airline_test_0": entry("replace", fields)}
    path = write_corrections(tmp_path / "corrections.json", "TauBench", entries)
    suite = SUITE.configured(corrections=path)
    assert any(problem in line for line in suite.warnings(suite.tasks("airline")[0]))


def test_the_command_line_lists_warnings_and_passes() -> None:
    arguments = ["validate", "ToolFeas/TauBench-clean-v0", "--tasks", "retail_test_0,retail_test_64"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    assert "2 tasks, 0 findings, 2 warnings" in result.output
    assert "warning: retail_test_64: data: the ground truth acts for user james_sanchez_3954" in result.output


def test_an_option_the_suite_does_not_have_is_named() -> None:
    with pytest.raises(UnknownNameError, match=r"option 'usr' in suite TauBench; did you mean 'user'"):
        envs_registry.make_env("TauBench", "clean", usr="scripted")
