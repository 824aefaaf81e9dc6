"""Schema conversion: field case 068 and every tool of the real data."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from toolenv.errors import SchemaError
from toolenv.schema import fits_type, to_json_schema


def properties(**parts: Any) -> dict[str, Any]:
    return to_json_schema({"type": "dict", "properties": parts})[0]["properties"]


def test_field_068_types_items_and_required() -> None:
    parameters = {
        "type": "dict",
        "properties": {
            "xs": {"type": "array"},
            "w": {"type": "float"},
            "t": {"type": "tuple", "items": {"type": "integer"}},
            "m": {"type": "any"},
            "o": {"type": "dict"},
        },
        "required": ["xs", "nope"],
    }
    before = copy.deepcopy(parameters)
    schema, warnings = to_json_schema(parameters, "task_1, find")
    assert schema == {
        "type": "object",
        "properties": {
            "xs": {"type": "array", "items": {}},
            "w": {"type": "number"},
            "t": {"type": "array", "items": {"type": "integer"}},
            "m": {},
            "o": {"type": "object"},
        },
        "required": ["xs"],
    }
    assert warnings == ("task_1, find: dropped from 'required': ['nope']",)
    assert parameters == before
    jsonschema_rs.meta.validate(schema)


def test_field_068_conversion_reaches_every_nested_schema() -> None:
    inner = {"type": "dict", "properties": {"n": {"type": "list"}}, "required": ["n", "gone"]}
    want = {"type": "object", "properties": {"n": {"type": "array", "items": {}}}, "required": ["n"]}
    given = {
        "deep": {"type": "list", "items": {"type": "tuple", "items": inner}},
        "either": {"anyOf": [inner, {"type": "none"}]},
        "map": {"type": "HashMap", "additionalProperties": inner},
        "pair": {"type": "tuple", "items": [inner, {"type": "float"}]},
        "open": {"type": "dict", "additionalProperties": True, "patternProperties": {"^x": inner}},
    }
    assert properties(**given) == {
        "deep": {"type": "array", "items": {"type": "array", "items": want}},
        "either": {"anyOf": [want, {"type": "null"}]},
        "map": {"type": "object", "additionalProperties": want},
        "pair": {"type": "array", "prefixItems": [want, {"type": "number"}], "items": {}},
        "open": {"type": "object", "additionalProperties": True, "patternProperties": {"^x": want}},
    }


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        *[(spelling, "object") for spelling in ("dict", "object", "HashMap", "Hashtable")],
        *[
            (spelling, "array")
            for spelling in ("array", "list", "tuple", "ArrayList", "Array", "Queue", "Stack")
        ],
        *[(spelling, "integer") for spelling in ("integer", "int", "long", "short", "byte", "Bigint")],
        *[(spelling, "number") for spelling in ("number", "float", "double")],
        *[(spelling, "string") for spelling in ("string", "str", "String", "char")],
        *[(spelling, "boolean") for spelling in ("boolean", "bool", "Boolean")],
    ],
)
def test_upstreams_type_names(spelling: str, name: str) -> None:
    """The spellings of upstream's ``constants/type_mappings.py``, ``any`` apart (see FIELD-068)."""
    assert properties(x={"type": spelling})["x"]["type"] == name


def test_several_types_at_once() -> None:
    given = {
        "a": {"type": ["float", "int", "double"]},
        "b": {"type": ["str", "any"]},
        "c": {"type": ["dict"]},
    }
    assert properties(**given) == {"a": {"type": ["number", "integer"]}, "b": {}, "c": {"type": "object"}}


def test_a_missing_type_is_read_off_the_rest() -> None:
    given = {
        "o": {"properties": {"x": {}}},
        "a": {"items": {"type": "int"}},
        "n": {"description": "anything"},
    }
    assert properties(**given) == {
        "o": {"type": "object", "properties": {"x": {}}},
        "a": {"type": "array", "items": {"type": "integer"}},
        "n": {"description": "anything"},
    }


def test_keywords_are_told_from_parameters_of_the_same_name() -> None:
    given = {"optional": {"type": "bool", "optional": True}, "type": {"type": "str"}, "enum": {"type": "int"}}
    assert properties(**given) == {
        "optional": {"type": "boolean"},
        "type": {"type": "string"},
        "enum": {"type": "integer"},
    }


