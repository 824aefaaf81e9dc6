"""What a tool returned, as text: field cases 041, 042, 043, 079."""

from __future__ import annotations

import array
import datetime
import enum
import json
import math
from collections import OrderedDict, UserDict, deque, namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

import numpy as np
import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolenv.errors import ToolFault, UsageError
from toolenv.rendering import CYCLE, EMPTY_RESULT, TOO_DEEP, cut, foreign_type, render

Point = namedtuple("Point", "x y")


@dataclass
class Order:
    id: str
    total: Decimal


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Word(enum.StrEnum):
    YES = "yes"


class Model(pydantic.BaseModel):
    when: datetime.date
    price: Decimal


class NAType:
    """What pandas.NA is: a type of this name whose truth value cannot be told."""

    def __bool__(self) -> bool:
        raise TypeError("boolean value of NA is ambiguous")


class Columns(list[str]):
    @property
    def is_unique(self) -> bool:
        return len(set(self)) == len(self)


class Frame:
    """The shape of a pandas data frame, as far as rendering looks."""

    def __init__(self, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
        self._columns, self._rows = Columns(columns), rows

    @property
    def columns(self) -> Columns:
        return self._columns

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def to_dict(self, orient: str) -> list[dict[str, Any]]:
        assert orient == "records"
        return [dict(zip(self._columns, row, strict=True)) for row in self._rows]

    def itertuples(self, index: bool, name: None) -> list[tuple[Any, ...]]:
        assert not index
        return self._rows


class Silent:
    def __str__(self) -> str:
        raise RuntimeError("no words")


def numbers() -> Iterator[int]:
    yield 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain text, 東京", "plain text, 東京"),
        (None, "null"),
        (True, "true"),
        (3, "3"),
        (1.5, "1.5"),
        ({"b": 1, "a": [True, None]}, '{"b": 1, "a": [true, null]}'),
        ({"city": "東京"}, '{"city": "東京"}'),
        (datetime.datetime(2024, 5, 1, 12, 30), "2024-05-01T12:30:00"),
        (datetime.date(2024, 5, 1), "2024-05-01"),
        (datetime.timedelta(hours=1), "1:00:00"),
        (Decimal("1.10"), "1.10"),
        (Fraction(1, 3), "1/3"),
        ({"b", "a"}, '["a", "b"]'),
        ({3, 10, 2}, "[2, 3, 10]"),
        ({1, "a", None}, '["a", 1, null]'),
        (frozenset({frozenset({2}), frozenset({1})}), "[[1], [2]]"),
        (np.int64(3), "3"),
        (np.float32(0.5), "0.5"),
        (np.bool_(True), "true"),
        (np.array([[1, 2], [3, 4]]), "[[1, 2], [3, 4]]"),
        (np.array(["2024-05-01"], dtype="datetime64[ns]"), '["2024-05-01T00:00:00.000000000"]'),
        (np.str_("text"), "text"),
        (b"bytes", "bytes"),
        (b"\xff\x00", "ff00"),
        (Order("W1", Decimal("1.10")), '{"id": "W1", "total": "1.10"}'),
        (
            Model(when=datetime.date(2024, 5, 1), price=Decimal("1.10")),
            '{"when": "2024-05-01", "price": "1.10"}',
        ),
        ({("k", 1): 2}, '{"[\\"k\\", 1]": 2}'),
        ({datetime.date(2024, 5, 1): 1, None: {2}}, '{"2024-05-01": 1, "null": [2]}'),
        ({1: {2}, "1": 3}, '[["1", [2]], ["1", 3]]'),
        (Colour.RED, "red"),
        ([Level.HIGH, Word.YES, Colour.RED], '[3, "yes", "red"]'),
        (Word.YES, "yes"),
        (Point(1, 2), "[1, 2]"),
        (range(3), "[0, 1, 2]"),
        (deque([1]), "[1]"),
        (array.array("i", [1]), "[1]"),
        (OrderedDict(a=1), '{"a": 1}'),
        (UserDict(a=1), '{"a": 1}'),
        ({"a": 1}.values(), "[1]"),
        (PurePosixPath("/a/b"), "/a/b"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (ValueError("sold out"), "sold out"),
        (Frame(["a", "b"], [(1, NAType()), (2, "x")]), '[{"a": 1, "b": null}, {"a": 2, "b": "x"}]'),
        (Frame(["a", "a"], [(1, 2)]), '{"columns": ["a", "a"], "rows": [[1, 2]]}'),
        (Frame([], []), "[]"),
    ],
)
def test_field_042_whatever_a_tool_returns_has_one_text(value: Any, text: str) -> None:
    assert render(value) == text
    assert render(value) == text


