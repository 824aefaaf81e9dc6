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
    assert not (place / "execution-failure.json").exists()


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
