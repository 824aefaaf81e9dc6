"""Corrections files, and what the engine makes of them: ids, masks, flags, and what is said of it."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.corrections import REASON, SOURCE, entry, write_corrections
from tests.support.toy import PaidReference, Toy
from toolenv.agents.oracle import Oracle
from toolenv.corrections import Correction, Corrections, read_corrections
from toolenv.errors import DataCorruptError, DataMissingError, UnknownNameError, UsageError
from toolenv.feasibility.building import BuildSettings, assemble
from toolenv.feasibility.corrected import corrected_tasks
from toolenv.feasibility.manifest import MaskManifest
from toolenv.feasibility.reference_masks import reference_masks
from toolenv.feasibility.successful_traces import Traces
from toolenv.hazards import Instance
from toolenv.hazards.manifest import HazardManifest, ProvedInstance
from toolenv.masks import OTHER_TOOLS, manifest_for
from toolenv.source import make_source
from toolenv.suite import configured, corrections_for
from toolenv.task import Task

KNOWN = ("live_x", "live_y", "live_z")
FIELD_094 = {
    "live_x": entry("replace", {"cuisine": ["Korean"]}),
    "live_y": entry("widen", {"cuisine": ["Italian"]}),
    "live_z": entry("exclude"),
}


def read(path: Path, **more: Any) -> Corrections:
    return read_corrections(path, "BFCL", KNOWN, "sha256:data", **more)


# ---- the file ----


def test_field_094_a_file_replaces_widens_and_excludes_by_id(tmp_path: Path) -> None:
    path = write_corrections(tmp_path / "fixes.json", "BFCL", FIELD_094, data="sha256:data")
    found = read(path)
    where = f"{path}, live_x"
    assert found.by_task["live_x"] == Correction("replace", REASON, SOURCE, {"cuisine": ["Korean"]}, where)
    assert [one.action for one in found.by_task.values()] == ["replace", "widen", "exclude"]
    assert [found.excludes(task_id) for task_id in (*KNOWN, "other")] == [False, False, True, False]
    assert found.within(["live_x", "live_z"]) == {
        "hash": found.hash,
        "file": str(path),
        "replace": ["live_x"],
        "widen": [],
        "exclude": {"live_z": f"{REASON} ({SOURCE})"},
    }


def test_field_094_the_hash_is_of_the_content_and_of_all_of_it(tmp_path: Path) -> None:
    first = read(write_corrections(tmp_path / "a.json", "BFCL", FIELD_094))
    shuffled = json.dumps(json.loads((tmp_path / "a.json").read_text()), indent=3, sort_keys=True)
    (tmp_path / "b.json").write_text(shuffled)
    assert read(tmp_path / "b.json") == first
    assert hash(read(tmp_path / "b.json")) == hash(first)
    for field, value in (("gold", {"cuisine": ["Thai"]}), ("reason", "a typo"), ("source", "me")):
        changed = {**FIELD_094, "live_x": {**FIELD_094["live_x"], field: value}}
        assert read(write_corrections(tmp_path / "c.json", "BFCL", changed)).hash != first.hash
    fewer = {name: one for name, one in FIELD_094.items() if name != "live_z"}
    assert read(write_corrections(tmp_path / "c.json", "BFCL", fewer)) != first


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is not JSON"),
        ("[]", "version 'list', expected 1"),
        ('{"version": 2}', "version 2, expected 1"),
        ('{"version": 1, "version": 1}', "'version' stands twice"),
        (
            '{"version": 1, "suite": "BFCL", "corrections": {"live_x": {}, "live_x": {}}}',
            "'live_x' stands twice",
        ),
        ('{"version": 1, "suite": "BFCL", "corrections": {"live_x": NaN}}', "NaN is no JSON value"),
        ('{"version": 1, "suite": "\\ud800"}', "is not JSON"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_a_file_that_is_none_is_named(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "fixes.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataCorruptError, match=problem) as raised:
        read(path)
    assert str(path) in str(raised.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataMissingError, match=r"no corrections at .*fixes\.json"):
        read(tmp_path / "fixes.json")
    with pytest.raises(DataMissingError, match="cannot be read"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("corrections", "more", "error", "problem"),
    [
        ({}, {"suite": "TauBench"}, DataCorruptError, "suite 'TauBench', not 'BFCL'"),
        ({}, {"data": "sha256:old"}, DataCorruptError, "data 'sha256:old', and these are sha256:data"),
        ({}, {"notes": 1}, UnknownNameError, "unknown field 'notes'"),
        ({}, {"corrections": []}, DataCorruptError, 'expected "corrections"'),
        ({"live_w": entry("exclude")}, {}, UnknownNameError, "unknown task id 'live_w'.*did you mean 'live_"),
        ({"live_x": "exclude"}, {}, DataCorruptError, "live_x: expected an object"),
        ({"live_x": {**entry("exclude"), "golf": 1}}, {}, UnknownNameError, "live_x; did you mean 'gold'"),
        ({"live_x": entry("exclud")}, {}, UnknownNameError, "live_x; did you mean 'exclude'"),
        ({"live_x": entry("drop", 1)}, {}, UnknownNameError, "known: exclude, replace, widen"),
        ({"live_x": {**entry("exclude"), "action": ["exclude"]}}, {}, UnknownNameError, "unknown action"),
        ({"live_x": entry("replace")}, {}, DataCorruptError, "a gold belongs to replace"),
        ({"live_x": entry("exclude", {"a": []})}, {}, DataCorruptError, "no gold belongs to exclude"),
        ({"live_x": {**entry("exclude"), "reason": " "}}, {}, DataCorruptError, "reason is ' '"),
        ({"live_x": {"action": "exclude", "reason": "x"}}, {}, DataCorruptError, "source is None"),
    ],
)
def test_a_bad_part_is_named(
    corrections: dict[str, Any], more: dict[str, Any], error: type[Exception], problem: str, tmp_path: Path
) -> None:
    path = write_corrections(tmp_path / "fixes.json", "BFCL", corrections, **more)
    with pytest.raises(error, match=problem) as raised:
        read(path)
    assert str(path) in str(raised.value)


def test_an_action_that_the_suite_does_not_have_is_refused(tmp_path: Path) -> None:
    path = write_corrections(tmp_path / "fixes.json", "BFCL", FIELD_094)
    with pytest.raises(UsageError, match="suite BFCL cannot replace, only exclude"):
        read(path, actions=("exclude",))


# ---- a suite with corrections ----


def pays(task: Task, correction: Correction) -> Task:
    """Another amount to pay."""
    return replace(task, reference=PaidReference(100 - correction.gold))


class CorrectableToy(Toy):
    """The toy suite; ``gold`` is the amount to pay from A1."""

    options = ("corrections",)

    def __init__(self, corrections: Corrections | None = None) -> None:
        super().__init__()
        self.corrections = corrections

    def configured(self, corrections: str | Path | None = None) -> CorrectableToy:
        return CorrectableToy(corrections_for(CorrectableToy(), corrections))

    def tasks(self, subset: str) -> tuple[Task, ...]:
        return _tasks(self.corrections)


@cache
def _tasks(corrections: Corrections | None) -> tuple[Task, ...]:
    shipped = Toy().tasks("default")
    return shipped if corrections is None else corrected_tasks(Toy(), shipped, corrections, pays)


TOY = {
    "pay-7": entry("replace", 0),
    "pay-30": entry("replace", 20),
    "two-turns": entry("exclude"),
    "idle": entry("replace", 1),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_corrections(tmp_path / "fixes.json", "Toy", TOY)


@pytest.fixture
def suite(path: Path) -> CorrectableToy:
    return CorrectableToy().configured(path)


def test_without_corrections_the_data_set_s_own_answers_hold() -> None:
    assert configured(CorrectableToy(), {"corrections": None}).tasks("default") == Toy().tasks("default")
    source = make_source(CorrectableToy())
    assert source.corrections == {}
    assert source.manifest_hash == make_source(Toy()).manifest_hash


def test_field_094_excluded_tasks_are_gone_and_the_source_says_which_and_why(suite: CorrectableToy) -> None:
    for condition, left in (("clean", ("pay-7", "pay-30", "idle")), ("infeasible", ("pay-30",))):
        source = make_source(suite, condition)
        assert source.task_ids == left
        assert source.corrections["exclude"] == {"two-turns": f"{REASON} ({SOURCE})"}
        assert source.corrections["replace"] == ["pay-7", "pay-30", "idle"]
        with pytest.raises(
            UsageError, match=r"'two-turns': left out by .*fixes\.json: dish is Korean \(http"
        ):
            make_source(suite, condition, tasks="two-turns")


def test_a_mask_stays_only_where_the_tools_do(suite: CorrectableToy) -> None:
    """pay-7 needs no tool any more and idle one that it did not; pay-30 only pays another amount."""
    manifest = manifest_for(suite, "default")
    assert manifest.masks == {"pay-30": ("pay",)}
    assert manifest.excluded["pay-7"] == OTHER_TOOLS
    assert manifest.excluded["idle"] == "corrected; before that: no tool is used"
    assert manifest.excluded["two-turns"].endswith(f"{REASON} ({SOURCE})")
    assert manifest.built == {"corrections": suite.corrections and suite.corrections.hash}
    assert manifest.hash != Toy().masks("default").hash
    with pytest.raises(UsageError, match=f"'pay-7' is not in Toy-infeasible: {OTHER_TOOLS}"):
        make_source(suite, "infeasible", tasks="pay-7")


def test_flags_are_of_the_corrected_answer(suite: CorrectableToy) -> None:
    """Doing nothing passes pay-7, where nothing is to be paid now, and idle, which asks to pay, no more."""
    flags = {task_id: make_source(suite).get(task_id).flags for task_id in ("pay-7", "pay-30", "idle")}
    assert flags == {
        "pay-7": {"corrected", "corrected_tools", "do_nothing_passes"},
        "pay-30": {"corrected"},
        "idle": {"corrected", "corrected_tools"},
    }
    assert make_source(CorrectableToy()).get("idle").flags == {"do_nothing_passes"}


def test_the_other_content_of_the_same_file_is_another_run(path: Path, suite: CorrectableToy) -> None:
    before = make_source(suite)
    write_corrections(path, "Toy", {**TOY, "pay-30": entry("replace", 21)})
    after = make_source(CorrectableToy().configured(path))
    assert before.corrections["hash"] != after.corrections["hash"]
    assert before.manifest_hash != after.manifest_hash
    assert before.get("pay-30") != after.get("pay-30")


def masks_of(**changes: Any) -> MaskManifest:
    masks = {"pay-7": ("pay",), "pay-30": ("pay", "crash"), "two-turns": ("pay",)}
    fields = {"masks": masks, "evidence": {"pay-30": {"status": "certified"}}, **changes}
    return MaskManifest("Toy", "default", "none", "by hand", **fields)


def test_masks_in_a_file_are_not_used_blindly_either(suite: CorrectableToy, tmp_path: Path) -> None:
    masks_of().write(tmp_path / "masks.json")
    source = make_source(suite, "infeasible", masks=tmp_path / "masks.json")
    assert {task_id: source.get(task_id).mask for task_id in source.task_ids} == {"pay-30": {"pay", "crash"}}
    assert manifest_for(suite, "default", tmp_path / "masks.json").evidence == {}


def test_masks_that_were_made_for_the_corrections_are_used_as_they_are(
    suite: CorrectableToy, tmp_path: Path
) -> None:
    assert suite.corrections is not None
    made_for = masks_of(masks={"idle": ("pay",)}, built={"corrections": suite.corrections.hash})
    made_for.write(tmp_path / "masks.json")
    source = make_source(suite, "infeasible", masks=tmp_path / "masks.json")
    assert source.task_ids == ("idle",)
    assert source.manifest_hash == made_for.hash


def test_new_masks_name_the_corrections_they_are_made_for(suite: CorrectableToy) -> None:
    assert suite.corrections is not None
    made = reference_masks(suite, "default", Oracle(), "none", "a test")
    assert made.built == {"corrections": suite.corrections.hash}
    assert made.masks == {"pay-30": ("pay",), "idle": ("pay",)}
    built = assemble(suite, "default", "none", (), Traces(), BuildSettings())
    assert built.built["corrections"] == suite.corrections.hash
    assert "corrections" not in assemble(Toy(), "default", "none", (), Traces(), BuildSettings()).built
    assert reference_masks(Toy(), "default", Oracle(), "none", "a test").built == {}


def test_masks_that_were_made_for_other_corrections_are_refused(
    suite: CorrectableToy, tmp_path: Path
) -> None:
    masks_of(built={"corrections": "sha256:other"}).write(tmp_path / "masks.json")
    for one in (suite, CorrectableToy()):
        with pytest.raises(UsageError, match=r"masks\.json: masks made for the corrections sha256:other"):
            make_source(one, "infeasible", masks=tmp_path / "masks.json")


def test_a_hazard_proved_for_the_data_set_s_answer_is_not_armed_on_a_corrected_task(
    suite: CorrectableToy, path: Path, tmp_path: Path
) -> None:
    def proved(task_id: str) -> tuple[ProvedInstance, ...]:
        return (ProvedInstance(Instance(task_id, "output-drift", "wrapping", "pay", 0, {}), (), 0),)

    tasks = {"pay-7": proved("pay-7"), "pay-30": proved("pay-30")}
    (tmp_path / "hazards").mkdir()
    HazardManifest("Toy", "output-drift", "none", "by hand", tasks).write(
        tmp_path / "hazards" / "output-drift.json"
    )
    write_corrections(path, "Toy", {"pay-30": entry("replace", 20)})
    suite = CorrectableToy().configured(path)
    suite.hazards = tmp_path / "hazards"  # type: ignore[attr-defined]
    source = make_source(suite, "output-drift")
    assert source.task_ids == ("pay-7",)
    assert source.corrections["replace"] == ["pay-30"]
    with pytest.raises(UsageError, match="'pay-30' is not in Toy-output-drift: its answer is corrected"):
        make_source(suite, "output-drift", tasks="pay-30")
