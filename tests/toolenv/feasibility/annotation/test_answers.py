from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.toolenv.feasibility.annotation.samples import give, make_item, written
from toolenv.errors import StoreError, UsageError
from toolenv.feasibility.annotation.answers import (
    NOTE_LIMIT,
    Answer,
    AnswerLog,
    annotators,
    answers_path,
    checked_answer,
    read_answers,
)
from toolenv.feasibility.annotation.sample import Sample


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(tmp_path / "sample.json", [make_item("a"), make_item("b")])[0]


def answers(path: Path, name: str = "ann") -> dict[str, Answer]:
    return read_answers(answers_path(path, name), Sample.read(path), name)


def test_answers_are_kept_and_taken_up_again(path: Path) -> None:
    give(path, "ann", {"Toy/a": "no"})
    give(path, "ann", {"Toy/b": "yes"})
    assert answers(path) == {"Toy/a": Answer("no"), "Toy/b": Answer("yes")}
    lines = answers_path(path, "ann").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0]) == {
        "version": 1,
        "sample": Sample.read(path).hash,
        "annotator": "ann",
        "item": "Toy/a",
        "answer": "no",
        "note": "",
    }


def test_the_last_answer_counts_and_the_first_stays_in_the_file(path: Path) -> None:
    give(path, "ann", {"Toy/a": "no"})
    give(path, "ann", {"Toy/a": "unsure"})
    assert answers(path) == {"Toy/a": Answer("unsure")}
    assert len(answers_path(path, "ann").read_bytes().splitlines()) == 2


def test_annotators_are_apart(path: Path) -> None:
    give(path, "ann", {"Toy/a": "no"})
    give(path, "bob", {"Toy/a": "yes"})
    give(path, "adjudication", {"Toy/a": "yes"})
    give(path, "idle", {})
    written(path.with_name("sample.other.json"), [make_item("c")])
    give(path.with_name("sample.other.json"), "eve", {"Toy/c": "no"})
    assert annotators(path) == ["ann", "bob"]
    assert annotators(path.with_name("sample.other.json")) == ["eve"]
    assert answers(path, "ann") != answers(path, "bob")


def test_a_line_cut_off_by_a_crash_is_dropped(path: Path) -> None:
    give(path, "ann", {"Toy/a": "no", "Toy/b": "yes"})
    file = answers_path(path, "ann")
    file.write_bytes(file.read_bytes()[:-5])
    assert answers(path) == {"Toy/a": Answer("no")}
    give(path, "ann", {"Toy/b": "unsure"})
    assert answers(path) == {"Toy/a": Answer("no"), "Toy/b": Answer("unsure")}


def test_two_processes_cannot_write_one_file(path: Path) -> None:
    sample = Sample.read(path)
    with AnswerLog(path, sample, "ann"), pytest.raises(StoreError, match="in use by another process"):
        AnswerLog(path, sample, "ann")
    give(path, "ann", {"Toy/a": "no"})


def test_a_failed_write_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    give(path, "ann", {"Toy/a": "no"})
    real = os.write

    def full(descriptor: int, data: bytes) -> int:
        if len(data) > 20:
            return real(descriptor, data[:20])
        raise OSError(28, "No space left on device")

    with AnswerLog(path, Sample.read(path), "ann") as log:
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(StoreError, match="No space left on device"):
            log.add("Toy/b", Answer("yes", "x" * 100))
        monkeypatch.undo()
        assert "Toy/b" not in log.answers
        log.add("Toy/b", Answer("no"))
    assert answers(path) == {"Toy/a": Answer("no"), "Toy/b": Answer("no")}


def test_nothing_is_added_after_the_end(path: Path) -> None:
    with AnswerLog(path, Sample.read(path), "ann") as log:
        pass
    with pytest.raises(StoreError, match="cannot be written: Bad file descriptor"):
        log.add("Toy/a", Answer("no"))
    assert answers(path) == {}


def test_answers_to_another_sample_are_refused(path: Path, tmp_path: Path) -> None:
    give(path, "ann", {"Toy/a": "no"})
    path.unlink()
    written(path, [make_item("a"), make_item("b"), make_item("c")])
    with pytest.raises(StoreError, match=r"line 1: sample is 'sha256:"):
        answers(path)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"version": 2}, "version is 2, expected 1"),
        ({"annotator": "bob"}, "annotator is 'bob', expected 'ann'"),
        ({"item": "Toy/z"}, "unknown item 'Toy/z'"),
        ({"answer": "maybe"}, "answer 'maybe': give one of yes, no, unsure"),
        ({"answer": ["no"]}, "item, answer and note must be texts"),
        ({"note": "x" * (NOTE_LIMIT + 1)}, "at most 4,000 are kept"),
    ],
)
def test_lines_that_are_no_answers_are_named(path: Path, change: dict[str, object], why: str) -> None:
    give(path, "ann", {"Toy/a": "no"})
    file = answers_path(path, "ann")
    record = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(
        file.read_text(encoding="utf-8") + json.dumps({**record, **change}) + "\n", encoding="utf-8"
    )
    with pytest.raises(StoreError, match=f"line 2: .*{why}"):
        answers(path)


@pytest.mark.parametrize("line", [b"\n", b"no\n", b"[]\n", b"{}\n", b"[" * 100_000 + b"\n", b"\xff\n"])
def test_lines_that_are_no_records_are_named(path: Path, line: bytes) -> None:
    answers_path(path, "ann").write_bytes(line)
    with pytest.raises(StoreError, match=r"line 1(: | is not JSON: )."):
        answers(path)


@pytest.mark.parametrize("name", ["", "a/b", "..", "a.b", "ann\n", "x" * 41, "é"])
def test_names_that_are_no_file_names_are_refused(path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="annotator"):
        answers_path(path, name)


def test_answers_from_outside_are_checked() -> None:
    assert checked_answer("no", " a\r\nb \ud800") == Answer("no", "a\nb \ufffd")
    assert checked_answer("unsure", "x" * NOTE_LIMIT).note == "x" * NOTE_LIMIT
    with pytest.raises(UsageError, match="answer 'yess': give one of yes, no, unsure"):
        checked_answer("yess")