@pytest.mark.parametrize("empty", ["", b"", ValueError()], ids=repr)
def test_field_042_the_empty_text_is_marked(empty: object) -> None:
    assert render(empty) == EMPTY_RESULT != ""


def test_field_042_cycles_are_cut() -> None:
    loop: list[Any] = [1]
    loop.append(loop)
    assert json.loads(render(loop)) == [1, CYCLE]
    shared = {"a": 1}
    assert json.loads(render({"x": shared, "y": shared, "z": {2}})) == {
        "x": {"a": 1},
        "y": {"a": 1},
        "z": [2],
    }


def test_deep_nesting_is_cut_and_not_a_crash() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    text = render(deep)
    assert TOO_DEEP in text
    assert text.count("[") == 64


@pytest.mark.parametrize("value", [map(str, [1]), numbers, lambda: 1, object(), Silent(), {"a": object()}])
def test_field_042_what_has_no_repeatable_text_is_the_tools_fault(value: object) -> None:
    with pytest.raises(ToolFault, match="a tool returned a"):
        render(value)


def test_field_042_a_generator_is_named() -> None:
    with pytest.raises(ToolFault, match="generator, which can be read only once; return a list"):
        render({"rows": numbers()})


def test_field_041_nan_and_infinity_become_null() -> None:
    value = {
        "price": math.nan,
        "hi": math.inf,
        "rows": [{"x": NAType()}, {"x": np.float64("nan")}, {"x": np.float32("inf")}, {"x": Decimal("NaN")}],
    }
    expected = '{"price": null, "hi": null, "rows": [{"x": null}, {"x": null}, {"x": null}, {"x": null}]}'
    assert render(value) == expected
    assert render(math.nan) == "null"


def test_an_integer_too_long_for_python_to_write() -> None:
    assert render({"n": 16**5000}) == '{"n": "0x1' + "0" * 5000 + '"}'


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        ("ok \ud83c end", "ok � end"),
        ("\ud83c\udf78", "🍸"),
        ({"t": "\ud83c\udf78", "u": "\udf78"}, '{"t": "🍸", "u": "�"}'),
        ("nul \0 sep \u2028 bom \ufeff rtl \u200f", "nul \0 sep \u2028 bom \ufeff rtl \u200f"),
    ],
)
def test_field_079_surrogates_are_mended(returned: object, text: str) -> None:
    assert render(returned) == text
    assert render(returned).encode()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: (
    st.lists(inner) | st.dictionaries(st.text(), inner) | st.sets(st.integers()) | st.tuples(inner)
)))  # fmt: skip
def test_every_text_is_strict_json_or_the_text_itself(value: object) -> None:
    text = render(value)
    assert text
    text.encode()
    if not isinstance(value, str):
        json.loads(text, parse_constant=pytest.fail)


def test_field_042_the_type_is_told_for_traces() -> None:
    assert foreign_type({"a": 1}) == foreign_type("") == foreign_type(None) == ""
    assert foreign_type(Decimal("1.10")) == "decimal.Decimal"
    assert foreign_type(np.int64(3)) == "numpy.int64"


def test_field_043_a_huge_result_is_cut_with_its_size() -> None:
    seen = cut("x" * 2_000_000, 20_000)
    assert len(seen) == 20_000
    assert seen.startswith("x" * 19_900)
    assert seen.endswith("… [cut: 2000000 characters in all]")


def test_field_043_the_cut_is_between_code_points() -> None:
    assert cut("🍸" * 200, 150) == "🍸" * 120 + "… [cut: 200 characters in all]"


@pytest.mark.parametrize("limit", [1, 2, 5, 10, 34, 99, 100, 101, 299])
def test_field_043_never_longer_than_the_limit(limit: int) -> None:
    assert len(cut("y" * 300, limit)) == limit
    assert "300" in cut("y" * 300, limit) or limit < 6


@pytest.mark.parametrize("limit", [None, 5, 6])
def test_short_texts_are_not_cut(limit: int | None) -> None:
    assert cut("short", limit) == "short"


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(limit: int) -> None:
    with pytest.raises(UsageError, match=f"limit of {limit} "):
        cut("text", limit)
