"""Samples, answers and labels that somebody has edited: refused by file, and by line or field, or read."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.support.mutations import RAW, as_bytes, damaged, edited, read_or_refused
from tests.toolenv.feasibility.annotation.samples import give, make_item, written
from toolenv.canonical import digest
from toolenv.errors import DataCorruptError, StoreError
from toolenv.feasibility.annotation.answers import answers_path, read_answers
from toolenv.feasibility.annotation.evidence import LabelEvidence, read_labels, write_labels
from toolenv.feasibility.annotation.sample import Sample
from toolenv.feasibility.annotation.verdict import read_judged
from toolenv.metrics.verification import verify

EDITS = 200


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path, _ = written(tmp_path / "sample.json", [make_item("a"), make_item("b", masked=2)])
    give(path, "ann", {"Toy/a": "no", "Toy/b": "yes"})
    give(path, "bob", {"Toy/a": "no", "Toy/b": "no"})
    return path


def test_edited_samples_with_a_hash_made_anew(path: Path) -> None:
    plain, ended = json.loads(path.read_bytes()), Counter[str]()
    for seed in range(EDITS):
        data = edited(plain, seed)
        body = {key: value for key, value in data.items() if key != "hash"}
        path.write_bytes(as_bytes({**body, "hash": f"sha256:{digest(body)}"}))
        sample = read_or_refused(lambda: Sample.read(path), DataCorruptError, str(path))
        ended["refused" if sample is None else "read"] += 1
        if sample is not None and sample.hash != plain["hash"]:
            with pytest.raises(StoreError, match=r"line 1: sample is 'sha256:"):
                read_answers(answers_path(path, "ann"), sample, "ann")
    assert min(ended["refused"], ended["read"]) > EDITS / 10


def test_edited_answers(path: Path) -> None:
    sample, file, ended = Sample.read(path), answers_path(path, "ann"), Counter[str]()
    lines = file.read_bytes().splitlines(keepends=True)
    record = json.loads(lines[1])
    for seed in range(EDITS):
        file.write_bytes(lines[0] + as_bytes(edited(record, seed)) + b"\n")
        judged = read_or_refused(lambda: read_judged(path, sample), StoreError, f"{file}, line 2")
        ended["refused" if judged is None else "read"] += 1
        if judged is not None:
            assert verify(judged[1]).unanswered <= 1
    assert min(ended["refused"], ended["read"]) > EDITS / 10


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("", "line 3 is not JSON: Expecting value at column 1"),
        ('{"version": 1', "line 3 is not JSON: Expecting ',' delimiter at column 14"),
        ("{}", "line 3: version is None, expected 1"),
    ],
)
def test_a_line_that_is_no_answer(path: Path, line: str, why: str) -> None:
    file = answers_path(path, "ann")
    file.write_text(file.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(StoreError, match=why):
        read_answers(file, Sample.read(path), "ann")


def test_an_answer_without_a_part_names_it(path: Path) -> None:
    file = answers_path(path, "ann")
    record = json.loads(file.read_bytes().splitlines()[0])
    for part in ("item", "answer", "note"):
        file.write_bytes(as_bytes({key: value for key, value in record.items() if key != part}) + b"\n")
        with pytest.raises(StoreError, match=f"line 1: '{part}' is missing"):
            read_answers(file, Sample.read(path), "ann")


def test_edited_labels(tmp_path: Path) -> None:
    path, ended = tmp_path / "labels.json", Counter[str]()
    write_labels(path, {"Toy": LabelEvidence("sha256:1", {"a": "infeasible", "b": "feasible"}, 9, 4, 3)})
    plain = json.loads(path.read_bytes())
    for seed in range(EDITS):
        path.write_bytes(as_bytes(edited(plain, seed)))
        labels = read_or_refused(lambda: read_labels([path]), DataCorruptError, str(path))
        ended["refused" if labels is None else "read"] += 1
        for one in (labels or {}).values():
            assert 0 <= one.confirmed <= one.checked <= one.population
            assert set(one.status.values()) <= {"infeasible", "feasible", "unknown"}
    assert min(ended["refused"], ended["read"]) > EDITS / 10


@pytest.mark.parametrize("way", RAW)
def test_damaged_samples_and_labels(path: Path, way: str) -> None:
    labels = path.with_name("labels.json")
    write_labels(labels, {"Toy": LabelEvidence("sha256:1")})
    for file in (path, labels):
        file.write_bytes(damaged(file.read_bytes(), way))
    with pytest.raises(DataCorruptError, match=r"sample\.json is not JSON: "):
        Sample.read(path)
    with pytest.raises(DataCorruptError, match=r"labels\.json is not JSON: "):
        read_labels([labels])
