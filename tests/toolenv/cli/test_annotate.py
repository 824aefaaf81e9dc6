"""``toolenv annotate`` from the draw to the score, and ``toolenv report --labels``, on BFCL's data."""

from __future__ import annotations

import io
import json
import re
import signal
import sys
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

import envs_registry
from tests.toolenv.cli.command import CLEAN, INFEASIBLE, Command, spawn
from toolenv.feasibility.annotation.sample import Sample
from toolenv.feasibility.manifest import MaskManifest

SMALL = ("--subset", "multi_turn_base", "--margin", 0.3)
"""11 of BFCL's multi-turn tasks: 1.96² · 0.25 / 0.3² = 10.7, corrected for 200 tasks 10.2, rounded up."""


@pytest.fixture
def drawn(toolenv: Command, place: Path) -> Sample:
    ended = toolenv("annotate", "sample", INFEASIBLE, "--out", "s.json", *SMALL)
    assert (ended.code, ended.err) == (0, "")
    return Sample.read(place / "s.json")


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


@pytest.fixture
def answered(toolenv: Command, drawn: Sample, monkeypatch: pytest.MonkeyPatch) -> Sample:
    """Both have answered: ten times no, and once ann says yes, bob no."""
    for name, last in (("ann", "y cp and rm"), ("bob", "n")):
        typed(monkeypatch, *["n"] * (len(drawn.items) - 1), last)
        ended = toolenv("annotate", "answer", "s.json", "--annotator", name)
        assert (ended.code, ended.err) == (0, "")
    return drawn


def test_the_draw(toolenv: Command, drawn: Sample, place: Path) -> None:
    (stratum,) = drawn.strata
    assert (stratum.suite, stratum.env, stratum.subset) == ("BFCL", INFEASIBLE, "multi_turn_base")
    assert len(drawn.items) == stratum.size == 11
    assert all(item.task_id.startswith("multi_turn_base_") for item in drawn.items)
    again = toolenv("annotate", "sample", INFEASIBLE, "--out", "again.json", *SMALL)
    assert "BFCL: 11 of 200" in again.out
    assert (place / "again.json").read_bytes() == (place / "s.json").read_bytes()
    other = toolenv("annotate", "sample", INFEASIBLE, "--out", "other.json", *SMALL, "--seed", 1)
    assert other.code == 0
    assert Sample.read(place / "other.json").items != drawn.items


def test_masks_of_ones_own(toolenv: Command, place: Path) -> None:
    data = envs_registry.get_suite("BFCL").masks("multiple").data
    own = MaskManifest("BFCL", "multiple", data, "by hand", {"multiple_0": ("triangle_properties.get",)})
    own.write(place / "masks.json")
    options = ("--out", "s.json", "--subset", "multiple", "--masks", "masks.json")
    assert toolenv("annotate", "sample", INFEASIBLE, *options).code == 0
    sample = Sample.read(place / "s.json")
    assert [item.id for item in sample.items] == ["BFCL/multiple_0"]
    assert [tool.name for tool in sample.items[0].masked] == ["triangle_properties.get"]
    assert sample.strata[0].manifest == own.hash
    twice = toolenv("annotate", "sample", INFEASIBLE, *options, "--masks", "masks.json")
    assert (twice.code, "are both of suite 'BFCL'" in twice.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((CLEAN,), f"did you mean {INFEASIBLE}?"),
        (("ToolFeas/BFCL-infeasable-v0",), "did you mean"),
        ((INFEASIBLE, INFEASIBLE), "two environments of one suite"),
        ((INFEASIBLE, "--subset", "irrelevance"), "no task of it is masked"),
        ((INFEASIBLE, "--margin", "5"), "margin=5.0: give a number between 0 and 1"),
    ],
)
def test_a_draw_that_cannot_be(toolenv: Command, arguments: tuple[str, ...], why: str) -> None:
    ended = toolenv("annotate", "sample", *arguments, "--out", "s.json")
    assert (ended.code, ended.out) == (2, "")
    assert why in ended.err


def test_answering_is_resumed(toolenv: Command, drawn: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "n", "y a substitute", "q")
    first = toolenv("annotate", "answer", "s.json", "--annotator", "ann")
    assert "item 1 of 11, 0 answered" in first.out
    assert "2 of 11 answered, kept in s.ann.answers.jsonl" in first.out
    typed(monkeypatch, "n")  # and then the input ends
    second = toolenv("annotate", "answer", "s.json", "--annotator", "ann")
    assert second.code == 0
    assert "item 3 of 11, 2 answered" in second.out
    assert "3 of 11 answered" in second.out


