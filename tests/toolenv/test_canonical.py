"""Canonical text holds exactly what Python's ``==`` compares."""

from __future__ import annotations

import copy
from collections import OrderedDict
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolenv.canonical import MAX_DEPTH, canonical, differences, digest
from toolenv.errors import UsageError

NAN = float("nan")

EQUAL: list[tuple[Any, Any]] = [
    (True, 1),
    (1, 1.0),
    (-0.0, 0),
    (False, -0.0),
    (0.5, Decimal("0.50")),
    (0.1, Fraction(3602879701896397, 36028797018963968)),
    (10**22, 1e22),
    (2**53, 2.0**53),
    (float("inf"), Decimal("Infinity")),
    ({"a": 1, "b": [True]}, {"b": [1.0], "a": 1.0}),
    ({1: "x"}, {True: "x"}),
    ({"a": {1, 2}}, {"a": frozenset({2.0, 1})}),
    ({"a": 1, "b": 2}, OrderedDict(b=2, a=1)),
    (b"ab", bytearray(b"ab")),
]

UNEQUAL: list[tuple[Any, Any]] = [
    (1, "1"),
    (None, "null"),
    (None, 0),
    ([], ()),
    ([], {}),
    ([], None),
    (set(), []),
    ([1, 2], [2, 1]),
    ([[1], 2], [1, [2]]),
    ({1: "x"}, {"1": "x"}),
    ({"a": None}, {}),
    (0.1, Decimal("0.1")),
    (10**23, 1e23),
    (2**53 + 1, 2.0**53),
    (float("inf"), float("-inf")),
    (float("inf"), "inf"),
    (b"ab", "ab"),
    ("a,b", ["a", "b"]),
    ('"', "'"),
    ("é", "e\u0301"),
    ("\ud800", "\udc00"),
    ("130.00", "130.0"),
]


@pytest.mark.parametrize(("left", "right"), EQUAL)
def test_equal_values_have_one_text_and_digest(left: Any, right: Any) -> None:
    assert left == right
    assert canonical(left) == canonical(right)
    assert digest([left]) == digest([right])
    assert differences(left, right) == ()


@pytest.mark.parametrize(("left", "right"), UNEQUAL)
def test_unequal_values_have_different_texts(left: Any, right: Any) -> None:
    assert left != right
    assert canonical(left) != canonical(right)
    assert digest({"a": left}) != digest({"a": right})
    assert len(differences(left, right)) >= 1


# Few values, so that equal pairs are common.
scalars = st.sampled_from(
    [None, True, False, 0, 1, -0.0, 1.0, 1.5, Decimal("1.5"), "", "1", "a", b"a", 10**30, 1e30]
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.lists(inner, max_size=2).map(tuple),
        st.dictionaries(scalars, inner, max_size=2),
        st.sets(scalars, max_size=2),
        st.frozensets(scalars, max_size=2),
    ),
    max_leaves=5,
)


@given(values, values)
@settings(max_examples=2_000, derandomize=True, deadline=None)
def test_texts_are_equal_exactly_where_python_says_so(left: Any, right: Any) -> None:
    assert (canonical(left) == canonical(right)) == (left == right)
    assert (differences(left, right) == ()) == (left == right)


@given(values)
@settings(max_examples=500, derandomize=True, deadline=None)
def test_a_copy_has_the_same_text(value: Any) -> None:
    assert canonical(copy.deepcopy(value)) == canonical(value)


def test_nan_equals_itself_so_that_a_state_equals_its_copy() -> None:
    assert digest({"a": NAN}) == digest({"a": float("nan")}) != digest({"a": "nan"})
    assert differences([NAN], [Decimal("NaN")]) == ()


def test_the_digest_is_sha256_of_the_text() -> None:
    assert canonical([1, 2.0]) == "[1,2]"
    # printf '[1,2]' | sha256sum
    assert digest([1, 2.0]) == "49a64717d5d4cb19952e6eac2946415cf6879adacf9908e7d872332d32c6e684"


def test_integers_too_long_for_pythons_decimal_text_are_compared_too() -> None:
    long = 10**5000
    assert canonical([long]) == canonical([long]) != canonical([long + 1])


class Point:
    def __init__(self, x: Any, label: str) -> None:
        self.x, self.label = x, label

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Point) and self.x == other.x

    __hash__ = None  # type: ignore[assignment]


