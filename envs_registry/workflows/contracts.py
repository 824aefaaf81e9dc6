"""What is known about a derived tool beyond what agents are told; hazards and checks build on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

ToolKind: TypeAlias = Literal[
    "search",
    "record",
    "list",
    "rate",
    "formula",
    "conversion",
    "summary",
    "ranking",
    "calendar",
    "deed",
    "receipt",
]
"""What a tool does. The first four read facts, a deed changes the world, a receipt reads what a deed added;
the others calculate from their arguments alone."""

Authority: TypeAlias = Literal["registry of record", "mirror", ""]
"""How much a source counts: where two disagree, the registry of record is right. Tools that are no source
have none."""

READS: frozenset[str] = frozenset({"search", "record", "list", "rate"})


@dataclass(frozen=True, slots=True)
class OutputField:
    """One field of a tool's result, an object.

    Attributes:
        name: its key.
        type: ``number``, ``integer``, ``date`` (ISO 8601), ``text``, ``id`` or ``ids`` (an array of
            identifiers).
        unit: of numbers, as the declarations write it; ``""`` if it has none.
        fact: which fact it tells, ``"shipment.weight"``; ``"shipment.id"`` for any identifier of a shipment;
            ``""`` for what is calculated, and for remarks such as ``source``.
        meaning: for people.
    """

    name: str
    type: Literal["number", "integer", "date", "text", "id", "ids"]
    unit: str = ""
    fact: str = ""
    meaning: str = ""


@dataclass(frozen=True)
class ToolContract:
    """The documented contract of a derived tool.

    Attributes:
        name: the tool's.
        kind: what it does.
        output: the fields of its result, in order.
        source: who answers, e.g. ``"Port Authority Cargo Register"``; ``""`` for what is no source.
        authority: how much that source counts.
        alternative: the tool that reads the same facts from the other source; ``""`` if there is none.
        arguments: the names of the arguments that a call must have.
    """

    name: str
    kind: ToolKind
    output: tuple[OutputField, ...]
    source: str = ""
    authority: Authority = ""
    alternative: str = ""
    arguments: tuple[str, ...] = ()

    @property
    def reads(self) -> bool:
        """Whether it tells facts of the world."""
        return self.kind in READS

    @property
    def changes_state(self) -> bool:
        """Whether a call changes the world."""
        return self.kind == "deed"

    @cached_property
    def facts(self) -> frozenset[str]:
        """The facts its result tells."""
        return frozenset(field.fact for field in self.output if field.fact)

    def field(self, name: str) -> OutputField:
        """The output field of that name."""
        return next(field for field in self.output if field.name == name)