def test_the_top_is_always_an_object_with_properties_and_required() -> None:
    empty = {"type": "object", "properties": {}, "required": []}
    for parameters in ({}, {"type": "dict"}, {"type": "dict", "properties": {}, "required": None}):
        assert to_json_schema(parameters)[0] == empty
    schema, warnings = to_json_schema(
        {"properties": {"a": {}}, "anyOf": [{"required": ["a"]}], "$schema": "x"}
    )
    assert schema == {**empty, "properties": {"a": {}}}
    assert [warning for warning in warnings if "'anyOf', which servers refuse" in warning]


def test_enums_and_defaults_are_kept_as_they_are() -> None:
    given = {
        "n": {"type": "integer", "enum": [1, 2], "default": 1},
        "s": {"type": "string", "default": None},
        "l": {"type": "array", "items": {"type": "string"}, "default": [{"a": 1.5}]},
        "f": {"type": "float", "enum": [0.5, 1], "minimum": 0},
    }
    assert properties(**given) == given | {"f": {"type": "number", "enum": [0.5, 1], "minimum": 0}}


def test_nothing_is_shared_with_the_input() -> None:
    parameters = {"properties": {"l": {"type": "array", "default": [[1]], "enum": [[[1]], [[2]]]}}}
    schema, _ = to_json_schema(parameters)
    schema["properties"]["l"]["default"][0].append(2)
    schema["properties"]["l"]["enum"][0].append(2)
    assert parameters == {"properties": {"l": {"type": "array", "default": [[1]], "enum": [[[1]], [[2]]]}}}


@pytest.mark.parametrize("default", [float("nan"), {1, 2}, object()], ids=["nan", "set", "object"])
def test_a_default_that_is_not_json_is_dropped_with_a_warning(default: object) -> None:
    schema, warnings = to_json_schema({"properties": {"x": {"type": "float", "default": default}}}, "tool f")
    assert schema["properties"]["x"] == {"type": "number"}
    assert len(warnings) == 1
    assert warnings[0].startswith("tool f.x: dropped the default")


def test_an_enum_on_an_array_is_that_of_its_items() -> None:
    """As in live_multiple_146-58-0, whose ground truth gives lists of the enum's words."""
    schema, warnings = to_json_schema(
        {"properties": {"metrics": {"type": "array", "items": {"type": "string"}, "enum": ["noise", "co2"]}}}
    )
    assert schema["properties"]["metrics"] == {
        "type": "array",
        "items": {"type": "string", "enum": ["noise", "co2"]},
    }
    assert len(warnings) == 1


