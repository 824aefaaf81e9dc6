from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.toolenv.feasibility.annotation.samples import HOSTILE, make_item, make_sample, written
from toolenv.errors import DataCorruptError, DataMissingError, StoreError
from toolenv.feasibility.annotation.sample import Sample


def test_a_sample_survives_its_file(tmp_path: Path) -> None:
    path, sample = written(tmp_path / "new" / "sample.json", [make_item("a"), make_item("b", text=HOSTILE)])
    again = Sample.read(path)
    assert (again.items, again.strata, again.hash) == (sample.items, sample.strata, sample.hash)
    assert json.loads(path.read_text(encoding="utf-8"))["hash"] == sample.hash


def test_a_sample_is_never_written_over(tmp_path: Path) -> None:
    path, sample = written(tmp_path / "sample.json", [make_item("a")])
    with pytest.raises(StoreError, match="is there already; give another --out"):
        sample.write(path)
    with pytest.raises(StoreError, match="cannot be written"):
        sample.write(path / "below.json")


def tampered(**changes: Any) -> str:
    plain = make_sample([make_item("a")]).to_json()
    return json.dumps({**plain, **changes})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "cannot be read as JSON"),
        ("[" * 100_000, "cannot be read as JSON"),
        ("[]", "is no sample of version 1"),
        ('{"version": 2, "items": []}', "is no sample of version 1"),
        (tampered(seed=1), "does not match its content"),
        (tampered(items=[]), "does not match its content"),
    ],
)
def test_what_is_no_sample_is_refused(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "sample.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataCorruptError, match=why):
        Sample.read(path)


def test_a_right_hash_does_not_excuse_a_wrong_form() -> None:
    from toolenv.feasibility.annotation import sample as module

    body = {
        "version": 1,
        "items": [{"suite": "A"}],
        "strata": [],
        "seed": 0,
        "confidence": 1,
        "margin": 1,
        "p": 1,
    }
    with pytest.raises(DataCorruptError, match="has not the form of a sample"):
        Sample.from_json({**body, "hash": module._hash(body)})


def test_an_absent_sample_names_the_command_that_draws_one(tmp_path: Path) -> None:
    with pytest.raises(DataMissingError, match="toolenv annotate sample ENV --out"):
        Sample.read(tmp_path / "none.json")
