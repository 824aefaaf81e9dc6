"""JSON values from outside: field case 079 and the bounds."""

from __future__ import annotations

import copy
import enum
import json
import math
from datetime import date
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolenv.json_values import MAX_DEPTH, MAX_SIZE, UnusableValueError, clean_json

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(JSON_VALUES)
def test_a_json_value_comes_back_equal_and_independent(value: Any) -> None:
    before = copy.deepcopy(value)
    cleaned, changed = clean_json(value)
    assert not changed
    assert json.dumps(cleaned) == json.dumps(value)
    _empty_all(cleaned)
    assert value == before


def _empty_all(value: Any) -> None:
    if isinstance(value, dict | list):
        for inner in list(value.values() if isinstance(value, dict) else value):
            _empty_all(inner)
        value.clear()


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("\ud83c\udf78", "🍸"),
        ("ok \ud83c end", "ok � end"),
        ("\udf78\ud83c", "��"),
        ("\ud83c\ud83c\udf78", "�🍸"),
        ("end \ud83c", "end �"),
    ],
)
def test_field_079_surrogates_are_mended_and_it_is_noted(text: str, mended: str) -> None:
    assert clean_json({"t": text}) == ({"t": mended}, True)
    assert clean_json({text: [text, 1]}) == ({mended: [mended, 1]}, True)
    assert clean_json(text) == (mended, True)


@pytest.mark.parametrize("text", ["nul \0", "sep \u2028", "bom \ufeff", "rtl \u200f", "東京 🍸"])
def test_field_079_other_odd_characters_are_kept(text: str) -> None:
    assert clean_json({"t": text}) == ({"t": text}, False)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_field_041_nan_and_infinity_are_refused(bad: float) -> None:
    with pytest.raises(UnusableValueError, match=f"{bad} is no JSON number"):
        clean_json({"x": [bad]})


@pytest.mark.parametrize(
    "bad", [{1}, b"x", date(2024, 5, 1), Decimal(1), 1j, object, np.int64(1), np.zeros(1)]
)
def test_field_059_types_json_does_not_know_are_refused(bad: object) -> None:
    for value in (bad, {"x": bad}, [bad]):
        with pytest.raises(UnusableValueError, match=f"{type(bad).__name__} is no JSON type"):
            clean_json(value)


@pytest.mark.parametrize("key", [1, None, 10**5000, (1, 2)], ids=["int", "none", "huge", "tuple"])
def test_keys_must_be_texts(key: object) -> None:
    with pytest.raises(UnusableValueError, match=f"a key of type {type(key).__name__}"):
        clean_json({"x": {key: 1}})


class Level(enum.IntEnum):
    HIGH = 3


class Word(enum.StrEnum):
    YES = "yes"


def test_subclasses_become_the_plain_types() -> None:
    cleaned, _ = clean_json(
        {Word.YES: [Level.HIGH, Word.YES, np.float64(0.5), (1,), MappingProxyType({"a": 1})]}
    )
    assert cleaned == {"yes": [3, "yes", 0.5, [1], {"a": 1}]}
    assert [type(item) for item in cleaned["yes"]] == [int, str, float, list, dict]
    assert type(next(iter(cleaned))) is str


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def test_depth_is_bounded() -> None:
    assert clean_json(nested(MAX_DEPTH)) == (nested(MAX_DEPTH), False)
    for value in (nested(MAX_DEPTH + 1), nested(100_000), {"x": nested(MAX_DEPTH)}):
        with pytest.raises(UnusableValueError, match="nested more than 64 levels"):
            clean_json(value)


def test_a_cycle_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(UnusableValueError, match="nested more than 64"):
        clean_json({"x": loop})


@pytest.mark.parametrize(
    "value",
    [
        "x" * (MAX_SIZE + 1),
        {"k" * (MAX_SIZE + 1): 1},
        {"a": "x" * 600_000, "b": ["x" * 600_000]},
        {str(number): "y" * 9_000 for number in range(120)},
        [0] * (MAX_SIZE + 1),
    ],
    ids=["text", "key", "sum", "many", "numbers"],
)
def test_size_is_bounded(value: Any) -> None:
    with pytest.raises(UnusableValueError, match="longer than 1000000 characters"):
        clean_json(value)


def test_a_value_that_shares_its_parts_does_not_explode() -> None:
    value: Any = ["x"] * 10
    for _ in range(40):
        value = [value] * 10
    with pytest.raises(UnusableValueError, match="longer than"):
        clean_json(value)


def test_integers_are_bounded() -> None:
    assert clean_json({"n": 10**1000}) == ({"n": 10**1000}, False)
    with pytest.raises(UnusableValueError, match="an integer of more than 4096 bits"):
        clean_json({"n": -(10**5000)})