def test_an_enum_that_its_type_forbids_is_believed() -> None:
    """As in live_multiple, where the ground truth of such a boolean is ``"dontcare"``."""
    schema, warnings = to_json_schema(
        {"properties": {"unisex": {"type": "boolean", "enum": ["True", "False", "dontcare"]}}}
    )
    assert schema["properties"]["unisex"] == {"type": "string", "enum": ["True", "False", "dontcare"]}
    assert "no 'enum' value is of type boolean" in warnings[0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"properties": {"x": {"type": "flaot"}}},
            r"unknown type 'flaot' in get, t1\.x; did you mean 'float'\?",
        ),
        (
            {"properties": {"x": {"items": {"type": "strng"}}}},
            r"unknown type 'strng' in get, t1\.x\[\]; did you mean",
        ),
        ({"properties": {"x": {"type": 3}}}, r"unknown type 3 in get, t1\.x; known: any, array"),
        ({"properties": {"x": "string"}}, r"get, t1\.x: a schema is an object, not 'string'"),
        ({"properties": [1]}, r"get, t1, 'properties': expected an object of named schemas, got \[1\]"),
        ({"properties": {"x": {"anyOf": {}}}}, r"get, t1\.x anyOf: expected a list of schemas"),
        ({"properties": {"x": {"minimum": "3"}}}, "get, t1: no valid JSON Schema at 'properties/x/minimum'"),
        ({"properties": {"x": {"const": {1}}}}, r"get, t1\.x, 'const': \{1\} is not a JSON value"),
        ({"type": "array"}, "get, t1: arguments are an object, but the schema's type is 'array'"),
        ([], r"get, t1: a schema is an object, not \[\]"),
    ],
)
def test_what_cannot_be_converted_is_named(parameters: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        to_json_schema(parameters, "get, t1")


def test_a_schema_within_itself_is_refused() -> None:
    loop: dict[str, Any] = {"type": "array"}
    loop["items"] = loop
    with pytest.raises(SchemaError, match="nested more than 64 levels"):
        to_json_schema({"properties": {"x": loop}})


@pytest.mark.parametrize(
    ("value", "types"),
    [
        (3, {"integer", "number"}),
        (3.0, {"integer", "number"}),
        (3.5, {"number"}),
        (True, {"boolean"}),
        ("3", {"string"}),
        (None, {"null"}),
        ([], {"array"}),
        ({}, {"object"}),
        (float("inf"), {"number"}),
    ],
    ids=lambda one: "-".join(sorted(one)) if isinstance(one, set) else repr(one),
)
def test_fits_type_agrees_with_the_standard(value: object, types: set[str]) -> None:
    names = ("integer", "number", "boolean", "string", "null", "array", "object")
    assert {name for name in names if fits_type(value, name)} == types
    assert not fits_type(value, "any")


def bfcl_tools(datasets: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    data = datasets / "bfcl/bfcl_eval/data"
    for file in sorted(data.glob("BFCL_v4_*.json")):
        for line in file.read_text().splitlines():
            if line.startswith('{"id"'):
                entry = json.loads(line)
                for function in entry.get("function", ()):
                    yield f"{entry['id']}, {function['name']}", function["parameters"]
    for file in sorted((data / "multi_turn_func_doc").glob("*.json")):
        for line in file.read_text().splitlines():
            function = json.loads(line)
            yield f"{file.stem}, {function['name']}", function["parameters"]


def test_field_068_every_bfcl_tool_converts(shared_datasets: Path) -> None:
    """8,888 tools; the counts of mended schemas were taken from the files by hand."""
    tools = list(bfcl_tools(shared_datasets))
    before = copy.deepcopy(tools)
    mended: Counter[str] = Counter()
    for where, parameters in tools:
        schema, warnings = to_json_schema(parameters, where)
        jsonschema_rs.meta.validate(schema)
        assert list(schema["properties"]) == list(parameters["properties"])
        assert schema["required"] == parameters.get("required", [])
        _assert_strict(schema, where)
        mended.update(warning.removeprefix(where).partition(": ")[2][:20] for warning in warnings)
    assert tools == before
    assert len(tools) == 8_888
    assert mended == {
        "no 'enum' value is o": 114,
        "'enum' of the array ": 22,
        "dropped from 'requir": 1,
        "the type is empty, s": 1,
    }


def test_every_tau_bench_tool_is_left_as_it_is(shared_datasets: Path) -> None:
    """Theirs are JSON Schema already; only ``required`` may have to be added."""
    count = 0
    for domain in ("retail", "airline"):
        for tool in json.loads((shared_datasets / f"tau-bench/derived/{domain}_tools.json").read_text()):
            parameters = tool["function"]["parameters"]
            schema, warnings = to_json_schema(parameters, tool["function"]["name"])
            assert schema == {"required": [], **parameters}
            assert warnings == ()
            jsonschema_rs.meta.validate(schema)
            _assert_strict(schema, tool["function"]["name"])
            count += 1
    assert count == 30


def _assert_strict(schema: dict[str, Any], where: str) -> None:
    """No type but JSON Schema's, items on every array, required names that exist: all through."""
    names = schema.get("type", [])
    for name in [names] if isinstance(names, str) else names:
        assert name in {"object", "array", "string", "number", "integer", "boolean", "null"}, where
    assert "optional" not in schema
    assert ("items" in schema) == (names == "array"), where
    assert set(schema.get("required", ())) <= set(schema.get("properties", ())), where
    for part in [*schema.get("properties", {}).values(), schema.get("items", {})]:
        if part:
            _assert_strict(part, where)