def test_the_score(toolenv: Command, answered: Sample, monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    before = json.loads(toolenv("annotate", "score", "s.json", "--json").out)
    assert (before["disagreements"], before["unsettled"], before["unanswered"]) == (1, 1, 0)
    total = next(group for group in before["groups"] if group["name"] == "total")
    assert (total["agreement"]["count"], total["agreement"]["n"]) == (10, 11)
    assert total["precision"]["withheld"]
    assert toolenv("annotate", "score", "s.json", "--labels", "labels.json").code == 2

    typed(monkeypatch, "y settled")
    settled = toolenv("annotate", "answer", "s.json", "--adjudicate")
    assert (settled.code, "ann said yes: | cp and rm" in settled.out) == (0, True)
    ended = toolenv("annotate", "score", "s.json", "--labels", "labels.json")
    assert (ended.code, ended.err) == (0, "")
    for part in ("BFCL", "single-tool masks", "multi-tool masks", "90.9%", "Gwet's AC1", "1 disagreement"):
        assert part in ended.out
    labels = json.loads((place / "labels.json").read_text(encoding="utf-8"))["suites"]["BFCL"]
    assert labels == {
        "manifest": answered.strata[0].manifest,
        "status": {},
        "population": 200,
        "checked": 11,
        "confirmed": 10,
    }
    again = toolenv("annotate", "answer", "s.json", "--annotator", "ann")
    assert (again.code, "answers stand" in again.err) == (2, True)


def test_the_report_beside_the_labels(
    toolenv: Command, answered: Sample, monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    typed(monkeypatch, "y")
    assert toolenv("annotate", "answer", "s.json", "--adjudicate").code == 0
    assert toolenv("annotate", "score", "s.json", "--labels", "labels.json").code == 0
    limits = ("--subset", "multi_turn_base", "--limit", 3, "--out", "runs")
    assert toolenv("run", INFEASIBLE, "--agent", "random", *limits).code == 0

    ended = toolenv("report", "runs", "--labels", "labels.json", "--json")
    assert (ended.code, ended.err) == (0, "")
    strict, lenient = json.loads(ended.out)["labels"]
    assert (strict["rule"], lenient["rule"]) == ("strict", "lenient")
    # Wilson from 10 of 11 is 0.62: 75 of 200 labels may be wrong, and so may all three that were run.
    assert (strict["bounds"]["n"], strict["bounds"]["low"], strict["bounds"]["high"]) == (3, 0.0, 1.0)
    assert (strict["certified"]["n"], strict["certified"]["excluded"]) == (0, 3)
    shown = toolenv("report", "runs", "--labels", "labels.json")
    assert "FCR and the errors of labels" in shown.out
    assert "worst case over 3" in shown.out

    proofs = {name: "infeasible" for name in ("multi_turn_base_0", "multi_turn_base_1", "multi_turn_base_2")}
    manifest = answered.strata[0].manifest
    for hash_, code in ((manifest, 0), ("sha256:other", 2)):
        body = {"version": 1, "suites": {"BFCL": {"manifest": hash_, "status": proofs}}}
        (place / "proofs.json").write_text(json.dumps(body), encoding="utf-8")
        ended = toolenv("report", "runs", "--labels", "proofs.json", "--json")
        assert ended.code == code
        if code == 0:
            strict = json.loads(ended.out)["labels"][0]
            assert strict["certified"]["n"] == 3
            assert strict["bounds"]["low"] == strict["bounds"]["value"] == strict["bounds"]["high"]
    assert "was run with the masks" in ended.err


def test_the_page_in_a_process_of_its_own(drawn: Sample, place: Path) -> None:
    with spawn("annotate", "answer", "s.json", "--annotator", "ann", "--page", cwd=place) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://127\.0\.0\.1:\d+/\S+/", process.stdout.readline())
            assert found
            with urllib.request.urlopen(found[0], timeout=60) as reply:
                assert "Item 1 of 11" in reply.read().decode()
            form = urllib.parse.urlencode({"answer": "no", "note": ""}).encode()
            with urllib.request.urlopen(found[0] + "1", form, timeout=60) as reply:
                assert "Item 2 of 11" in reply.read().decode()
        finally:
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert "1 of 11 answered" in out


def test_who_answers_must_be_said(toolenv: Command, drawn: Sample) -> None:
    for options in ((), ("--annotator", "a", "--annotator", "b")):
        ended = toolenv("annotate", "answer", "s.json", *options)
        assert (ended.code, "give one --annotator NAME, or --adjudicate" in ended.err) == (2, True)
    ended = toolenv("annotate", "score", "s.json")
    assert (ended.code, "two annotators are needed, found nobody" in ended.err) == (2, True)
