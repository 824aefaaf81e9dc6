"""Mask manifests that would label tasks falsely are refused, with the task and the value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.depot import DepotSuite
from tests.support.toy import Toy
from toolenv.agents.registry import make_agent
from toolenv.errors import DataCorruptError, MasksMissingError
from toolenv.feasibility.manifest import MaskManifest
from toolenv.hashed_json import sealed, write_json
from toolenv.masks import manifest_for, unmasked
from toolenv.recoverability.building import Policies, arm_tasks, manifests
from toolenv.runner.exclusions import NO_MASK, exclusions
from toolenv.source import make_source

GOOD: dict[str, Any] = {
    "version": 1,
    "suite": "Toy",
    "subset": "default",
    "data": "none",
    "provenance": "by hand",
    "masks": {"pay-7": ["pay"]},
    "excluded": {"idle": "no tool is used"},
    "flags": {"idle": ["do_nothing_passes"]},
}
SHIPPED = sorted((Path(__file__).parents[2] / "envs_registry").glob("*/masks/*.json"))
POOL = [tool.name for tool in Toy().tasks("default")[0].tools]


def refused(tmp_path: Path, content: Any) -> str:
    path = tmp_path / "masks.json"
    write_json(path, sealed(content) if isinstance(content, dict) else content)
    with pytest.raises(DataCorruptError, match=r"masks\.json: ") as raised:
        manifest_for(Toy(), "default", path)
    return str(raised.value)


def test_the_manifest_that_the_others_differ_from_is_good(tmp_path: Path) -> None:
    write_json(tmp_path / "masks.json", sealed(GOOD))
    assert manifest_for(Toy(), "default", tmp_path / "masks.json").masks == {"pay-7": ("pay",)}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"masks": {"pay-7": []}}, "the mask of task 'pay-7' is empty"),
        ({"masks": {"pay-7": POOL}}, "task 'pay-7' masks its whole pool"),
        ({"masks": {"pay-7": "pay"}}, "the mask of task 'pay-7' is 'pay', expected a list of names"),
        ({"masks": {"pay-7": [3]}}, "the mask of task 'pay-7' is [3], expected a list of names"),
        ({"masks": {"idle": ["pay"]}}, "task 'idle' is masked and excluded at once"),
        ({"masks": ["pay-7"]}, "'masks' is ['pay-7'], expected an object"),
        ({"suite": 3}, "'suite' is 3, expected a string"),
        ({"data": "f00"}, "masks made for data 'f00'; Toy here has 'none'"),
        (
            {"flags": {"idle": ["do_nothing_pases"]}},
            "unknown flag 'do_nothing_pases' in task 'idle'; did",
        ),
        ({"flags": {"idle": None}}, "the flags of task 'idle' is None, expected a list of names"),
        ({"excluded": {"idle": 1}}, "excluded: 'idle' is 1, expected a string"),
        ({"evidence": {"pay-7": "certified"}}, "evidence: 'pay-7' is 'certified', expected an object"),
        (
            {"evidence": {"pay-7": {"status": "certifed"}}},
            "unknown status 'certifed' in the evidence of task 'pay-7'; did you mean 'certified'",
        ),
        ({"evidence": {"pay-7": {"status": []}}}, "unknown status [] in the evidence of task 'pay-7'"),
        ({"built": []}, "'built' is [], expected an object"),
        ({"built": {"corrections": 3}}, "built: 'corrections' is 3, expected a string"),
        ({"masks": {"pay-70": ["pay"]}}, "unknown task id 'pay-70' in suite Toy; did you mean 'pay-7'"),
        ({"excluded": {"idel": "x"}}, "unknown task id 'idel' in suite Toy; did you mean 'idle'"),
        ({"flags": {"idel": []}}, "unknown task id 'idel' in suite Toy; did you mean 'idle'"),
        ({"evidence": {"pay-70": {}}}, "unknown task id 'pay-70' in suite Toy; did you mean 'pay-7'"),
        ({"provenance": "\ud800"}, "holds text that no file can hold"),
    ],
)
def test_false_content_is_named(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    path = tmp_path / "masks.json"
    if changes.get("provenance"):  # sealing needs a hash, which such text cannot have
        path.write_text(json.dumps({**GOOD, **changes}))
        with pytest.raises(DataCorruptError, match=said):
            MaskManifest.read(path)
    else:
        assert said in refused(tmp_path, {**GOOD, **changes})


@pytest.mark.parametrize("field", [name for name in GOOD if name != "version"])
def test_a_missing_field_is_named(tmp_path: Path, field: str) -> None:
    content = {name: value for name, value in GOOD.items() if name != field}
    assert f"{field!r} is missing" in refused(tmp_path, content)


def test_a_list_is_no_manifest(tmp_path: Path) -> None:
    assert "a JSON object is expected, not a list" in refused(tmp_path, ["pay-7"])


def test_a_folder_is_no_manifest(tmp_path: Path) -> None:
    with pytest.raises(DataCorruptError, match=r"is no mask manifest: it cannot be read \(Is a directory\)"):
        manifest_for(Toy(), "default", tmp_path)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_every_manifest_shipped_can_be_read(path: Path) -> None:
    manifest = MaskManifest.read(path)
    assert manifest.masks.keys() | manifest.excluded.keys()


def test_every_suite_ships_manifests() -> None:
    suites = {path.parts[-3] for path in SHIPPED}
    assert suites >= {"api_bank", "bfcl", "stable_tool_bench", "tau_bench"}


def test_tasks_that_a_manifest_does_not_name_are_left_out_and_counted(tmp_path: Path) -> None:
    """The toy suite has four tasks; two are in no part of this file."""
    path = str(tmp_path / "masks.json")
    write_json(Path(path), sealed(GOOD))
    found = exclusions(make_source(Toy(), "infeasible", masks=path), {"masks": path})
    others = tuple(task.id for task in Toy().tasks("default") if task.id not in ("pay-7", "idle"))
    assert len(others) == 2
    assert found.excluded == {NO_MASK: others, "no tool is used": ("idle",)}


class Unmasked(DepotSuite):
    """A suite whose manifest file is not made yet; its tasks are those of ``Depot``."""

    def masks(self, subset: str) -> MaskManifest:
        return MaskManifest.read(Path("nowhere") / "masks.json")


def test_what_needs_no_masks_does_without_the_file(tmp_path: Path) -> None:
    every = list(DepotSuite().tasks("default"))
    assert make_source(Unmasked()).task_ids == tuple(task.id for task in every)
    path = tmp_path / "output-drift.json"
    policies = Policies(
        make_agent("oracle"),
        make_agent("recovery:naive"),
        (make_agent("recovery:trusting"), make_agent("recovery")),
    )
    manifests(DepotSuite(), "none", "by test", arm_tasks(DepotSuite(), every, policies), 1)[
        "output-drift"
    ].write(path)
    armed = make_source(Unmasked(), "output-drift", hazards=path)
    assert (armed.task_ids, armed.data) == (tuple(task.id for task in every), "none")


@pytest.mark.parametrize("condition", ["infeasible", "mixed"])
def test_what_needs_masks_is_refused_without_the_file(condition: str) -> None:
    with pytest.raises(
        MasksMissingError, match=r"nowhere.masks\.json, which Depot-infeasible and Depot-mixed"
    ):
        make_source(Unmasked(), condition)


def test_runs_without_masks_are_of_one_version_as_long_as_the_tasks_are() -> None:
    first, again = (make_source(Unmasked()).manifest_hash for _ in range(2))
    assert first == again == unmasked(Unmasked(), "default").hash
    assert first != make_source(DepotSuite()).manifest_hash
