"""What a command writes never replaces a run's files, its own input, or another of its outputs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.toolenv.cli.command import CLEAN, INFEASIBLE, Command
from toolenv.cli.targets import check_folder, check_targets
from toolenv.errors import UsageError

CERTIFY = ("certify", INFEASIBLE, "--subset", "multiple", "--limit", 1)
LONG = "x" * 300
PROC = pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="needs /proc, where even root writes no file"
)


@pytest.fixture
def kept(place: Path, toolenv: Command) -> Path:
    assert toolenv("run", CLEAN, "--agent", "random", "--limit", 2, "--out", "kept").code == 0
    return place / "kept"


def contents(place: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in place.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["run.json", "episodes.jsonl", "episodes-00001.jsonl", "preflights.jsonl"])
@pytest.mark.parametrize(
    ("command", "option"),
    [
        (("report", "kept", "--html"), "--html"),
        (("quickstart", "--html"), "--html"),
        (("build", "BFCL", "--reference", "--out"), "--out"),
        ((*CERTIFY, "--out"), "--out"),
        ((*CERTIFY, "--labels"), "--labels"),
        ((*CERTIFY, "--repaired"), "--repaired"),
        (("annotate", "sample", INFEASIBLE, "--out"), "--out"),
    ],
)
def test_no_command_writes_over_a_file_of_a_run(
    toolenv: Command, kept: Path, command: Sequence[str], option: str, name: str
) -> None:
    before = contents(kept.parent)
    ended = toolenv(*command, f"kept/{name}")
    assert (ended.code, ended.out) == (2, "")
    told = f"toolenv: {option} kept/{name} is a file of the run in kept; give another name\n"
    assert ended.err == told
    assert contents(kept.parent) == before


def test_a_link_to_a_file_of_a_run_is_that_file(toolenv: Command, kept: Path) -> None:
    (kept.parent / "page.html").symlink_to(kept / "episodes.jsonl")
    before = contents(kept.parent)
    ended = toolenv("report", "kept", "--html", "page.html")
    assert (ended.code, ended.out) == (2, "")
    assert "--html page.html is a file of the run in " in ended.err
    assert contents(kept.parent) == before


def test_a_page_of_ones_own_beside_the_episodes_is_replaced(toolenv: Command, kept: Path) -> None:
    for _ in range(2):
        assert toolenv("report", "kept", "--html", "kept/report.html").code == 0
    assert "random" in (kept / "report.html").read_text(encoding="utf-8")


def test_an_input_is_not_replaced(toolenv: Command, place: Path) -> None:
    assert toolenv("build", "BFCL", "--subset", "multiple", "--reference", "--out", "m.json").code == 0
    os.link(place / "m.json", place / "same.json")
    before = contents(place)
    for name in ("m.json", "./m.json", "same.json"):
        ended = toolenv(*CERTIFY, "--masks", "m.json", "--repaired", name)
        assert (ended.code, ended.out) == (2, "")
        told = f"--repaired {Path(name)} is read by the same command; give another name"
        assert ended.err == f"toolenv: {told}\n"
    ended = toolenv("report", ".", "--labels", "m.json", "--html", "m.json")
    assert ended.err == "toolenv: --html m.json is read by the same command; give another name\n"
    ended = toolenv("build", "BFCL", "--foreign", "m.json", "--out", "m.json")
    assert ended.err == "toolenv: --out m.json is read by the same command; give another name\n"
    assert contents(place) == before


def test_two_outputs_need_two_files(toolenv: Command, place: Path) -> None:
    ended = toolenv(*CERTIFY, "--out", "cert.json", "--labels", "./x/../cert.json")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "toolenv: --out and --labels are both x/../cert.json; give each a file of its own\n"
    assert list(place.iterdir()) == []


@PROC
@pytest.mark.parametrize("option", ["--out", "--labels", "--repaired"])
def test_certificates_that_cannot_be_written_are_told_before_the_search(
    toolenv: Command, place: Path, option: str
) -> None:
    ended = toolenv(*CERTIFY, option, "/proc/cert.json")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"toolenv: {option} /proc/cert.json cannot be written: ")
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("path", [LONG, f"new/{LONG}/page", f"{'y/' * 3000}page"])
def test_a_name_that_is_too_long_is_told(place: Path, path: str) -> None:
    for check in (
        lambda option, path: check_folder(path, option),
        lambda option, path: check_targets({option: path}),
    ):
        with pytest.raises(UsageError, match=r"--out .* cannot be written: File name too long"):
            check("--out", Path(path))
    assert list(place.iterdir()) == []


def test_what_is_checked_leaves_nothing_behind(place: Path) -> None:
    (place / "page").write_text("mine")
    check_targets({"--a": Path("page"), "--b": Path("new/page"), "--c": None}, (None, Path("absent")))
    check_folder(Path("new/folder"), "--out")
    assert contents(place) == {str(place / "page"): b"mine"}
    assert list(place.iterdir()) == [place / "page"]
    (place / "page").chmod(0o600)
    for path in ("page", "page/below"):
        with pytest.raises(UsageError, match=rf"--out {path} cannot be written: .*page is no folder"):
            check_folder(Path(path), "--out")
