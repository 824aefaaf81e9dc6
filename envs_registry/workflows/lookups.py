"""Tools that read facts: searches, records, lists of what belongs to something, exchange rates.

Each exists twice: one reads the registry of record, one a mirror of it. Both read the same facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from envs_registry.workflows.contracts import Authority, OutputField
from envs_registry.workflows.declaration import Field, Kind, Subtopic, slug
from envs_registry.workflows.derived import CURRENCY, TEXT, Derived, derive, described
from envs_registry.workflows.world import WorkflowWorld

_SEARCHES = ("find_{k}", "search_{k}", "locate_{k}", "{k}_search")
_RECORDS = ("get_{k}", "{k}_record", "fetch_{k}", "read_{k}")
_LISTS = ("list_{c}_of_{k}", "{k}_{c}", "{c}_by_{k}", "list_{c}_for_{k}")

RATE_SOURCES = ("Central Reference Rates Office", "RateWatch")
"""Who publishes exchange rates: the registry of record, and a mirror of it."""


@dataclass(frozen=True, slots=True)
class Source:
    """Who answers.

    Attributes:
        name: e.g. ``"Port Authority Cargo Register"``.
        authority: how much it counts.
        words: how descriptions say so.
        prefix: of the names of its tools.
        other_prefix: of those of the other source.
    """

    name: str
    authority: Authority
    words: str
    prefix: str
    other_prefix: str


def sources(register: str, mirror: str) -> tuple[Source, Source]:
    """The registry of record and its mirror."""
    prefix = f"{slug(mirror)}_"
    return (
        Source(register, "registry of record", f"the {register}, the registry of record", "", prefix),
        Source(
            mirror,
            "mirror",
            f"{mirror}, a community mirror of the {register}; where the two differ, the register is right",
            prefix,
            "",
        ),
    )


def search_tool(subtopic: Subtopic, level: int, source: Source, style: int) -> Derived:
    """From a thing's name to its identifier."""
    kind = subtopic.kinds[level]
    name = _SEARCHES[style].format(k=kind.slug)

    def run(world: WorkflowWorld, arguments: Mapping[str, Any]) -> dict[str, Any]:
        record = world.find(level, arguments[kind.name_field])
        return {kind.id_field: record.id, kind.name_field: record.name, **_remarks(world, source)}

    return derive(
        source.prefix + name,
        "search",
        f"Find the ID of a {kind.label} by its {kind.known_by}, in {source.words}.",
        {kind.name_field: described(TEXT, f"The exact {kind.known_by}.")},
        (_id(kind), _name(kind), *_REMARKS),
        run,
        source=source.name,
        authority=source.authority,
        alternative=source.other_prefix + name,
    )


def record_tool(subtopic: Subtopic, level: int, source: Source, style: int) -> Derived:
    """From a thing's identifier to its facts."""
    kind = subtopic.kinds[level]
    name = _RECORDS[style].format(k=kind.slug)
    above = subtopic.kinds[level + 1] if level < 2 else None
    fields = tuple(kind.fields.values())

    def run(world: WorkflowWorld, arguments: Mapping[str, Any]) -> dict[str, Any]:
        record = world.get(level, arguments[kind.id_field])
        result = {kind.id_field: record.id, kind.name_field: record.name}
        if above is not None:
            result[above.id_field] = record.belongs_to
        for field in fields:
            result[field.output] = world.value(record, field.key)
        return {**result, **_remarks(world, source)}

    role = () if above is None else (_id(above, f"its {subtopic.relations[level].role}"),)
    return derive(
        source.prefix + name,
        "record",
        f"Look up one {kind.label} by its ID, in {source.words}.",
        {kind.id_field: described(TEXT, f"The ID of the {kind.label}, such as {kind.prefix}-0000.")},
        (_id(kind), _name(kind), *role, *(_fact(kind, field) for field in fields), *_REMARKS),
        run,
        source=source.name,
        authority=source.authority,
        alternative=source.other_prefix + name,
    )


def list_tool(subtopic: Subtopic, level: int, source: Source, style: int) -> Derived:
    """From a thing's identifier to those of the things of the level below that belong to it."""
    kind, below = subtopic.kinds[level], subtopic.kinds[level - 1]
    name = _LISTS[style].format(k=kind.slug, c=slug(below.plural))
    output = f"{below.slug}_ids"

    def run(world: WorkflowWorld, arguments: Mapping[str, Any]) -> dict[str, Any]:
        record = world.get(level, arguments[kind.id_field])
        members = list(world.facts.members[record.id])
        return {kind.id_field: record.id, output: members, "count": len(members), **_remarks(world, source)}

    inverse = subtopic.relations[level - 1].inverse.format(f"one {kind.label}")
    return derive(
        source.prefix + name,
        "list",
        f"List the IDs of all {inverse}, in {source.words}.",
        {kind.id_field: described(TEXT, f"The ID of the {kind.label}, such as {kind.prefix}-0000.")},
        (
            _id(kind),
            OutputField(output, "ids", fact=f"{below.slug}.id"),
            OutputField("count", "integer", fact=f"{below.slug}.count", meaning="how many there are"),
            *_REMARKS,
        ),
        run,
        source=source.name,
        authority=source.authority,
        alternative=source.other_prefix + name,
    )


def rate_tool(source: Source) -> Derived:
    """The exchange rate between two currencies."""

    def run(world: WorkflowWorld, arguments: Mapping[str, Any]) -> dict[str, Any]:
        rate = world.facts.rate(arguments["from_currency"], arguments["to_currency"])
        return {"rate": rate, **_remarks(world, source)}

    return derive(
        f"{source.prefix}exchange_rate",
        "rate",
        f"Today's exchange rate between two currencies, published by {source.words}.",
        {
            "from_currency": described(CURRENCY, "The currency to convert from."),
            "to_currency": described(CURRENCY, "The currency to convert to."),
        },
        (
            OutputField(
                "rate",
                "number",
                fact="exchange.rate",
                meaning="units of to_currency for one of from_currency",
            ),
            *_REMARKS,
        ),
        run,
        source=source.name,
        authority=source.authority,
        alternative=f"{source.other_prefix}exchange_rate",
    )


_REMARKS = (
    OutputField("source", "text", meaning="who answers"),
    OutputField("as_of", "date", meaning="the day the data are of"),
)


def _remarks(world: WorkflowWorld, source: Source) -> dict[str, str]:
    return {"source": source.name, "as_of": world.facts.today}


def _id(kind: Kind, meaning: str = "") -> OutputField:
    return OutputField(kind.id_field, "id", fact=f"{kind.slug}.id", meaning=meaning)


def _name(kind: Kind) -> OutputField:
    return OutputField(kind.name_field, "text", fact=f"{kind.slug}.name")


def _fact(kind: Kind, field: Field) -> OutputField:
    unit = field.unit.name if field.unit is not None else ""
    return OutputField(field.output, field.kind, unit, fact_name(kind, field), field.label)


def fact_name(kind: Kind, field: Field) -> str:
    """How contracts name a fact."""
    return f"{kind.slug}.{field.key}"
