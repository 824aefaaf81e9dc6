"""A derived tool, and the words that all of them share."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from envs_registry.workflows.contracts import Authority, OutputField, ToolContract, ToolKind
from envs_registry.workflows.units import CURRENCIES
from envs_registry.workflows.world import Runner
from toolenv.errors import ToolError
from toolenv.types import ToolSpec

NUMBER: Mapping[str, Any] = {"type": "number", "minimum": -1e12, "maximum": 1e12}
POSITIVE: Mapping[str, Any] = {"type": "number", "exclusiveMinimum": 0, "maximum": 1e12}
TEXT: Mapping[str, Any] = {"type": "string", "minLength": 1, "maxLength": 200}
DATE: Mapping[str, Any] = {"type": "string", "pattern": "^20[0-9]{2}-[0-9]{2}-[0-9]{2}$"}
CURRENCY: Mapping[str, Any] = {"type": "string", "enum": list(CURRENCIES)}


@dataclass(frozen=True, slots=True)
class Derived:
    """A tool derived from a declaration.

    Attributes:
        spec: what agents see.
        contract: what is known about it besides.
        run: what it does.
    """

    spec: ToolSpec
    contract: ToolContract
    run: Runner


def derive(
    name: str,
    kind: ToolKind,
    does: str,
    parameters: Mapping[str, Mapping[str, Any]],
    output: tuple[OutputField, ...],
    run: Runner,
    *,
    optional: tuple[str, ...] = (),
    source: str = "",
    authority: Authority = "",
    alternative: str = "",
) -> Derived:
    """A tool from its parts.

    Args:
        name, kind, does: its name, what it does for checks, what it does in words.
        parameters: the schema of each argument; all are required but those in ``optional``.
        output: the fields of its result; its description lists them.
        run: what it does.
        optional: arguments that may be left out.
        source, authority, alternative: see :class:`envs_registry.workflows.contracts.ToolContract`.
    """
    required = [one for one in parameters if one not in optional]
    schema = {"type": "object", "properties": dict(parameters), "required": required}
    returns = "; ".join(map(_documented, output))
    spec = ToolSpec(name, f"{does} Returns a JSON object: {returns}.", schema, name)
    contract = ToolContract(name, kind, output, source, authority, alternative, tuple(required))
    return Derived(spec, contract, run)


def described(schema: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The schema of an argument with its description."""
    return {**schema, "description": text}


def parse_date(text: str) -> datetime.date:
    """The date an argument means."""
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise ToolError(f"{text[:100]!r} is not a date of the calendar") from None


_TYPE_WORDS = {
    "date": "date, YYYY-MM-DD", "id": "string", "text": "string", "ids": "array of strings",
    "number": "number", "integer": "integer",
}  # fmt: skip


def _documented(field: OutputField) -> str:
    kind = _TYPE_WORDS[field.type] + (f", {field.unit}" if field.unit else "")
    return f"{field.name} ({kind})" + (f": {field.meaning}" if field.meaning else "")
