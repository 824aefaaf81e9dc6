from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolenv.errors import DataCorruptError, DataMissingError
from toolenv.feasibility.certificates.records import Certificate, Certificates, Claim, TaskRecord
from toolenv.feasibility.certificates.repair import repaired
from toolenv.feasibility.manifest import MaskManifest
from toolenv.trace import Trace

CLAIM = Claim("effect", 0, {"attribute": "Bank.balance"})
PROVEN = Certificate("one", ("pay",), "infeasible", "outcome", claim=CLAIM)
WITNESS = Trace("Toy", "infeasible", "two", 0, 10, checkpoints=("x",), ending="message")
REFUTED = Certificate("two", ("pay",), "feasible", "judge", witness=WITNESS, kind="do-nothing")
OTHER = Certificate("two", ("pay", "send"), "infeasible", "outcome", claim=CLAIM)


def certificates(**given: TaskRecord) -> Certificates:
    bound = {"states": 10, "changes": 2, "masks": 3}
    return Certificates("Toy", "default", "none", "sha256:1", "1", bound, given)


def both() -> Certificates:
    return certificates(
        one=TaskRecord("certified", ("pay",), (PROVEN,)),
        two=TaskRecord("repaired", ("pay", "send"), (REFUTED, OTHER)),
    )


def test_certificates_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "certificates.json"
    both().write(path)
    assert Certificates.read(path) == both()
    assert Certificates.read(path).hash == json.loads(path.read_text())["hash"]


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "certificates.json"
    both().write(path)
    path.write_text(path.read_text().replace("Bank.balance", "Bank.name"))
    with pytest.raises(DataCorruptError, match="does not match its content"):
        Certificates.read(path)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(DataMissingError, match="no certificates at"):
        Certificates.read(Path("nowhere.json"))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"version": 2}, "version 2, expected 1"),
        ({"tasks": []}, "'tasks' is \\[\\], expected an object"),
        (
            {"tasks": {"one": {"status": "sure", "mask": None, "reason": "", "certificates": []}}},
            "task 'one': unknown status 'sure'",
        ),
    ],
)
def test_what_is_no_certificates_file(change: dict[str, Any], problem: str) -> None:
    from toolenv.hashed_json import sealed

    body = {key: value for key, value in {**both().to_json(), **change}.items() if key != "hash"}
    with pytest.raises(DataCorruptError, match=problem):
        Certificates.from_json(sealed(body))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"answer": "maybe"}, "answer 'maybe'"),
        ({"criterion": "taste"}, "criterion 'taste'"),
        ({"claim": {"kind": "effect"}}, "missing"),
        ({"witness": {"version": 1}}, "not a trace"),
    ],
)
def test_what_is_no_certificate(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(DataCorruptError, match=problem):
        Certificate.from_json({**PROVEN.to_json(), **change})


def test_the_manifest_that_certificates_leave() -> None:
    manifest = MaskManifest(
        "Toy", "default", "none", "By hand.", {"one": ("pay",), "two": ("pay",), "three": ("pay",)}
    )
    dropped = TaskRecord("dropped", None, (Certificate("three", ("pay",), "feasible"),), "no tool needed")
    made = certificates(**both().tasks, three=dropped)
    left = repaired(manifest, made)
    assert left.masks == {"one": ("pay",), "two": ("pay", "send")}
    assert left.excluded == {"three": "refuted: no tool needed"}
    assert {task: known["status"] for task, known in left.evidence.items()} == {
        "one": "certified",
        "two": "certified",
        "three": "refuted",
    }
    assert left.evidence["two"]["refuted_mask"] == ["pay"]
    assert left.built["certificates"] == made.hash
    assert left.built["repaired_from"] == manifest.hash