def compared(value: Any) -> dict[str, Any]:
    return {"x": value.x}


def test_an_encoder_says_what_the_equality_of_other_objects_compares() -> None:
    left, right, other = Point([1], "a"), Point([1.0], "b"), Point([2], "a")
    assert canonical([left], encode=compared) == canonical([right], encode=compared)
    assert canonical([left], encode=compared) != canonical([other], encode=compared)
    assert canonical(left, encode=compared) != canonical({"x": [1]})
    assert differences({"p": left}, {"p": other}, encode=compared) == ("p.x[0]: expected 1, got 2",)


def test_an_unknown_object_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="no canonical form for object <object"):
        canonical({"a": object()})


def endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def test_what_is_too_deep_or_endless_is_refused() -> None:
    canonical(nested(MAX_DEPTH))
    for value in (nested(MAX_DEPTH + 1), endless()):
        with pytest.raises(RecursionError, match="128 containers"):
            canonical(value)


# ---- numeric fields and differences ----

GOLD = {"refund": "130.00", "qty": 72, "zip": "01234", "ids": ["7", "07"]}
FINAL = {"ids": ["7", "07"], "zip": "1234", "qty": 72.0, "refund": "130.0"}


def test_field_032_only_declared_fields_are_compared_as_numbers() -> None:
    assert differences(GOLD, FINAL, numeric_fields={"refund", "qty"}) == (
        "zip: expected '01234', got '1234'",
    )
    assert digest(GOLD, numeric_fields={"refund"}) == digest(
        {**FINAL, "zip": "01234"}, numeric_fields={"refund"}
    )


def test_field_032_without_a_declaration_text_is_text() -> None:
    assert differences(GOLD, FINAL) == (
        "refund: expected '130.00', got '130.0'",
        "zip: expected '01234', got '1234'",
    )


def test_field_032_identifiers_keep_their_zeros() -> None:
    assert differences({"ids": ["7", "07"]}, {"ids": ["07", "7"]}, numeric_fields={"refund"}) == (
        "ids[0]: expected '7', got '07'",
        "ids[1]: expected '07', got '7'",
    )


@pytest.mark.parametrize("actual", ["130.10", 130.1, Decimal("130.1"), "1301e-1", "+130.100"])
def test_a_numeric_field_takes_a_number_however_written(actual: Any) -> None:
    for wrap in (lambda value: {"fee": value}, lambda value: {"fee": [[value]]}):
        assert digest(wrap("130.1"), numeric_fields={"fee"}) == digest(wrap(actual), numeric_fields={"fee"})
        assert differences(wrap("130.1"), wrap(actual), numeric_fields={"fee"}) == ()


@pytest.mark.parametrize("text", ["", "1_000", "1,000", "0x10", "1e9999", "nan", "٣", "1 "])
def test_text_that_is_no_plain_number_stays_text(text: str) -> None:
    assert canonical({"fee": text}, numeric_fields={"fee"}) == canonical({"fee": text})


def test_a_field_ends_where_another_begins() -> None:
    left, right = {"fee": {"code": "1.0", 7: "1.0"}}, {"fee": {"code": "1", 7: "1"}}
    assert differences(left, right, numeric_fields={"fee"}) == ("fee.code: expected '1.0', got '1'",)


def test_differences_name_every_place_with_both_values() -> None:
    left = {"a": [1, {"b c": None}], "gone": (1,), "set": {1}, 3: "x", "kind": [1]}
    right = {"a": [2, {"b c": 0}, 5], "new": "y", "set": {2}, "kind": (1,), 3: "z"}
    assert set(differences(left, right)) == {
        "a[0]: expected 1, got 2",
        "a[1]['b c']: expected None, got 0",
        "a[2]: expected nothing, got 5",
        "gone: expected (1,), got nothing",
        "new: expected nothing, got 'y'",
        "set: expected {1}, got {2}",
        "kind: expected [1], got (1,)",
        "[3]: expected 'x', got 'z'",
    }


def test_long_values_are_shown_where_they_differ() -> None:
    (line,) = differences("a" * 5_000 + "left", "a" * 5_000 + "right")
    assert "left" in line
    assert "right" in line
    assert len(line) < 400
