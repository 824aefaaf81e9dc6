"""Arguments written without quotes: what they are is told by the schema of their parameter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .calls import Offered
from .values import UnreadableError, plain_value, read_value


def inner_schema(schema: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """What stands under a schema's key, or nothing if that is no schema."""
    inner = schema.get(key)
    return inner if isinstance(inner, Mapping) else {}


def parameter_schemas(name: str, offered: Offered) -> Mapping[str, Any]:
    """The schemas of a tool's parameters; of a tool that is not offered, none."""
    tool = offered.get(name)
    return inner_schema(tool.parameters, "properties") if tool else {}


def typed_value(written: str, schema: Mapping[str, Any], is_text: bool | None = None) -> Any:
    """The value of an argument, by the type its schema wants.

    Args:
        written: the argument; a line break at either end is no part of it.
        schema: of the parameter.
        is_text: whether it is text whatever the schema says, or is not; ``None`` if that is not known.
    """
    written = written.removeprefix("\n").removesuffix("\n")
    types = _types(schema)
    is_null = written.strip() == "null" and "null" in types
    if is_text or (is_text is None and "string" in types and not is_null):
        return written
    try:
        return plain_value(read_value(written))
    except UnreadableError:
        return written


def quoted_value(written: str, schema: Mapping[str, Any]) -> Any:
    """The value of an argument that was written as text: text, unless its schema wants something else."""
    types = _types(schema)
    return written if not types or "string" in types else typed_value(written, schema)


def _types(schema: Mapping[str, Any]) -> set[Any]:
    branches = [
        branch for key in ("anyOf", "oneOf") for branch in schema.get(key, ()) if isinstance(branch, Mapping)
    ]
    kinds = [one.get("type", ()) for one in (schema, *branches)]
    return {kind for one in kinds for kind in ([one] if isinstance(one, str) else one)}
