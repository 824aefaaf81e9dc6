"""Checking the arguments of calls: field case 040 and what agents are told."""

from __future__ import annotations

import copy
import gc
import threading
from types import MappingProxyType
from typing import Any, get_args

import pytest

from toolenv import arguments as arguments_module
from toolenv.arguments import check_arguments, checker_for
from toolenv.errors import SchemaError
from toolenv.kernel.protocol import ArgumentPolicy
from toolenv.schema import to_json_schema
from toolenv.types import ToolSpec

POLICIES: tuple[ArgumentPolicy, ...] = get_args(ArgumentPolicy)


def tool(required: tuple[str, ...] = (), **properties: Any) -> ToolSpec:
    return ToolSpec(
        "find", parameters=to_json_schema({"properties": properties, "required": list(required)})[0]
    )


FIELD_040 = tool(limit={"type": "integer"}, flag={"type": "boolean"})


def test_field_040_coerce_runs_what_is_plainly_meant() -> None:
    checked = check_arguments(FIELD_040, {"limit": "3", "flag": "true"}, "coerce")
    assert checked == ({"limit": 3, "flag": True}, "", {"coerced": ["limit", "flag"]})
    checked = check_arguments(FIELD_040, {"limit": 3.0}, "coerce")
    assert checked == ({"limit": 3}, "", {"coerced": ["limit"]})
    assert type(checked.arguments["limit"]) is int


@pytest.mark.parametrize(("limit", "shown"), [("3.7", '"3.7"'), ("abc", '"abc"'), (True, "true")], ids=repr)
@pytest.mark.parametrize("policy", ["coerce", "strict"])
def test_field_040_the_rest_is_refused_with_a_text_for_the_agent(
    limit: object, shown: str, policy: ArgumentPolicy
) -> None:
    checked = check_arguments(FIELD_040, {"limit": limit}, policy)
    assert checked.problem == f"invalid arguments for find: limit: expected integer, got {shown}"
    assert checked.record is None


def test_field_040_strict_refuses_what_the_schema_refuses_and_changes_nothing() -> None:
    assert check_arguments(FIELD_040, {"limit": "3"}, "strict").problem.endswith('expected integer, got "3"')
    checked = check_arguments(FIELD_040, {"limit": 3.0}, "strict")
    assert checked == ({"limit": 3.0}, "", None)
    assert type(checked.arguments["limit"]) is float


@pytest.mark.parametrize("limit", ["3", "3.7", "abc", True, None, [], {"x": 1}], ids=repr)
def test_field_040_record_never_refuses(limit: object) -> None:
    sent = {"limit": limit, "unknown": 1}
    checked = check_arguments(FIELD_040, sent, "record")
    assert checked.arguments is sent
    assert checked.problem == ""
    assert checked.record is not None
    assert "unknown parameter 'unknown'" in checked.record["schema_error"]
    assert "limit: expected integer" in checked.record["schema_error"]
    assert check_arguments(FIELD_040, {"limit": 3}, "record") == ({"limit": 3}, "", None)


def test_nested_values_are_checked_and_coerced() -> None:
    item = {"type": "dict", "properties": {"n": {"type": "int"}}, "required": ["n"]}
    nested = tool(items={"type": "list", "items": item})
    sent = {"items": [{"n": 1}, {"n": "2"}, {"n": 3.0, "more": 1}]}
    before = copy.deepcopy(sent)
    checked = check_arguments(nested, sent, "coerce")
    assert checked.arguments == {"items": [{"n": 1}, {"n": 2}, {"n": 3, "more": 1}]}
    assert checked.record == {"coerced": ["items[1].n", "items[2].n"]}
    assert sent == before
    assert check_arguments(nested, {"items": [{"n": 1}, {"n": "x"}]}, "coerce").problem == (
        'invalid arguments for find: items[1].n: expected integer, got "x"'
    )


