"""Filling response shapes: types, lengths, determinism."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from envs_registry.stable_tool_bench.plausible import Dice, plausible
from envs_registry.stable_tool_bench.templates import MAX_ITEMS, fill, read_shape

LEAVES = {"str": str, "int": int, "float": float, "bool": bool}
ROOT = Path(__file__).parents[3]


def mismatch(shape: Any, filled: Any, key: str = "") -> str:
    """Where an answer is not of its shape; empty if it is."""
    if key.lower() in ("err", "error", "errors", "innererror") and isinstance(shape, dict | list):
        return "" if not filled else f"{key}: an error report {filled!r:.80}"
    if isinstance(shape, dict):
        if not isinstance(filled, dict) or list(filled) != [one for one in shape if one != "_list_length"]:
            return f"{key}: keys of {filled!r:.80}"
        return next(filter(None, (mismatch(shape[one], filled[one], one) for one in filled)), "")
    if shape == []:  # its items were cut off
        return "" if filled == [] else f"{key}: {filled!r:.80} for an empty list"
    inner = shape[0] if isinstance(shape, list) else shape
    several = re.fullmatch(r"list of (\w+) with length (\d+)", inner) if isinstance(inner, str) else None
    if several is None and isinstance(shape, str):
        return leaf_mismatch(shape, filled, key)
    item, length = (several[1], int(several[2])) if several else (inner, inner.get("_list_length", 1))
    if not isinstance(filled, list) or len(filled) != min(length, 10):
        return f"{key}: {len(filled)} items for {shape!r:.80}"
    return next(filter(None, (mismatch(item, one, key) for one in filled)), "")


def leaf_mismatch(shape: str, filled: Any, key: str) -> str:
    expected: Any = {"NoneType": None, "empty list": [], "list": [], "dict": {}}.get(shape, ...)
    good = type(filled) is LEAVES[shape] if expected is ... else filled == expected
    return "" if good else f"{key}: {filled!r:.80} for {shape!r}"


def test_every_template_of_the_data_is_filled_by_its_own_rules(entries: list[dict[str, Any]]) -> None:
    shapes = [read_shape(entry.get("template_response")) for entry in entries]
    assert sum(shape is not None for shape in shapes) == 2664  # by the data's notes
    for number, shape in enumerate(shape for shape in shapes if shape is not None):
        filled = fill(shape, number, {})
        assert mismatch(shape, filled) == ""
        json.dumps(filled, allow_nan=False)


@pytest.mark.parametrize(
    ("shape", "arguments", "filled"),
    [
        ("NoneType", {}, None),
        ("empty list", {}, []),
        ("free text", {}, "free text"),
        (7, {}, 7),
        ({"a": []}, {}, {"a": []}),
        ("list of NoneType with length 3", {}, [None, None, None]),
        (["list of list with length 2"], {}, [[], []]),
        (["list of dict with length 1"], {}, [{}]),
        ({"error": "str", "error_code": "int", "errors": [{"code": "str"}]}, {}, {"error": "", "errors": []}),
        ({"success": "bool", "message": "str", "status": "int"}, {}, {"message": "Success", "status": 200}),
        ({"City": "str", "lat": "float"}, {"city": "Oslo", "lat": 5}, {"City": "Oslo", "lat": 5.0}),
        ({"id": "int"}, {"is_id": "00042"}, {"id": 42}),
        ({"page": "int"}, {"page": "two"}, {"page": 1}),
        ({"on": "bool"}, {"on": False}, {"on": False}),
    ],
)
def test_what_the_parts_of_a_shape_become(shape: Any, arguments: dict[str, Any], filled: Any) -> None:
    found = fill(shape, 1, arguments)
    if isinstance(filled, dict):
        assert filled.items() <= found.items()
    else:
        assert found == filled


def test_an_argument_of_another_type_does_not_come_back() -> None:
    text = fill({"q": "str"}, 1, {"q": True})["q"]
    assert type(text) is str
    assert text.lower() != "true"


def test_lists_have_the_length_that_is_told_up_to_ten() -> None:
    assert len(fill("list of str with length 4", 1, {})) == 4
    assert len(fill(["list of float with length 400"], 1, {})) == MAX_ITEMS == 10
    items = fill([{"id": "int", "city": "str", "_list_length": 7}], 1, {"id": 5, "city": "Oslo"})
    assert len(items) == 7
    assert {item["city"] for item in items} == {"Oslo"}
    assert len({item["id"] for item in items}) > 1  # the items of a list are not all one thing


@pytest.mark.parametrize(
    ("template", "shape"),
    [
        (None, None),
        ({}, None),
        ("", None),
        ("no shape", None),
        ('{"a": "str", "b": [{"c": "int", "_list_le...', {"a": "str", "b": [{"c": "int"}]}),
        ('{"a": "str", "b": "in', {"a": "str"}),
        ({"a": "int"}, {"a": "int"}),
    ],
)
def test_shapes_are_read_from_objects_and_from_cut_text(template: Any, shape: Any) -> None:
    assert read_shape(template) == shape


@pytest.mark.parametrize(
    ("kind", "key", "pattern"),
    [
        ("str", "firstname", r"[A-Z][a-z]+"),
        ("str", "email", r"[a-z_0-9]+@example\.com"),
        ("str", "imageurl", r"https://example\.com/[a-z]+-\d+\.jpg"),
        ("str", "createdat", r"20\d\d-\d\d-\d\dT\d\d:\d\d:00Z"),
        ("str", "releasedate", r"20\d\d-\d\d-\d\d"),
        ("str", "latitude", r"-?\d+\.\d+"),
        ("str", "currency", r"[A-Z]{3}"),
        ("int", "releaseyear", r"(19[89]|20[012])\d"),
        ("int", "statuscode", r"200"),
        ("float", "rating", r"[1-5]\.\d"),
        ("bool", "success", r"True"),
    ],
)
def test_values_suit_their_keys(kind: str, key: str, pattern: str) -> None:
    for bits in (0, 1, 2**63, 2**64 - 1, 0x123456789ABCDEF0):
        assert re.fullmatch(pattern, str(plausible(kind, key, Dice(bits))))


CALL = """
import json
from envs_registry.stable_tool_bench.sources import Sources
from tests.envs_registry.stable_tool_bench.cases import make_api
api = make_api()
for seed in (0, 1):
    for arguments in ({"city": "Oslo", "days": 2}, {"days": 2, "city": "Oslo"}, {"city": "Rome", "days": 2}):
        print(json.dumps(Sources().answer(api, arguments, seed).value))
"""


def answers(hash_seed: str) -> list[str]:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-W", "error", "-c", CALL]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout.splitlines()


def test_the_same_call_gets_the_same_answer_in_every_process() -> None:
    first, second = answers("0"), answers("4242")
    assert first == second
    oslo, reordered, rome, other_seed, *_ = first
    assert oslo == reordered
    assert len({oslo, rome, other_seed}) == 3
