"""Arguments that plainly mean the right type: field cases 032 and 040."""

from __future__ import annotations

import copy
import json
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolenv.arguments import check_arguments, clean_json
from toolenv.coercion import MAX_STEPS, coerce, path_text
from toolenv.kernel.protocol import ArgumentPolicy
from toolenv.types import ToolSpec

INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}
BOOLEAN = {"type": "boolean"}
STRING = {"type": "string"}


def coerced(value: Any, schema: dict[str, Any]) -> tuple[Any, list[str]]:
    result, paths = coerce({"x": value}, {"type": "object", "properties": {"x": schema}})
    return result["x"], [path_text(path) for path in paths]


@pytest.mark.parametrize(
    ("value", "schema", "expected"),
    [
        ("3", INTEGER, 3),
        ("-3", INTEGER, -3),
        ("0", INTEGER, 0),
        ("3.0", INTEGER, 3),
        (3.0, INTEGER, 3),
        (-2.0, INTEGER, -2),
        ("3", NUMBER, 3),
        ("3.5", NUMBER, 3.5),
        ("1e3", NUMBER, 1000.0),
        ("-0.5E-2", NUMBER, -0.005),
        ("true", BOOLEAN, True),
        ("True", BOOLEAN, True),
        ("FALSE", BOOLEAN, False),
        ("3", {"type": ["integer", "null"]}, 3),
        ("true", {"type": ["integer", "boolean"]}, True),
        ("2", {"type": "integer", "enum": [1, 2]}, 2),
    ],
    ids=repr,
)
def test_field_040_what_is_plainly_meant_is_converted(
    value: Any, schema: dict[str, Any], expected: Any
) -> None:
    result, paths = coerced(value, schema)
    assert result == expected
    assert type(result) is type(expected)
    assert paths == ["x"]


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        *[
            (text, INTEGER)
            for text in ("3.7", "abc", "", " 3", "+3", "0x3", "3,000", "1e3", "٣", "NaN", "three")
        ],
        *[
            (text, NUMBER)
            for text in ("NaN", "Infinity", "1e999", "3.", ".5", "1_000", "0" * 10, "9" * 10_000)
        ],
        *[(text, BOOLEAN) for text in ("yes", "1", "0", "truee", "")],
        (True, INTEGER),
        (3.7, INTEGER),
        (1, BOOLEAN),
        (0, BOOLEAN),
        (3, STRING),
        (True, STRING),
        (None, INTEGER),
        (["3"], INTEGER),
        ("[1]", {"type": "array", "items": INTEGER}),
        ("{}", {"type": "object"}),
        ("null", {"type": "null"}),
    ],
)
def test_field_040_nothing_is_guessed(value: Any, schema: dict[str, Any]) -> None:
    assert coerced(value, schema) == (value, [])


@pytest.mark.parametrize("text", ["007", "01234", "-01"])
def test_field_032_identifiers_with_leading_zeros_are_no_numbers(text: str) -> None:
    assert coerced(text, INTEGER) == coerced(text, NUMBER) == (text, [])


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        ("3", {"type": ["string", "integer"]}),
        ("3", {"anyOf": [INTEGER, STRING]}),
        ("true", {"oneOf": [BOOLEAN, STRING]}),
        (3.0, NUMBER),
        (3.0, {"type": ["integer", "number"]}),
        (3.0, {"anyOf": [INTEGER, NUMBER]}),
        ("3", {}),
        ("3", {"description": "anything"}),
        ({"n": "3"}, {"type": "object"}),
        (["3"], {"type": "array", "items": {}}),
        (["3"], {"type": "array", "items": False}),
    ],
    ids=repr,
)
def test_a_value_that_is_allowed_is_left_alone(value: Any, schema: dict[str, Any]) -> None:
    result, paths = coerced(value, schema)
    assert result is value
    assert paths == []


def test_nested_values_are_coerced_and_named() -> None:
    order = {"type": "object", "properties": {"quantity": INTEGER, "note": STRING}}
    schema = {
        "type": "object",
        "properties": {
            "orders": {"type": "array", "items": order},
            "flags": {"type": "object", "additionalProperties": BOOLEAN},
            "pair": {"type": "array", "prefixItems": [STRING, NUMBER], "items": INTEGER},
            "limit": {"anyOf": [INTEGER, {"type": "null"}]},
            "all": {"allOf": [INTEGER, {"minimum": 1}]},
        },
    }
    arguments = {
        "orders": [{"quantity": 1, "note": "2"}, {"quantity": "2", "note": "3"}],
        "flags": {"gift": "true", "fast": False},
        "pair": ["1", "2.5", "3", 4.0],
        "limit": "7",
        "all": "8",
        "unknown": "9",
    }
    before = copy.deepcopy(arguments)
    result, paths = coerce(arguments, schema)
    assert result == {
        "orders": [{"quantity": 1, "note": "2"}, {"quantity": 2, "note": "3"}],
        "flags": {"gift": True, "fast": False},
        "pair": ["1", 2.5, 3, 4],
        "limit": 7,
        "all": 8,
        "unknown": "9",
    }
    assert [path_text(path) for path in paths] == [
        *("orders[1].quantity", "flags.gift", "pair[1]", "pair[2]", "pair[3]", "limit", "all")
    ]
    assert arguments == before


