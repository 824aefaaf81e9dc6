"""Tools from Python functions: field case 100."""

from __future__ import annotations

import datetime
import enum
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import jsonschema_rs
import pydantic
import pytest
from typing_extensions import TypedDict

from toolenv.arguments import check_arguments
from toolenv.errors import SchemaError
from toolenv.function_schema import tool_from_function


class Options(TypedDict, total=False):
    title: str
    weight: float


class Unit(enum.Enum):
    CELSIUS = "C"
    FAHRENHEIT = "F"


@dataclass
class Place:
    city: str
    radius: float = 1.5


class Node(pydantic.BaseModel):
    value: int
    children: list[Node] = []


def find(
    ids: list[int],
    mode: Literal["a", "b"] = "a",
    when: datetime.date | None = None,
    opts: Options | dict[str, float] | None = None,
) -> str:
    """Find things.

    Slowly, if need be.

    Args:
        ids: which ones,
            all of them.
        mode (str): how.
        when: on which day.
        opts: what else.

    Returns:
        What was found.
    """
    return ""


def test_field_100_a_typed_documented_function() -> None:
    tool = tool_from_function(find)
    assert tool.name == "find"
    assert tool.description == "Find things.\n\nSlowly, if need be."
    options = {"type": "object", "properties": {"title": {"type": "string"}, "weight": {"type": "number"}}}
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "ids": {"type": "array", "items": {"type": "integer"}, "description": "which ones, all of them."},
            "mode": {"type": "string", "enum": ["a", "b"], "default": "a", "description": "how."},
            "when": {
                "anyOf": [{"type": "string", "format": "date"}, {"type": "null"}],
                "default": None,
                "description": "on which day.",
            },
            "opts": {
                "anyOf": [
                    options,
                    {"type": "object", "additionalProperties": {"type": "number"}},
                    {"type": "null"},
                ],
                "default": None,
                "description": "what else.",
            },
        },
        "required": ["ids"],
    }
    assert list(tool.parameters["properties"]) == ["ids", "mode", "when", "opts"]
    jsonschema_rs.meta.validate(dict(tool.parameters))


def test_field_100_nested_types_are_written_out_and_defaults_kept() -> None:
    def book(place: Place, unit: Unit = Unit.CELSIUS, day: datetime.date = datetime.date(2024, 5, 1)) -> None:
        """Book.

        Args:
            place: where.
            unit: in what.
            day: when.
        """

    tool = tool_from_function(book)
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "place": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "radius": {"type": "number", "default": 1.5}},
                "required": ["city"],
                "description": "where.",
            },
            "unit": {"type": "string", "enum": ["C", "F"], "default": "C", "description": "in what."},
            "day": {"type": "string", "format": "date", "default": "2024-05-01", "description": "when."},
        },
        "required": ["place"],
    }


def test_types_that_hold_themselves_keep_their_references() -> None:
    def plant(tree: Node) -> None:
        """Plant.

        Args:
            tree: a tree.
        """

    tool = tool_from_function(plant)
    assert tool.parameters["properties"]["tree"] == {"$ref": "#/$defs/Node", "description": "a tree."}
    good = {"tree": {"value": 1, "children": [{"value": 2}]}}
    assert check_arguments(tool, good, "strict").problem == ""
    bad = {"tree": {"value": 1, "children": [{"value": "2"}]}}
    assert "tree.children[0].value: expected integer" in check_arguments(tool, bad, "strict").problem
    assert check_arguments(tool, bad, "coerce").arguments == good


def test_a_function_without_parameters_and_a_method() -> None:
    class Shop:
        def close(self) -> None:
            """Close the shop."""

        def open(self, hour: int) -> None:
            """Open it.

            Args:
                hour: when.
            """

    assert tool_from_function(Shop().close).parameters == {"type": "object", "properties": {}, "required": []}
    assert list(tool_from_function(Shop().open).parameters["properties"]) == ["hour"]
    with pytest.raises(SchemaError, match="parameter 'self' has no type annotation"):
        tool_from_function(Shop.open)


def documented(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def give(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__name__ = "tool"
        function.__doc__ = "Do.\n\nArgs:\n" + "\n".join(f"    {name}: it" for name in names)
        return function

    return give


class Foreign:
    pass


@documented("ids")
def star(ids: int, *args: int) -> None: ...


@documented("ids")
def double_star(ids: int, **kwargs: int) -> None: ...


@documented("ids")
def positional(ids: int, /) -> None: ...


@documented("ids", "ctx")
def context(ids: int, ctx=None) -> None: ...  # type: ignore[no-untyped-def]


@documented("ids")
def undocumented_context(ids: int, ctx: str = "") -> None: ...


@documented("ids", "mdoe")
def misspelt(ids: int, mode: str = "", mdoe: str = "") -> None: ...


@documented("ids", "mode", "mdoe")
def surplus(ids: int, mode: str = "") -> None: ...


@documented("ids")
def foreign(ids: Foreign) -> None: ...


@documented("ids")
def function_type(ids: Callable[[int], int]) -> None: ...


@documented("ids")
def not_json(ids: float = float("nan")) -> None: ...


@documented("ids")
def no_object(ids: Any = object()) -> None: ...  # noqa: B008


@documented("ids")
def unresolved(ids: Missing) -> None: ...  # type: ignore[name-defined]  # noqa: F821


@documented()
def no_entries(ids: int) -> None: ...


def without_docstring() -> None: ...


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (star, r"function tool: '\*args' has no names an agent could use; take a list instead"),
        (double_star, r"function tool: '\*\*kwargs' could be anything; name the parameters"),
        (positional, "function tool: 'ids' is positional-only"),
        (context, "function tool: parameter 'ctx' has no type annotation"),
        (undocumented_context, "function tool: parameter 'ctx' has no entry in the docstring's 'Args:'"),
        (misspelt, "function tool: parameter 'mode' has no entry"),
        (surplus, "unknown parameter 'mdoe' in the signature of function tool.*did you mean 'mode'"),
        (foreign, "function tool: the type of parameter 'ids' has no JSON Schema: .*Foreign"),
        (function_type, "function tool: the type of parameter 'ids' has no JSON Schema"),
        (not_json, "function tool: the default of parameter 'ids', nan, cannot be written as JSON"),
        (no_object, "function tool: the default of parameter 'ids', <object"),
        (unresolved, "the signature of function tool cannot be read: name 'Missing' is not defined"),
        (no_entries, 'the docstring of function tool cannot be read: No specification for "Args"'),
        (without_docstring, "function without_docstring has no docstring"),
        (lambda ids: ids, "<lambda>.* has no name of its own"),
        (functools.partial(find, mode="b"), "partial.* has no name of its own"),
    ],
)
def test_field_100_gaps_are_errors_that_name_the_parameter(
    function: Callable[..., Any], message: str
) -> None:
    with pytest.raises(SchemaError, match=message):
        tool_from_function(function)