@pytest.mark.parametrize("policy", POLICIES)
def test_what_is_right_passes_unchanged(policy: ArgumentPolicy) -> None:
    spec = tool(("a",), a={"type": "float"}, l={"type": "list", "items": {"type": "int"}}, m={"type": "any"})
    for sent in ({"a": 1}, {"a": 1.5, "l": [1, 2], "m": {"x": None}}, {"a": 10**30, "m": "3"}):
        checked = check_arguments(spec, sent, policy)
        assert checked == (sent, "", None)
        assert checked.arguments is sent
        assert check_arguments(spec, MappingProxyType(sent), policy) == checked


def test_everything_wrong_is_named_at_once() -> None:
    spec = tool(
        ("city", "days"),
        city={"type": "string"},
        days={"type": "integer"},
        unit={"type": "string", "enum": ["C", "F"]},
        limit={"anyOf": [{"type": "integer"}, {"type": "null"}]},
    )
    assert check_arguments(spec, {"citty": "Rome", "unit": "K", "limit": "x"}, "coerce").problem == (
        "invalid arguments for find: missing required parameters 'city', 'days'; "
        "unknown parameter 'citty', did you mean 'city'?; "
        'unit: expected one of "C", "F", got "K"; limit: expected integer or null, got "x"'
    )
    assert check_arguments(spec, {"city": "Rome"}, "strict").problem == (
        "invalid arguments for find: missing required parameter 'days'"
    )


@pytest.mark.parametrize(
    ("properties", "sent", "problem"),
    [
        ({}, {"x": 1}, "unknown parameter 'x', it takes no parameters"),
        ({"alpha": {}}, {"zzz": 1}, "unknown parameter 'zzz', known are alpha"),
        ({"n": {"minimum": 3}}, {"n": 1}, "n: the value is less than the minimum of 3, got 1"),
        ({"n": {"type": ["null", "integer"]}}, {"n": []}, "n: expected integer or null, got []"),
        ({"o": {"type": "dict", "required": ["a"], "properties": {"a": {}}}}, {"o": {}},
         'o: "a" is a required property, got {}'),
        ({"s": {"type": "int"}}, {"s": "東" * 500}, 's: expected integer, got "' + "東" * 199 + "…"),
        ({"e": {"enum": ["x" * 150, "y" * 150]}}, {"e": 1},
         f'e: expected one of "{"x" * 150}", "{"y" * 45}…, got 1'),
        ({"l": {"type": "list", "items": {"type": "int"}}}, {"l": ["a"] * 300_000},
         'does not match the schema: {"l": ' + ('["' + 'a", "' * 100)[:194] + "…"),
    ],
    ids=["none", "known", "bound", "types", "nested", "long", "enum", "huge"],
)  # fmt: skip
def test_what_agents_are_told(properties: dict[str, Any], sent: dict[str, Any], problem: str) -> None:
    checked = check_arguments(tool(**properties), sent, "strict")
    assert checked.problem == f"invalid arguments for find: {problem}"


def test_the_text_stays_short_whatever_the_agent_sends() -> None:
    many = {f"name{number}" * 100: "x" * 1000 for number in range(300)}
    spec = tool(**{f"n{number}": {"type": "integer"} for number in range(9)})
    bad = {f"n{number}": "x" * 1000 for number in range(9)}
    for sent in (many, bad):
        problem = check_arguments(spec, sent, "coerce").problem
        assert problem.endswith("; and more")
        assert problem.count("; ") == 5
        assert len(problem) < 3000


def test_the_name_is_the_one_the_agent_was_shown() -> None:
    spec = ToolSpec("math.add", "", {"type": "object", "properties": {}}, "math_add")
    assert "for math_add:" in check_arguments(spec, {"x": 1}, "strict").problem


@pytest.mark.parametrize(
    "extra",
    [
        {"additionalProperties": True},
        {"additionalProperties": {"type": "integer"}},
        {"patternProperties": {"^x": {}}},
        {"allOf": [{"properties": {"x": {}}}]},
        {"$ref": "#/$defs/more", "$defs": {"more": {"properties": {"x": {}}}}},
    ],
    ids=repr,
)
def test_names_that_the_schema_leaves_open_are_accepted(extra: dict[str, Any]) -> None:
    spec = ToolSpec("find", "", {"type": "object", "properties": {"a": {}}, **extra})
    assert check_arguments(spec, {"a": 1, "x": 2}, "strict").problem == ""


