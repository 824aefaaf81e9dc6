"""Arguments that plainly mean the right type, converted: ``"3"`` → 3, ``"true"`` → true, 3.0 → 3.

A model that quotes its numbers has understood the task; whether that may pass is the suite's
:data:`toolenv.kernel.protocol.ArgumentPolicy`. Nothing is rounded, guessed or filled in, and a value that
already has an allowed type is left alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from toolenv.schema import fits_type, type_names

Path: TypeAlias = tuple[str | int, ...]

MAX_STEPS = 20_000
"""Schema nodes visited for one call; past it values stay as they are. Alternatives within alternatives
would take exponential time on hostile input."""

_INTEGER_TEXT = re.compile(r"-?(?:0|[1-9][0-9]{0,199})(?:\.0{1,20})?")
_NUMBER_TEXT = re.compile(r"-?(?:0|[1-9][0-9]{0,199})(?:\.[0-9]{1,200})?(?:[eE][+-]?[0-9]{1,2})?")
_BOOLEAN_TEXTS = {"true": True, "false": False}
_MAX_REFERENCES = 32


def coerce(value: Any, schema: Mapping[str, Any]) -> tuple[Any, tuple[Path, ...]]:
    """``value`` brought to the types of ``schema``, and the places that were changed.

    Args:
        value: a JSON value; not changed.
        schema: JSON Schema; references into itself are followed.

    Returns:
        The value itself where nothing was changed, else a copy.
    """
    run = _Coercion(schema)
    try:
        coerced = run.value(value, schema, ())
    except RecursionError:  # a schema that refers to itself without going deeper into the value
        return value, ()
    return coerced, tuple(run.changed)


def path_text(path: Iterable[str | int]) -> str:
    """``("items", 0, "quantity")`` as ``items[0].quantity``; long names are cut."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step:.100}" for step in path)
    return text.removeprefix(".")


class _Coercion:
    """One pass over one value."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        self.changed: list[Path] = []
        self.steps = MAX_STEPS

    def value(self, value: Any, schema: Any, path: Path) -> Any:
        """``value`` coerced to ``schema``; the places changed are added to ``changed``."""
        self.steps -= 1
        schema = self._resolved(schema)
        if self.steps < 0 or not isinstance(schema, Mapping):
            return value
        converted = _convert(value, type_names(schema))
        if converted is not value:
            self.changed.append(path)
            value = converted
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                value = self._alternatives(value, schema[keyword], path)
        for part in schema.get("allOf", ()):
            value = self.value(value, part, path)
        if type(value) is dict:
            return self._object(value, schema, path)
        if type(value) is list:
            return self._array(value, schema, path)
        return value

    def _alternatives(self, value: Any, alternatives: Iterable[Any], path: Path) -> Any:
        """``value`` as the alternative reads it that changes it least, the first of several."""
        before, best = self.changed, (value, list[Path]())
        found = False
        for schema in alternatives:
            self.changed = []
            candidate = self.value(value, schema, path)
            better = not found or len(self.changed) < len(best[1])
            if better and self._fits(candidate, schema):
                best, found = (candidate, self.changed), True
        self.changed = before + best[1]
        return best[0]

    def _fits(self, value: Any, schema: Any) -> bool:
        resolved = self._resolved(schema)
        if not isinstance(resolved, Mapping):
            return resolved is not False
        names = type_names(resolved)
        return value in resolved.get("enum", (value,)) and (
            not names or any(fits_type(value, name) for name in names)
        )

    def _object(self, value: dict[str, Any], schema: Mapping[str, Any], path: Path) -> dict[str, Any]:
        known, rest = schema.get("properties", {}), schema.get("additionalProperties")
        copy = value
        for key, item in value.items():
            coerced = self.value(item, known.get(key, rest), (*path, key))
            if coerced is not item:
                copy = dict(value) if copy is value else copy
                copy[key] = coerced
        return copy

    def _array(self, value: list[Any], schema: Mapping[str, Any], path: Path) -> list[Any]:
        first, rest = schema.get("prefixItems", ()), schema.get("items")
        copy = value
        for index, item in enumerate(value[: MAX_STEPS if rest else len(first)]):
            coerced = self.value(item, first[index] if index < len(first) else rest, (*path, index))
            if coerced is not item:
                copy = list(value) if copy is value else copy
                copy[index] = coerced
        return copy

    def _resolved(self, schema: Any) -> Any:
        """``schema``, or what its reference into the same document points at."""
        for _ in range(_MAX_REFERENCES):
            if not (isinstance(schema, Mapping) and "$ref" in schema):
                return schema
            schema = self._target(schema["$ref"])
        return None

    def _target(self, reference: str) -> Any:
        target: Any = self.root
        for part in reference.removeprefix("#").split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            target = target.get(name) if isinstance(target, Mapping) else None
        return target


def _convert(value: Any, names: tuple[str, ...]) -> Any:
    """``value`` in one of the types ``names``; itself where it has one already or none is plainly meant."""
    if type(value) is float and value.is_integer() and "integer" in names and "number" not in names:
        return int(value)
    if type(value) is not str or "string" in names:
        return value
    if "integer" in names and _INTEGER_TEXT.fullmatch(value):
        return int(value.partition(".")[0])
    if "number" in names and _NUMBER_TEXT.fullmatch(value):
        return json.loads(value)
    if "boolean" in names:
        return _BOOLEAN_TEXTS.get(value.lower(), value) if len(value) <= len("false") else value
    return value
