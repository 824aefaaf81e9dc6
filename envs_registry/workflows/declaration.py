"""The declared worlds: what a subtopic's things are, how they hang together, and what can be done with them.

The files in ``worlds/`` are the declarations, one a domain; ``docs/workflows.md`` describes their form. A
world has three levels: *items* belong to *parents*, which belong to *groups*.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from envs_registry.workflows.formulas import FormulaKind
from envs_registry.workflows.units import Unit

ValueKind = Literal["number", "date", "text"]

_ADDS_NOT = re.compile(r"\b(per|velocity|amplitude|count)\b")

_LEAST_DIGITS = 100
"""A number needs three digits to be an answer: fewer could be guessed, or stand somewhere by chance."""


@dataclass(frozen=True, slots=True)
class Field:
    """A fact about each thing of a kind.

    Attributes:
        key: its name in the declaration.
        level: of the kind it belongs to, 0 for items.
        label: as people say it, e.g. ``"gross weight"``.
        kind: what its values are.
        unit: of numbers.
        low, high: of numbers, times ``10 ** decimals``; of dates, days from today.
        decimals: of numbers.
        pattern: of texts, see :mod:`envs_registry.workflows.names`.
    """

    key: str
    level: int
    label: str
    kind: ValueKind
    unit: Unit | None = None
    low: int = 0
    high: int = 0
    decimals: int = 0
    pattern: str = ""

    @property
    def output(self) -> str:
        """Its name in tools' results: numbers carry their unit."""
        return self.key if self.unit is None else f"{self.key}_{self.unit.slug}"

    @property
    def adds_up(self) -> bool:
        """Whether a total of it means something: of what items have, but not of prices per piece."""
        if self.level or self.unit is None or not self.unit.additive:
            return False
        return _ADDS_NOT.search(self.label) is None

    @property
    def can_answer(self) -> bool:
        """Whether a task may ask for it."""
        return self.kind != "number" or min(abs(self.low), abs(self.high)) >= _LEAST_DIGITS


@dataclass(frozen=True)
class Kind:
    """A kind of thing.

    Attributes:
        level: 0 for items, 1 for parents, 2 for groups.
        label, plural: as people say it.
        prefix: of identifiers.
        known_by: the attribute it can be searched by, whose values are names.
        pattern: of these names.
        phrase: how people call one by its name, e.g. ``"the shipment for {}"``.
        fields: its facts, by key.
    """

    level: int
    label: str
    plural: str
    prefix: str
    known_by: str
    pattern: str
    phrase: str
    fields: Mapping[str, Field]

    @cached_property
    def slug(self) -> str:
        """Its name within tools' names."""
        return slug(self.label)

    @cached_property
    def id_field(self) -> str:
        """The name of its identifier in arguments and results."""
        return f"{self.slug}_id"

    @cached_property
    def name_field(self) -> str:
        """The name of the attribute it can be searched by."""
        return slug(self.known_by)


@dataclass(frozen=True, slots=True)
class Relation:
    """How a thing belongs to one of the next level.

    Attributes:
        phrase: the latter by the former, e.g. ``"the carrier moving {}"``.
        role, roles: what it is to the former, e.g. ``"carrier"``: "its carrier", "their carriers".
        inverse: all of the former by the latter, e.g. ``"shipments moved by {}"``.
    """

    phrase: str
    role: str
    roles: str
    inverse: str


@dataclass(frozen=True)
class Formula:
    """A calculation that the world has a tool for.

    Attributes:
        key: its name in tools' names and results.
        label: what it gives, e.g. ``"freight charge"``.
        unit: of the value; ``None`` for dates.
        kind: how it is calculated.
        inputs: from which facts.
    """

    key: str
    label: str
    unit: Unit | None
    kind: FormulaKind
    inputs: tuple[Field, ...]

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """The levels its inputs come from, sorted."""
        return tuple(sorted({field.level for field in self.inputs}))


@dataclass(frozen=True, slots=True)
class Deed:
    """A change of the world that the world has a tool for.

    Attributes:
        tool: the tool's name.
        level: what it is done to.
        ask: as people ask for it, with ``{}`` for the thing and ``{date}`` or ``{amount}``.
        sets: the date it changes, where it changes one instead of adding a record.
    """

    tool: str
    level: int
    ask: str
    sets: Field | None = None


@dataclass(frozen=True)
class Subtopic:
    """A declared world.

    Attributes:
        name, domain: which.
        about: as people say it.
        motives: why somebody asks; sentences.
        register: the registry of record; mirror: a second source that copies it.
        kinds: items, parents, groups. relations: items to parents, parents to groups.
        formulas: one that takes facts of every level, one of two levels, one that gives a date.
        dated: what can be done on a date. amounted: what can be done with the first formula's value.
    """

    name: str
    domain: str
    about: str
    motives: tuple[str, ...]
    register: str
    mirror: str
    kinds: tuple[Kind, Kind, Kind]
    relations: tuple[Relation, Relation]
    formulas: tuple[Formula, ...]
    dated: Deed
    amounted: Deed

    def __reduce__(self) -> tuple[Callable[[str], Subtopic], tuple[str]]:
        """By name: the calculations are functions, which cannot be pickled."""
        from envs_registry.workflows.reading import get_subtopic

        return get_subtopic, (self.name,)

    @cached_property
    def currency(self) -> Unit | None:
        """The currency of the first formula's value, if it is one."""
        unit = self.formulas[0].unit
        return unit if unit is not None and unit.is_money else None


def slug(text: str) -> str:
    """A text as part of a tool's name."""
    return re.sub(r"\W+", "_", text.lower()).strip("_")


def plural_of(noun: str) -> str:
    """The plural of an English noun phrase that ends in its noun, where it follows the rules."""
    if noun.endswith("species"):
        return noun
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"
