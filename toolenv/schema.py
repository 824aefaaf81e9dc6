"""Any data set's tool parameters as JSON Schema (Draft 2020-12) that strict servers accept.

One schema without ``items`` or with a type no JSON Schema knows makes a server refuse the whole list of
tools, so everything is converted before any model sees it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from toolenv.errors import SchemaError, UnknownNameError

MAX_DEPTH = 64
"""Levels of nesting a schema may have; more is taken for a cycle."""

_SPELLINGS = {
    "string": "string str char character text",
    "integer": "integer int long short byte bigint biginteger",
    "number": "number float double decimal bigdecimal",
    "boolean": "boolean bool",
    "object": "object dict map hashmap hashtable",
    "array": "array list tuple set arraylist queue stack",
    "null": "null none nonetype",
    "any": "any",
}
_TYPES = {spelling: name for name, spellings in _SPELLINGS.items() for spelling in spellings.split()}

_ONE_SCHEMA = frozenset({
    "items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else",
    "unevaluatedItems", "unevaluatedProperties",
})  # fmt: skip
_SCHEMA_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SCHEMA_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_TEXTS = frozenset({"description", "title", "format", "pattern"})
_DROPPED = frozenset({"optional", "$schema"})
_REFUSED_AT_THE_TOP = ("anyOf", "oneOf", "allOf", "not", "enum")


def to_json_schema(parameters: Mapping[str, Any], where: str = "") -> tuple[dict[str, Any], tuple[str, ...]]:
    """A tool's parameters as JSON Schema, and what had to be changed beyond spelling.

    Type names of Python, Java and JavaScript become JSON Schema's (``dict`` → ``object``, ``float`` →
    ``number``, ``tuple`` → ``array``, ``any`` → no type); arrays get ``items``; ``optional`` goes. Changed
    with a warning: unknown or repeated ``required`` names, a ``default`` that is not JSON, an ``enum`` that
    no value of the declared type can meet, keywords that servers refuse at the top.

    Args:
        parameters: the data set's schema of the arguments; not changed.
        where: which tool of which entry this is, for messages.

    Returns:
        A new schema, ``{"type": "object", "properties": …, "required": …, …}``, and the warnings.

    Raises:
        SchemaError: an unknown type, or something that cannot be made JSON Schema; it names the place.
    """
    place = where or "parameters"
    converter = _Converter()
    converted = converter.convert(parameters, place)
    if converted.get("type", "object") != "object":
        raise SchemaError(f"{place}: arguments are an object, but the schema's type is {converted['type']!r}")
    for keyword in _REFUSED_AT_THE_TOP:
        if converted.pop(keyword, None) is not None:
            converter.warnings.append(f"{place}: dropped {keyword!r}, which servers refuse at the top")
    schema = {"type": "object", "properties": {}, "required": [], **converted}
    _check_against_meta_schema(schema, place)
    return schema, tuple(converter.warnings)


def fits_type(value: Any, name: str) -> bool:
    """Whether a JSON value has the JSON Schema type ``name``; 3.0 is an integer, ``True`` is none."""
    if name == "integer":
        return type(value) is int or (type(value) is float and value.is_integer())
    if name == "number":
        return type(value) in (int, float)
    return type(value) is _PYTHON_TYPES.get(name)


_PYTHON_TYPES = {"string": str, "boolean": bool, "object": dict, "array": list, "null": type(None)}


def type_names(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The types a schema allows by its ``type``; empty for any."""
    names = schema.get("type", ())
    return (names,) if isinstance(names, str) else tuple(names)


