"""The checker rejects 1,500 falsified certificates of real tasks, whose hashes are right again."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.toolenv.feasibility.certificates import real
from tests.toolenv.feasibility.certificates.tampering import WAYS, tampered
from toolenv.errors import DataCorruptError
from toolenv.feasibility.certificates.checker import check_file, check_record
from toolenv.feasibility.certificates.records import Certificates
from toolenv.hashed_json import sealed
from toolenv.source import make_source

COUNTS = {
    ("BFCL", ""): 250,
    ("BFCL", "mv"): 250,
    ("TauBench", ""): 250,
    ("TauBench", "get_user_details"): 250,
    ("APIBank", ""): 250,
    ("Workflows", ""): 250,
}


@pytest.mark.parametrize(("name", "only"), COUNTS)
def test_what_was_tampered_with_is_rejected(name: str, only: str) -> None:
    suite, rules, manifest = real.suite(name), real.planner(name).rules, real.manifest(name, only)
    source = make_source(suite, "clean", subset=real.SUBSETS[name])
    records = real.certificates(name, only).tasks
    accepted, ways = [], Counter[str]()
    for task_id, way, false in tampered(records, seed=2026, count=COUNTS[name, only]):
        ways[way] += 1
        if not check_record(suite, rules, source.get(task_id), false, manifest, task_id):
            accepted.append((task_id, way, false))
    assert accepted == []
    assert sum(ways.values()) == COUNTS[name, only]


def test_every_way_of_tampering_is_tried() -> None:
    tried = {
        way
        for (name, only), count in COUNTS.items()
        for _, way, _ in tampered(real.certificates(name, only).tasks, seed=2026, count=count)
    }
    assert tried == set(WAYS)
    assert sum(COUNTS.values()) == 1500


@pytest.mark.parametrize("at", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_a_file_with_a_changed_letter_is_refused(at: float, tmp_path: Path) -> None:
    path = tmp_path / "certificates.json"
    real.certificates("TauBench").write(path)
    text = path.read_text(encoding="utf-8")
    place = text.index("infeasible", int(len(text) * at))
    path.write_text(text[:place] + "x" + text[place + 1 :], encoding="utf-8")
    with pytest.raises(DataCorruptError):
        Certificates.read(path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("suite", "BFCL"),
        ("subset", "retail"),
        ("data", "sha256:0"),
        ("masks", "sha256:0"),
        ("rules", "0"),
    ],
)
def test_certificates_of_something_else_are_rejected(field: str, value: Any) -> None:
    name = "TauBench"
    made = replace(real.certificates(name), **{field: value})
    found = dict(check_file(made, real.suite(name), real.planner(name).rules, real.manifest(name)))
    assert set(found) == set(made.tasks)
    assert all(field in problem for problem in found.values())


def test_a_hash_that_was_made_anew_does_not_help(tmp_path: Path) -> None:
    name = "TauBench"
    body = json.loads(json.dumps(real.certificates(name).to_json()))
    del body["hash"]
    body["tasks"]["retail_test_0"]["certificates"][0]["claim"]["facts"]["place"][1] = "#W0000000"
    made = Certificates.from_json(sealed(body))
    found = dict(check_file(made, real.suite(name), real.planner(name).rules, real.manifest(name)))
    assert [task for task, problem in found.items() if problem] == ["retail_test_0"]