def test_of_alternatives_the_one_that_changes_least_is_taken() -> None:
    integers = {"type": "array", "items": INTEGER}
    mixed = {"type": "array", "items": {"anyOf": [STRING, BOOLEAN]}}
    assert coerced(["1", "true"], {"anyOf": [integers, mixed]}) == (["1", "true"], [])
    kinds = [
        {"type": "object", "properties": {"kind": {"enum": ["a"]}, "n": STRING}},
        {"type": "array", "items": INTEGER},
    ]
    assert coerced({"kind": "a", "n": "1"}, {"oneOf": kinds}) == ({"kind": "a", "n": "1"}, [])
    assert coerced(["1"], {"oneOf": kinds}) == ([1], ["x[0]"])


def test_references_into_the_schema_are_followed() -> None:
    tree = {
        "type": "object",
        "properties": {"v": INTEGER, "kids": {"type": "array", "items": {"$ref": "#/$defs/a~1b"}}},
    }
    schema = {"type": "object", "properties": {"t": {"$ref": "#/$defs/a~1b"}}, "$defs": {"a/b": tree}}
    value = {"t": {"v": "1", "kids": [{"v": "2"}]}}
    assert coerce(value, schema) == (
        {"t": {"v": 1, "kids": [{"v": 2}]}},
        (("t", "v"), ("t", "kids", 0, "v")),
    )


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/gone"},
        {"allOf": [{"$ref": "#"}]},
        {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"type": "object", "properties": {"x": {"$ref": "#/properties/x"}}},
    ],
    ids=repr,
)
def test_a_schema_that_goes_in_circles_changes_nothing(schema: dict[str, Any]) -> None:
    assert coerce({"x": "3"}, schema) == ({"x": "3"}, ())


def test_hostile_nesting_in_alternatives_takes_bounded_time() -> None:
    """Two like alternatives at each of 60 levels would be 2 ** 60 visits without a bound."""
    alternatives = [{"type": "array", "items": {"$ref": "#/$defs/v"}}] * 2
    schema = {"$defs": {"v": {"anyOf": [*alternatives, INTEGER]}}, "properties": {"x": {"$ref": "#/$defs/v"}}}
    value: Any = "3"
    for _ in range(60):
        value = [value]
    coerce({"x": value}, schema)


def test_more_items_than_steps_stay_as_they_are() -> None:
    items = ["1"] * (3 * MAX_STEPS)
    result, paths = coerced(items, {"type": "array", "items": INTEGER})
    assert len(paths) < MAX_STEPS
    assert result[0] == 1
    assert result[-1] == "1"


def test_long_names_in_paths_are_cut() -> None:
    assert path_text(("x" * 1000, 3, "y")) == "x" * 100 + "[3].y"
    assert path_text(()) == ""


HOSTILE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(["1", "true", "2.0"]),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["a", "n", "deep", "x"]) | st.text(), inner)
    ),
    max_leaves=20,
)
DEEP = ToolSpec(
    "deep",
    "",
    {
        "type": "object",
        "properties": {
            "a": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/d"}}, {"type": "integer"}]},
            "n": {"type": ["number", "null"]},
            "deep": {"$ref": "#/$defs/d"},
        },
        "required": ["n"],
        "$defs": {
            "d": {"type": "object", "properties": {"n": {"type": "integer"}, "deep": {"$ref": "#/$defs/d"}}}
        },
    },
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.dictionaries(st.sampled_from(["a", "n", "deep", "x"]) | st.text(), HOSTILE),
    st.sampled_from(get_args(ArgumentPolicy)),
)
def test_nothing_an_agent_sends_raises(sent: dict[str, Any], policy: ArgumentPolicy) -> None:
    cleaned, _ = clean_json(sent)
    before = json.dumps(cleaned)
    checked = check_arguments(DEEP, cleaned, policy)
    assert json.dumps(cleaned) == before
    if not checked.problem and policy != "record":
        assert check_arguments(DEEP, checked.arguments, "strict").problem == ""
        again = check_arguments(DEEP, checked.arguments, policy)
        assert again == (checked.arguments, "", None)
