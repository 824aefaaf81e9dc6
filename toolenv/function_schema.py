"""A tool from a typed, documented Python function.

Everything an agent is told comes from the signature and the docstring, so both must be complete: a gap is
an error that names the parameter, never an empty schema.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Collection, Mapping, Set
from typing import Any

from toolenv.errors import SchemaError, UnknownNameError
from toolenv.schema import to_json_schema
from toolenv.types import ToolSpec

_REFUSED_KINDS = {
    inspect.Parameter.VAR_POSITIONAL: "'*{}' has no names an agent could use; take a list instead",
    inspect.Parameter.VAR_KEYWORD: "'**{}' could be anything; name the parameters, or take one dict",
    inspect.Parameter.POSITIONAL_ONLY: "'{}' is positional-only, but calls pass arguments by name",
}
_DATA_KEYWORDS = frozenset({"default", "enum", "const", "examples"})
_REFERENCE = "#/$defs/"


def tool_from_function(function: Callable[..., Any]) -> ToolSpec:
    """The tool that calls ``function``: its name, docstring and parameters as a :class:`ToolSpec`.

    Types may be whatever pydantic can write as JSON Schema: unions and ``Optional``, ``Literal``, enums,
    dates, dataclasses, models, ``TypedDict`` (of ``typing_extensions`` before Python 3.12), nested
    containers. Parameters without a default are required; defaults are kept. Descriptions come from the
    docstring's ``Args:`` section (Google style). No parameter is special: what agents must not see is
    bound first, by a method or a closure.

    Raises:
        SchemaError: ``*args``, ``**kwargs`` or a positional-only parameter; a missing annotation; a missing
            or unknown docstring entry; a type or default that JSON cannot hold. It names the parameter.
    """
    name = _name(function)
    parameters = _parameters(function, name)
    summary, descriptions = _documentation(function, name, parameters)
    types, definitions = _type_schemas(parameters, name)
    properties = {key: {**types[key], "description": descriptions[key]} for key in parameters}
    required = [key for key, parameter in parameters.items() if parameter.default is parameter.empty]
    for key, parameter in parameters.items():
        if key not in required:
            properties[key]["default"] = _json_default(parameter, name)
    schema = _tidy({"properties": properties, "required": required, "$defs": definitions}, definitions)
    return ToolSpec(name, summary, to_json_schema(schema, f"function {name}")[0])


def _name(function: Callable[..., Any]) -> str:
    name: str = getattr(function, "__name__", "")
    if not name.isidentifier():
        raise SchemaError(f"{function!r} has no name of its own; a tool is made from a function or a method")
    return name


def _parameters(function: Callable[..., Any], name: str) -> dict[str, inspect.Parameter]:
    try:
        parameters = dict(inspect.signature(function, eval_str=True).parameters)
    except (NameError, TypeError, ValueError, SyntaxError) as error:
        raise SchemaError(f"the signature of function {name} cannot be read: {error}") from error
    for key, parameter in parameters.items():
        if parameter.kind in _REFUSED_KINDS:
            raise SchemaError(f"function {name}: {_REFUSED_KINDS[parameter.kind].format(key)}")
        if parameter.annotation is parameter.empty:
            raise SchemaError(f"function {name}: parameter {key!r} has no type annotation")
    return parameters


def _documentation(
    function: Callable[..., Any], name: str, parameters: Collection[str]
) -> tuple[str, dict[str, str]]:
    """What the docstring says of the function, and of each parameter."""
    from docstring_parser import ParseError
    from docstring_parser.google import parse

    try:
        text = parse(inspect.getdoc(function) or "")
    except ParseError as error:
        raise SchemaError(f"the docstring of function {name} cannot be read: {error}") from error
    summary = "\n\n".join(part for part in (text.short_description, text.long_description) if part)
    if not summary:
        raise SchemaError(f"function {name} has no docstring; it is what agents know of the tool")
    entries = {
        entry.arg_name: " ".join((entry.description or "").split())
        for entry in text.params
        if entry.args[0] == "param"
    }
    for key in parameters:
        if not entries.get(key):
            raise SchemaError(
                f"function {name}: parameter {key!r} has no entry in the docstring's 'Args:' section"
            )
    for key in entries:
        if key not in parameters:
            place = f"the signature of function {name}, though its docstring has it"
            raise SchemaError(str(UnknownNameError("parameter", key, parameters, place)))
    return summary, entries


def _type_schemas(
    parameters: Mapping[str, inspect.Parameter], name: str
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """The JSON Schema of each parameter's type, and the definitions they share."""
    from pydantic import TypeAdapter

    adapters = {key: _adapter(parameter, name) for key, parameter in parameters.items()}
    schemas, shared = TypeAdapter.json_schemas([(key, "validation", one) for key, one in adapters.items()])
    return {key: schemas[key, "validation"] for key in parameters}, shared.get("$defs", {})


def _adapter(parameter: inspect.Parameter, name: str) -> Any:
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    try:
        adapter: TypeAdapter[Any] = TypeAdapter(parameter.annotation)
        adapter.json_schema()
    except (PydanticUserError, NameError, TypeError) as error:
        reason = str(error).partition("\n")[0]
        raise SchemaError(
            f"function {name}: the type of parameter {parameter.name!r} has no JSON Schema: {reason}"
        ) from error
    return adapter


def _json_default(parameter: inspect.Parameter, name: str) -> Any:
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    try:
        default = to_jsonable_python(parameter.default)
        if isinstance(parameter.default, Set):  # it has no order of its own
            default = sorted(default, key=json.dumps)
        json.dumps(default, allow_nan=False)
    except (PydanticSerializationError, ValueError) as error:
        raise SchemaError(
            f"function {name}: the default of parameter {parameter.name!r}, {parameter.default!r:.200},"
            " cannot be written as JSON"
        ) from error
    return default


def _tidy(schema: dict[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """The schema without pydantic's titles, its references replaced by what they mean where that ends."""
    without = {key: value for key, value in schema.items() if key != "$defs"}
    try:
        tidy: dict[str, Any] = _rewritten(without, definitions, ())
    except RecursionError:
        tidy = _rewritten(schema, {}, ())
    return tidy


def _rewritten(node: Any, definitions: Mapping[str, Any], inside: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_rewritten(item, definitions, inside) for item in node]
    if not isinstance(node, dict):
        return node
    reference = node.get("$ref")
    if isinstance(reference, str) and (name := reference.removeprefix(_REFERENCE)) in definitions:
        if name in inside:
            raise RecursionError(f"{name} contains itself")
        siblings = {key: value for key, value in node.items() if key != "$ref"}
        return _rewritten({**definitions[name], **siblings}, definitions, (*inside, name))
    return {
        key: value if key in _DATA_KEYWORDS else _rewritten(value, definitions, inside)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
    }