class _Converter:
    """Converts one tool's schema, collecting warnings."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def convert(self, schema: Any, where: str, depth: int = 0) -> dict[str, Any]:
        """A new schema for ``schema``, which is called ``where`` in messages."""
        if schema is True:
            return {}
        if not isinstance(schema, Mapping):
            raise SchemaError(f"{where}: a schema is an object, not {schema!r:.200}")
        if depth > MAX_DEPTH:
            raise SchemaError(f"{where:.200}: nested more than {MAX_DEPTH} levels deep")
        result: dict[str, Any] = {}
        for keyword, value in schema.items():
            if type(value) is str and keyword in _TEXTS:
                result[keyword] = value
            else:
                self._keyword(result, keyword, value, where, depth)
        self._complete(result, where)
        return result

    def _keyword(self, result: dict[str, Any], keyword: str, value: Any, where: str, depth: int) -> None:
        if keyword == "type":
            self._type(result, value, where)
        elif keyword in _SCHEMA_MAPS:
            result[keyword] = {
                name: self.convert(part, f"{where}.{name}", depth + 1)
                for name, part in _mapping(value, f"{where}, {keyword!r}").items()
            }
        elif keyword == "items" and isinstance(value, (list, tuple)):
            result["prefixItems"] = self._list(value, f"{where}[]", depth)
        elif keyword in _ONE_SCHEMA:
            inner = f"{where}[]" if keyword == "items" else f"{where} {keyword}"
            result[keyword] = value if type(value) is bool else self.convert(value, inner, depth + 1)
        elif keyword in _SCHEMA_LISTS:
            result[keyword] = self._list(value, f"{where} {keyword}", depth)
        elif keyword == "default":
            self._default(result, value, where)
        elif keyword not in _DROPPED:
            result[keyword] = _json_copy(value, f"{where}, {keyword!r}")

    def _list(self, schemas: Any, where: str, depth: int) -> list[dict[str, Any]]:
        if not isinstance(schemas, (list, tuple)):
            raise SchemaError(f"{where}: expected a list of schemas, got {schemas!r:.200}")
        return [self.convert(one, f"{where}[{index}]", depth + 1) for index, one in enumerate(schemas)]

    def _type(self, result: dict[str, Any], value: Any, where: str) -> None:
        if value == "":
            self.warnings.append(f"{where}: the type is empty, so any value is allowed")
            return
        if isinstance(value, (list, tuple)):
            names = list(dict.fromkeys(_json_type(one, where) for one in value))
        else:
            names = [_json_type(value, where)]
        if names and "any" not in names:
            result["type"] = names if len(names) > 1 else names[0]

    def _default(self, result: dict[str, Any], value: Any, where: str) -> None:
        try:
            result["default"] = _json_copy(value, where)
        except SchemaError:
            self.warnings.append(f"{where}: dropped the default {value!r:.200}, which is not a JSON value")

    def _complete(self, result: dict[str, Any], where: str) -> None:
        """Bring the keywords of one schema in line with each other."""
        if "type" not in result:
            if "properties" in result:
                result["type"] = "object"
            elif "items" in result or "prefixItems" in result:
                result["type"] = "array"
        if "array" in type_names(result):
            result["items"] = {} if result.get("items", True) is True else result["items"]
        if "required" in result:
            self._required(result, where)
        if "enum" in result:
            self._enum(result, where)

    def _required(self, result: dict[str, Any], where: str) -> None:
        names = result["required"]
        if not isinstance(names, list):
            self.warnings.append(f"{where}: dropped 'required': {names!r:.200}, which is not a list of names")
            del result["required"]
            return
        known = result.get("properties", {})
        kept = list(dict.fromkeys(name for name in names if isinstance(name, str) and name in known))
        if kept != names:
            lost = [name for name in names if name not in kept] or "repeated names"
            self.warnings.append(f"{where}: dropped from 'required': {lost!r:.200}")
        result["required"] = kept

    def _enum(self, result: dict[str, Any], where: str) -> None:
        """Mend an ``enum`` of which no value has the declared type, so that the schema can be met.

        On an array it lists what the items may be. Elsewhere the values are believed and the type is not:
        data sets write ``["True", "False", "dontcare"]`` for a boolean.
        """
        values, names = result["enum"], type_names(result)
        if not isinstance(values, list) or not values:
            self.warnings.append(f"{where}: dropped 'enum': {values!r:.200}, which lists no values")
            del result["enum"]
        elif not names or any(fits_type(value, name) for value in values for name in names):
            return
        elif names == ("array",) and isinstance(result["items"], dict):
            del result["enum"]
            result["items"] = {**result["items"], "enum": values}
            self.warnings.append(f"{where}: 'enum' of the array taken for that of its items")
            self._enum(result["items"], f"{where}[]")
        else:
            kinds = list(dict.fromkeys(map(_type_of, values)))
            result["type"] = kinds if len(kinds) > 1 else kinds[0]
            self.warnings.append(f"{where}: no 'enum' value is of type {' or '.join(names)}; type dropped")


def _json_type(name: Any, where: str) -> str:
    found = _TYPES.get(name.lower()) if isinstance(name, str) else None
    if found is None:
        raise SchemaError(str(UnknownNameError("type", name, _TYPES, where)))
    return found


def _type_of(value: Any) -> str:
    names: Iterable[str] = ("string", "boolean", "integer", "number", "array", "object", "null")
    return next(name for name in names if fits_type(value, name))


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise SchemaError(f"{where}: expected an object of named schemas, got {value!r:.200}")
    return value


def _json_copy(value: Any, where: str) -> Any:
    """An independent copy of a JSON value."""
    if (
        value is None
        or isinstance(value, (str, bool, int))
        or (type(value) is float and math.isfinite(value))
    ):
        return value
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise SchemaError(f"{where}: {value!r:.200} is not a JSON value") from error


def _check_against_meta_schema(schema: dict[str, Any], where: str) -> None:
    import jsonschema_rs

    try:
        jsonschema_rs.meta.validate(schema)
    except jsonschema_rs.ValidationError as error:
        path = "/".join(map(str, error.instance_path))
        raise SchemaError(f"{where}: no valid JSON Schema at {path!r}: {error.message:.300}") from error
