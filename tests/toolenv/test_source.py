"""Choosing tasks and conditions."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from tests.support.toy import Toy, toy_source
from toolenv.errors import DataCorruptError, DataMissingError, UnknownNameError, UsageError
from toolenv.feasibility.manifest import MaskManifest


def test_conditions() -> None:
    assert toy_source("clean").task_ids == ("pay-7", "pay-30", "two-turns", "idle")
    assert toy_source("infeasible").task_ids == ("pay-7", "pay-30", "two-turns")
    assert toy_source("mixed").task_ids == ("pay-7", "pay-30", "two-turns")
    assert toy_source("infeasible").get("pay-7").label == "infeasible"
    assert toy_source("clean").get("idle").flags == {"do_nothing_passes"}


def test_tasks_are_chosen_by_list_or_text_in_that_order() -> None:
    assert toy_source(tasks=["pay-30", "pay-7"]).task_ids == ("pay-30", "pay-7")
    assert toy_source(tasks="pay-30, pay-7,pay-30").task_ids == ("pay-30", "pay-7")


def test_draws_cover_all_tasks_and_depend_on_the_seed_alone() -> None:
    source = toy_source()
    drawn = [source.draw(seed).id for seed in range(200)]
    assert set(drawn) == set(source.task_ids)
    assert drawn == [toy_source().draw(seed).id for seed in range(200)]


@pytest.mark.parametrize(
    ("condition", "keywords", "problem"),
    [
        ("clean", {"subset": "defalt"}, "did you mean 'default'"),
        ("clean", {"subset": "gone"}, "not available: it is gone"),
        ("klean", {}, "did you mean 'clean'"),
        ("mixed", {"prior": -0.1}, "prior=-0.1"),
        ("mixed", {"prior": float("nan")}, "prior=nan"),
        ("mixed", {"prior": True}, "prior=True"),
        ("clean", {"prior": 0.3}, "prior=0.3 has no meaning in Toy-clean, but in Toy-mixed"),
        ("infeasible", {"prior": 0.5}, "prior=0.5 has no meaning in Toy-infeasible"),
        ("clean", {"decoys": True}, "decoys have no meaning in Toy-clean, but in Toy-mixed"),
        ("clean", {"subset": "Default"}, "unknown subset 'Default' in suite Toy; did you mean 'default'"),
        ("clean", {"subset": ["default"]}, r"subset=\['default'\]: give one name of"),
        ("clean", {"tasks": 5}, "tasks=5: give ids in a list"),
        ("clean", {"tasks": [["pay-7"]]}, r"tasks=\[\['pay-7'\]\]: give ids in a list"),
        ("infeasible", {"masks": 3}, "masks=3: give a path"),
        ("clean", {"max_turns": 0}, "max_turns=0"),
        ("clean", {"max_turns": 2.5}, "max_turns=2.5"),
        ("clean", {"tasks": ""}, "names no task"),
        ("clean", {"tasks": "pay-8"}, "did you mean 'pay-7'"),
        ("infeasible", {"tasks": "idle"}, "not in Toy-infeasible: no tool is used"),
    ],
)
def test_bad_input_is_named(condition: str, keywords: dict[str, object], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        toy_source(condition, **keywords)


def manifest(**changes: object) -> MaskManifest:
    fields = {
        "suite": "Toy",
        "subset": "default",
        "data": "none",
        "provenance": "test",
        "masks": {"pay-7": ("crash",)},
    }
    return MaskManifest(**{**fields, **changes})  # type: ignore[arg-type]


def test_masks_of_one_s_own(tmp_path: Path) -> None:
    path = tmp_path / "masks.json"
    manifest().write(path)
    source = toy_source("infeasible", masks=path)
    assert source.task_ids == ("pay-7",)
    assert source.get("pay-7").mask == {"crash"}
    assert source.manifest_hash == MaskManifest.read(path).hash


def test_bad_manifests_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "masks.json"
    with pytest.raises(DataMissingError, match=r"masks\.json"):
        toy_source(masks=path)
    manifest(suite="BFCL").write(path)
    with pytest.raises(DataCorruptError, match="'BFCL', not 'Toy'"):
        toy_source(masks=path)
    manifest(masks={"pay-7": ("refund",)}).write(path)
    with pytest.raises(DataCorruptError, match=r"'refund'.*not in its pool"):
        toy_source(masks=path)
    manifest().write(path)
    path.write_text(path.read_text().replace("crash", "pay"))
    with pytest.raises(DataCorruptError, match="hash"):
        toy_source(masks=path)
    path.write_text("{}")
    with pytest.raises(DataCorruptError, match="version None"):
        toy_source(masks=path)


def test_an_unknown_task_is_named() -> None:
    with pytest.raises(UnknownNameError, match="Toy-clean"):
        toy_source().get("nope")


def test_kernels_are_shared_by_episodes_but_not_between_labels() -> None:
    source = toy_source("mixed")
    clean, masked = source.get("pay-7", 0), Toy().tasks("default")[0].masked(frozenset({"pay"}))
    assert source.kernel(masked) is source.kernel(masked)
    assert source.kernel(clean if not clean.mask else Toy().tasks("default")[0]) is not source.kernel(masked)


def test_numbers_of_numpy_are_numbers() -> None:
    source = toy_source("mixed", max_turns=numpy.int64(5), prior=numpy.float32(0.5))
    assert (source.max_turns, source.prior) == (5, 0.5)
    assert (type(source.max_turns), type(source.prior)) == (int, float)
    assert toy_source("mixed", prior=numpy.int64(1)).prior == 1.0
    for wrong in (numpy.int64(0), numpy.float32(2.0), numpy.bool_(True)):
        with pytest.raises(UsageError, match="give a whole number of at least 1"):
            toy_source(max_turns=wrong)
