"""``toolenv arm``: hazard manifests of a small suite and of real data, from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.toolenv.cli.command import Command
from toolenv.hazards.manifest import HazardManifest

DEPOT = "tests.support.depot:SUITE"


def test_every_hazard_of_a_suite(toolenv: Command, place: Path) -> None:
    out = place / "hazards"
    ended = toolenv("arm", DEPOT, "--out", out, "--fewest", 2)
    assert (ended.code, ended.err) == (0, "")
    assert "output-drift: 2 tasks, 0 excluded" in ended.out
    assert "hazard: 2 tasks, 0 excluded" in ended.out
    assert {path.stem for path in out.iterdir()} == {
        "cross-source-conflict",
        "execution-failure",
        "hazard",
        "invocation-error",
        "output-drift",
        "specification-drift",
    }


def test_the_same_bytes_each_time(toolenv: Command, place: Path) -> None:
    for name in ("one", "two"):
        assert toolenv("arm", DEPOT, "--out", place / name, "--fewest", 1, "--seed", 0, 7).code == 0
    for path in (place / "one").iterdir():
        assert path.read_bytes() == (place / "two" / path.name).read_bytes()
        assert len(HazardManifest.read(path).tasks["lamp-north"]) == 2


def test_one_hazard_on_one_task(toolenv: Command, place: Path) -> None:
    ended = toolenv(
        *("arm", DEPOT, "--out", place, "--hazard", "output-drift"),
        *("--tasks", "lamp-north", "--fewest", 1),
    )
    assert ended.code == 0, ended.err
    assert set(HazardManifest.read(place / "output-drift.json").tasks) == {"lamp-north"}
    assert {path.name for path in place.iterdir()} == {"output-drift.json"}, "hazard.json would hold no mix"
    assert "hazard: not written; it mixes all hazards" in ended.out


def test_what_is_not_written_is_told_and_why(toolenv: Command, place: Path) -> None:
    ended = toolenv("arm", DEPOT, "--out", place / "hazards")
    assert (ended.code, ended.err) == (1, "")
    assert not (place / "hazards").exists()
    told = [line for line in ended.out.splitlines() if not line.startswith(" ")]
    two = (
        *("cross-source-conflict", "execution-failure", "invocation-error"),
        *("output-drift", "specification-drift", "hazard"),
    )
    assert sorted(told) == sorted(
        ["confusable: 0 tasks, fewer than --fewest 20: not written"]
        + [f"{name}: 2 tasks, fewer than --fewest 20: not written" for name in two]
    )
    assert "  2 excluded: no tool is known to be indispensable for it" in ended.out


def test_a_manifest_of_no_task_is_never_written(toolenv: Command, place: Path) -> None:
    ended = toolenv("arm", DEPOT, "--out", place, "--hazard", "confusable", "--fewest", 0)
    assert ended.code == 1
    assert "confusable: 0 tasks, fewer than --fewest 1: not written" in ended.out
    assert list(place.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--hazard", "output-drit"), "unknown hazard 'output-drit'; did you mean 'output-drift'?"),
        (("--seed", "-1"), "--seed -1: give a whole number of at least 0"),
        (("--tasks", "lamp-nrth"), "did you mean 'lamp-north'"),
    ],
)
def test_bad_input(toolenv: Command, place: Path, arguments: tuple[str, ...], complaint: str) -> None:
    ended = toolenv("arm", DEPOT, "--out", place, *arguments)
    assert ended.code == 2
    assert complaint in ended.err
