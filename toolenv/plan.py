"""Plans: the structure of a solution without the values that tools tell.

A plan says which calls are made, in which order, and which part of which result feeds which argument.
Scripted policies are briefed with one, so that what they do depends on what they read; hazards are fitted to
one, because only a result that something later depends on is worth disturbing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

FieldType: TypeAlias = Literal["number", "integer", "string", "boolean", "array", "object"]

EACH = "*"
"""In a path: every item of an array, so that the part is a list."""

Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Given:
    """A value that needs no tool: the user said it, or anybody may choose it."""

    value: Any


@dataclass(frozen=True, slots=True)
class Taken:
    """A part of an earlier result.

    Attributes:
        call: the number of the planned call, from 0.
        path: where its documentation says the value stands; ``()`` is the whole result.
    """

    call: int
    path: Path


@dataclass(frozen=True, slots=True)
class Computed:
    """A value worked out from others, as a person would in their head.

    Attributes:
        operation: one of ``toolenv.plan.OPERATIONS``.
        parts: what goes into it.
    """

    operation: str
    parts: tuple[Part, ...]


Part: TypeAlias = "Given | Taken | Computed | list[Part] | dict[str, Part]"
"""Where a value comes from; lists and objects are made of parts in turn."""


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One call of a plan; ``arguments`` holds a :data:`Part` per parameter."""

    tool: str
    arguments: Mapping[str, Part]


@dataclass(frozen=True, slots=True)
class PlannedMessage:
    """Words to the user, joined from texts and parts."""

    pieces: tuple[str | Part, ...]


@dataclass(frozen=True, slots=True)
class OutputField:
    """A field of a tool's result, as documented.

    Attributes:
        name: the key.
        type: a JSON type.
        unit: what a number counts, e.g. ``"kg"``; empty for none.
    """

    name: str
    type: FieldType
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """Another tool that is documented to tell the same facts.

    Attributes:
        tool: its name.
        arguments: its parameters by the first tool's.
        fields: its output fields by the first tool's.
        authority: whose word counts where the two disagree; the higher.
    """

    tool: str
    arguments: Mapping[str, str]
    fields: Mapping[str, str]
    authority: int = 0


@dataclass(frozen=True, slots=True)
class Contract:
    """What a tool's documentation promises of its result.

    Attributes:
        fields: of the object it returns, or of each object in the array it returns; all of them.
        sources: other tools with the same facts, best first.
        authority: its own, see :class:`Source`.
        complete: whether ``fields`` are all fields there are; some may be known without documentation.
    """

    fields: tuple[OutputField, ...] = ()
    sources: tuple[Source, ...] = ()
    authority: int = 0
    complete: bool = True

    def unit_of(self, name: str) -> str:
        """The unit of a field; empty if it has none or is not documented."""
        return next((one.unit for one in self.fields if one.name == name), "")


PlannedStep: TypeAlias = tuple[PlannedCall, ...] | PlannedMessage


@dataclass(frozen=True)
class Plan:
    """A solution's structure.

    Attributes:
        steps: one per decision: calls made together, or a message.
        contracts: what is documented, by tool; a tool may be missing.
    """

    steps: tuple[PlannedStep, ...]
    contracts: Mapping[str, Contract] = field(default_factory=dict)

    @cached_property
    def calls(self) -> tuple[PlannedCall, ...]:
        """All calls in order; their places are the numbers that :class:`Taken` uses."""
        return tuple(call for step in self.steps if isinstance(step, tuple) for call in step)

    def contract(self, tool: str) -> Contract:
        """What is documented of a tool's result."""
        return self.contracts.get(tool, _UNDOCUMENTED)

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """Every part of a result that something depends on, in order."""
        found: list[Use] = []
        number = 0
        for step in self.steps:
            if isinstance(step, PlannedMessage):
                found += [Use(None, "", taken) for piece in step.pieces for taken in taken_in(piece)]
                continue
            for call in step:
                for name, part in call.arguments.items():
                    found += [Use(number, name, taken) for taken in taken_in(part)]
                number += 1
        return tuple(found)

    @cached_property
    def needed(self) -> Mapping[int, tuple[Path, ...]]:
        """By call: the parts of its result that something depends on, each once."""
        found: dict[int, dict[Path, None]] = {}
        for use in self.uses:
            found.setdefault(use.taken.call, {})[use.taken.path] = None
        return {call: tuple(paths) for call, paths in found.items()}


@dataclass(frozen=True, slots=True)
class Use:
    """Where a part of a result goes: into a parameter of call ``consumer``, or into words (``None``)."""

    consumer: int | None
    parameter: str
    taken: Taken


_UNDOCUMENTED = Contract()


def taken_in(part: Any) -> Iterator[Taken]:
    """The parts of results that a part is made of."""
    if isinstance(part, Taken):
        yield part
    elif isinstance(part, Computed | list | tuple):
        for inner in part.parts if isinstance(part, Computed) else part:
            yield from taken_in(inner)
    elif isinstance(part, Mapping):
        for inner in part.values():
            yield from taken_in(inner)


def plan_in(metadata: Mapping[str, Any]) -> Plan | None:
    """The plan that a task's metadata hold under ``"plan"``, if they hold one."""
    found = metadata.get("plan")
    return found if isinstance(found, Plan) else None