def test_additional_properties_that_have_a_schema_are_coerced_and_checked() -> None:
    spec = ToolSpec(
        "find", "", {"type": "object", "properties": {}, "additionalProperties": {"type": "integer"}}
    )
    assert check_arguments(spec, {"x": "2"}, "coerce").arguments == {"x": 2}
    assert check_arguments(spec, {"x": "b"}, "coerce").problem.endswith('x: expected integer, got "b"')


def test_a_constraint_on_the_whole_is_explained_too() -> None:
    spec = ToolSpec("find", "", {"type": "object", "minProperties": 1})
    assert check_arguments(spec, {}, "strict").problem == (
        "invalid arguments for find: the value has less than 1 property, got {}"
    )


@pytest.mark.parametrize("policy", POLICIES)
def test_null_is_accepted_where_it_is_the_default(policy: ArgumentPolicy) -> None:
    """376 BFCL answers list null for a parameter of another type whose default is null."""
    nested = {"type": "dict", "properties": {"n": {"type": "int", "default": None}}}
    spec = tool(
        s={"type": "string", "default": None},
        e={"type": "string", "enum": ["a"], "default": None},
        o=nested,
        other={"type": "string", "default": "x"},
    )
    before = copy.deepcopy(spec.parameters)
    sent = {"s": None, "e": None, "o": {"n": None}}
    assert check_arguments(spec, sent, policy) == (sent, "", None)
    assert spec.parameters == before
    assert check_arguments(spec, {"other": None}, "strict").problem.endswith(
        "other: expected string, got null"
    )
    assert check_arguments(spec, {"s": 3}, "strict").problem.endswith("s: expected string or null, got 3")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"properties": {"x": {"type": "objet"}}},
            "tool 'bad' are no valid JSON Schema, at properties/x/type",
        ),
        ({"properties": {"x": {"$ref": "http://localhost/s"}}}, "nothing is fetched"),
        ({"properties": {"x": {"const": {1}}}}, "Unsupported type: 'set'"),
    ],
)
def test_a_schema_that_cannot_be_used_is_a_programmers_mistake(parameters: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        checker_for(ToolSpec("bad", "", parameters))


def test_checkers_are_compiled_once_and_never_mixed_up() -> None:
    checker = checker_for(FIELD_040)
    check_arguments(FIELD_040, {"limit": 1}, "strict")
    assert checker_for(FIELD_040) is checker
    assert checker_for(copy.copy(FIELD_040)) is not checker
    for number in range(200):
        spec = tool(**{f"only{number}": {"type": "integer"}})
        assert check_arguments(spec, {f"only{number}": 1}, "strict").problem == ""
        del spec
        gc.collect(0)


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arguments_module, "_checkers", {})
    monkeypatch.setattr(arguments_module, "MAX_CHECKERS", 10)
    specs = [tool(**{f"p{number}": {"type": "integer"}}) for number in range(50)]
    for _ in range(2):
        for number, spec in enumerate(specs):
            assert check_arguments(spec, {f"p{number}": 1}, "strict").problem == ""
            assert len(arguments_module._checkers) <= 10


def test_many_threads_may_check_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arguments_module, "_checkers", {})
    monkeypatch.setattr(arguments_module, "MAX_CHECKERS", 5)
    specs = [tool(**{f"p{number}": {"type": "integer"}}) for number in range(20)]
    wrong: list[str] = []

    def work() -> None:
        for _ in range(20):
            for number, spec in enumerate(specs):
                checked = check_arguments(spec, {f"p{number}": "4"}, "coerce")
                if checked.arguments != {f"p{number}": 4}:
                    wrong.append(checked.problem)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
