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
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
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


PLAIN: dict[str, Any] = json.loads(json.dumps(make_sample([make_item("a")]).to_json()))
ITEM, STRATUM = PLAIN["items"][0], PLAIN["strata"][0]


def item(**changes: Any) -> dict[str, Any]:
    return {"items": [{**ITEM, **changes}]}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"seed": "0"}, "s.json: 'seed' is '0', expected a whole number"),
        ({"confidence": 1}, "s.json: 'confidence' is 1, expected a number between 0 and 1"),
        ({"margin": "0.05"}, "s.json: 'margin' is '0.05', expected a number between 0 and 1"),
        ({"p": float("nan")}, "s.json: 'p' is nan, expected a number between 0 and 1"),
        ({"strata": {}}, "s.json: 'strata' is {}, expected a list"),
        ({"strata": [3]}, r"s.json: strata\[0\] is 3, expected an object"),
        ({"strata": [{**STRATUM, "size": None}]}, r"strata\[0\]: 'size' is None, expected a whole number"),
        ({"strata": [{**STRATUM, "suite": "Toys"}]}, "task 'a': unknown suite 'Toy' in its strata"),
        ({"items": ["a"]}, r"s.json: items\[0\] is 'a', expected an object"),
        ({"items": [{"suite": "Toy"}]}, r"s.json: items\[0\]: 'task' is missing"),
        (item(suite=["Toy"]), r"items\[0\]: 'suite' is \['Toy'\], expected a string"),
        (item(turns=[{"said": [], "adds": [1]}]), r"turns\[0\]: 'adds' has 1, expected a "),
        (item(turns=[{"said": ["x"], "adds": []}]), r"turns\[0\]: said\[0\] is 'x', expected an object"),
        (item(turns=[{"said": [{"role": "user"}], "adds": []}]), r"said\[0\]: 'text' is missing"),
        (item(masked=[{"name": "rm"}]), r"items\[0\]: masked\[0\]: 'description' is missing"),
        (
            item(masked=[{"name": "rm", "description": "", "parameters": None}]),
            r"masked\[0\]: 'parameters' is None, expected an object",
        ),
    ],
)
def test_a_right_hash_does_not_excuse_a_wrong_form(changes: dict[str, Any], why: str) -> None:
    from toolenv.feasibility.annotation import sample as module

    body = {name: value for name, value in {**PLAIN, **changes}.items() if name != "hash"}
    with pytest.raises(DataCorruptError, match=why):
        Sample.from_json({**body, "hash": module._hash(body)}, where="s.json")


def test_an_absent_sample_names_the_command_that_draws_one(tmp_path: Path) -> None:
    with pytest.raises(DataMissingError, match="toolenv annotate sample ENV --out"):
        Sample.read(tmp_path / "none.json")
