"""The action and observation spaces, the same for every task and suite.

Tool pools differ per task and stand in the observation; ``ActionSpace.sample(mask=observation.tools)``
draws calls of the tools offered, with arguments that fit their schemas.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any

import numpy
from gymnasium import Space

from toolenv.types import (
    Action,
    ChatMessage,
    Malformed,
    Message,
    Observation,
    Stop,
    ToolCall,
    ToolCalls,
    ToolSpec,
)

_WORDS = ("order", "city", "report", "total", "Łódź", "東京", "refund", "7", "note")


class ActionSpace(Space[Action]):
    """Every :data:`toolenv.types.Action`."""

    def __init__(self, seed: int | numpy.random.Generator | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Actions do not flatten to an array."""
        return False

    def contains(self, x: Any) -> bool:
        """Whether ``x`` is an action."""
        if isinstance(x, ToolCalls):
            return all(isinstance(call, ToolCall) and isinstance(call.name, str) for call in x.calls)
        return isinstance(x, Message | Stop | Malformed)

    def sample(self, mask: Sequence[ToolSpec] | None = None, probability: None = None) -> Action:
        """A random action.

        Args:
            mask: the tools offered; calls are then of these, with arguments that fit their schemas.
            probability: not supported.
        """
        if probability is not None:
            raise ValueError("ActionSpace.sample takes no probability")
        kind = int(self.np_random.integers(0, 4))
        if kind == 0:
            return Stop(reason=sample_text(self.np_random))
        if kind == 1:
            return Message(sample_text(self.np_random))
        if mask is not None and not mask:
            return Message(sample_text(self.np_random))
        return ToolCalls(tuple(self._sample_call(mask) for _ in range(int(self.np_random.integers(1, 3)))))

    def _sample_call(self, tools: Sequence[ToolSpec] | None) -> ToolCall:
        if tools is None:
            letters = self.np_random.integers(0, len(string.ascii_lowercase), size=6)
            name = "".join(string.ascii_lowercase[letter] for letter in letters)
            return ToolCall(name, {"value": sample_text(self.np_random)})
        tool = tools[int(self.np_random.integers(0, len(tools)))]
        return ToolCall(tool.name, sample_value(tool.parameters, self.np_random))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ActionSpace)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "ActionSpace()"


class ObservationSpace(Space[Observation]):
    """Every :class:`toolenv.types.Observation`; texts of any length in any script."""

    def __init__(self, seed: int | numpy.random.Generator | None = None) -> None:
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Observations do not flatten to an array."""
        return False

    def contains(self, x: Any) -> bool:
        """Whether ``x`` is an observation."""
        return (
            isinstance(x, Observation)
            and isinstance(x.turns_left, int)
            and all(isinstance(message, ChatMessage) and isinstance(message.content, str) for message in x.messages)
            and all(isinstance(tool, ToolSpec) for tool in x.tools)
        )

    def sample(self, mask: None = None, probability: None = None) -> Observation:
        """A random observation: one user message and one or two tools."""
        if mask is not None or probability is not None:
            raise ValueError("ObservationSpace.sample takes neither mask nor probability")
        rng = self.np_random
        parameters = {"type": "object", "properties": {"value": {"type": "string"}}, "required": []}
        tools = tuple(
            ToolSpec(f"tool_{index}", sample_text(rng), parameters, f"tool_{index}")
            for index in range(int(rng.integers(1, 3)))
        )
        return Observation((ChatMessage("user", sample_text(rng)),), tools, int(rng.integers(1, 11)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObservationSpace)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "ObservationSpace()"


def sample_text(rng: numpy.random.Generator) -> str:
    """One to four words."""
    return " ".join(_WORDS[index] for index in rng.integers(0, len(_WORDS), size=int(rng.integers(1, 5))))


def sample_value(schema: Mapping[str, Any], rng: numpy.random.Generator, depth: int = 0) -> Any:
    """A random value that fits a JSON Schema of the kind tools have.

    Required properties are always given, the others in half of the cases.
    """
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
        if name in required or (depth < 3 and rng.integers(0, 2))
    }


def _sample_array(schema: Mapping[str, Any], rng: numpy.random.Generator, depth: int) -> list[Any]:
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
