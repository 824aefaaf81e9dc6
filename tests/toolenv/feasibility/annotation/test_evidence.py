from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolenv.errors import DataCorruptError, DataMissingError, StoreError, UsageError
from toolenv.feasibility.annotation.evidence import LabelEvidence, read_labels, write_labels

PROOFS = LabelEvidence("m", {"a": "infeasible", "b": "feasible", "c": "unknown"})
PEOPLE = LabelEvidence("m", {"c": "infeasible"}, population=10, checked=4, confirmed=3)


def test_a_labels_file_survives(tmp_path: Path) -> None:
    path = tmp_path / "new" / "labels.json"
    write_labels(path, {"A": PROOFS, "B": PEOPLE})
    assert read_labels([path]) == {"A": PROOFS, "B": PEOPLE}
    with pytest.raises(StoreError, match="cannot be written"):
        write_labels(path / "below", {})


def test_certificates_may_come_without_a_sample(tmp_path: Path) -> None:
    path = tmp_path / "certificates.json"
    plain = {"version": 1, "suites": {"A": {"manifest": "m", "status": {"a": "infeasible"}}}}
    path.write_text(json.dumps(plain), encoding="utf-8")
    assert read_labels([path]) == {"A": LabelEvidence("m", {"a": "infeasible"})}


def test_certificates_and_a_sample_are_joined(tmp_path: Path) -> None:
    for name, evidence in (("proofs", PROOFS), ("people", PEOPLE)):
        write_labels(tmp_path / name, {"A": evidence})
    joined = LabelEvidence("m", {"a": "infeasible", "b": "feasible", "c": "infeasible"}, 10, 4, 3)
    assert read_labels([tmp_path / "proofs", tmp_path / "people"]) == {"A": joined}
    assert read_labels([tmp_path / "people", tmp_path / "proofs"]) == {"A": joined}


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (LabelEvidence("other"), "labels of the masks m and of other"),
        (LabelEvidence("m", {"a": "feasible"}), "task 'a' is certified both feasible and infeasible"),
        (LabelEvidence("m", {}, 10, 1, 1), "two verified samples of one suite"),
    ],
)
def test_what_contradicts_itself_is_refused(other: LabelEvidence, why: str) -> None:
    both = PROOFS.joined(PEOPLE)
    with pytest.raises(UsageError, match=why):
        both.joined(other)


@pytest.mark.parametrize(
    "counts",
    [
        {"confirmed": 5, "checked": 4, "population": 9},
        {"checked": 9, "population": 4},
        {"confirmed": -1},
        {"checked": 1.5},
    ],
)
def test_impossible_counts_are_named(counts: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="0 <= confirmed <= checked <= population"):
        LabelEvidence("m", **counts)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is not JSON"),
        ("[]", "is no labels file of version 1"),
        ('{"version": 1}', "'suites' is missing"),
        ('{"version": 1, "suites": {"A": {}}}', "labels of suite 'A': 'manifest' is missing"),
        (
            '{"version": 1, "suites": {"A": {"manifest": "m", "status": {"a": "maybe"}}}}',
            "labels of suite 'A': unknown status 'maybe' in task 'a'; known: feasible, infeasible, unknown",
        ),
        (
            '{"version": 1, "suites": {"A": {"manifest": "m", "status": []}}}',
            "'status' is \\[\\], expected an object",
        ),
        (
            '{"version": 1, "suites": {"A": {"manifest": ["m"]}}}',
            "'manifest' is \\['m'\\], expected a string",
        ),
        (
            '{"version": 1, "suites": {"A": {"manifest": "m", "checkd": 1}}}',
            "unknown field 'checkd' in .*; did you mean 'checked'",
        ),
        ('{"version": 1, "suites": {}, "suites": {}}', "'suites' stands twice"),
    ],
)
def test_what_is_no_labels_file_is_refused(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "labels.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataCorruptError, match=why):
        read_labels([path])


def test_an_absent_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataMissingError, match="no labels file at"):
        read_labels([tmp_path / "none"])
