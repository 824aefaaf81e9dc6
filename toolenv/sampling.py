"""Random texts, values and actions, drawn from a generator that the caller gives."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from toolenv.types import Action, Message, Stop, ToolCall, ToolCalls, ToolSpec

if TYPE_CHECKING:
    import numpy

_WORDS = ("order", "city", "report", "total", "Łódź", "東京", "refund", "7", "note")


def sample_action(rng: numpy.random.Generator, tools: Sequence[ToolSpec] | None = None) -> Action:
    """A random action: calls half of the time, else a stop or a message.

    Args:
        rng: where chance comes from.
        tools: calls are of these, with arguments that fit their schemas; ``None`` makes names up.
    """
    kind = int(rng.integers(0, 4))
    if kind == 0:
        return Stop(reason=sample_text(rng))
    if kind == 1 or (tools is not None and not tools):
        return Message(sample_text(rng))
    return ToolCalls(tuple(_sample_call(rng, tools) for _ in range(int(rng.integers(1, 3)))))


def _sample_call(rng: numpy.random.Generator, tools: Sequence[ToolSpec] | None) -> ToolCall:
    if tools is None:
        letters = rng.integers(0, len(string.ascii_lowercase), size=6)
        name = "".join(string.ascii_lowercase[letter] for letter in letters)
        return ToolCall(name, {"value": sample_text(rng)})
    tool = tools[int(rng.integers(0, len(tools)))]
    return ToolCall(tool.name, sample_value(tool.parameters, rng))


def sample_text(rng: numpy.random.Generator) -> str:
    """One to four words."""
    return " ".join(_WORDS[index] for index in rng.integers(0, len(_WORDS), size=int(rng.integers(1, 5))))


def sample_value(schema: Mapping[str, Any] | bool, rng: numpy.random.Generator, depth: int = 0) -> Any:
    """A random value that fits a JSON Schema of the kind tools have.

    Required properties are always given, the others in half of the cases, and those of the schema ``false``
    never: no value fits it.
    """
    if isinstance(schema, bool):
        schema = {}
    if "enum" in schema:
        return schema["enum"][int(rng.integers(0, len(schema["enum"])))]
    if "const" in schema:
        return schema["const"]
    if "anyOf" in schema:
        return sample_value(schema["anyOf"][int(rng.integers(0, len(schema["anyOf"])))], rng, depth)
    kind = schema.get("type", "string")
    if isinstance(kind, list):
        kind = kind[int(rng.integers(0, len(kind)))]
    if kind == "object":
        return _sample_object(schema, rng, depth)
    if kind == "array":
        return _sample_array(schema, rng, depth)
    return _sample_scalar(kind, schema, rng)


def _sample_object(schema: Mapping[str, Any], rng: numpy.random.Generator, depth: int) -> dict[str, Any]:
    required = schema.get("required", ())
    return {
        name: sample_value(inner, rng, depth + 1)
        for name, inner in schema.get("properties", {}).items()
        if inner is not False and (name in required or (depth < 3 and rng.integers(0, 2)))
    }


def _sample_array(schema: Mapping[str, Any], rng: numpy.random.Generator, depth: int) -> list[Any]:
    if schema.get("items") is False:
        return []
    low = int(schema.get("minItems", 1 if depth < 3 else 0))
    length = int(rng.integers(low, max(low, int(schema.get("maxItems", low + 2))) + 1))
    return [sample_value(schema.get("items", {}), rng, depth + 1) for _ in range(length)]


def _sample_scalar(kind: str, schema: Mapping[str, Any], rng: numpy.random.Generator) -> Any:
    low = schema.get("minimum", 0)
    high = schema.get("maximum", low + 100)
    if kind == "integer":
        return int(rng.integers(int(low), int(high) + 1))
    if kind == "number":
        return float(rng.uniform(low, high))
    if kind == "boolean":
        return bool(rng.integers(0, 2))
    if kind == "null":
        return None
    return sample_text(rng)
