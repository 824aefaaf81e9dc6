"""The facts of one task's world: what there is, drawn from the declaration."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from envs_registry.workflows.declaration import Field, Kind, Subtopic
from envs_registry.workflows.names import draw_name
from envs_registry.workflows.streams import Stream

PARENTS = 4
GROUPS = 3
GROUP_OF_PARENT = (0, 0, 1, 2)
"""Which group each parent belongs to, by position."""

FIRST_DAY = datetime.date(2027, 1, 4)
DAYS = 1800
"""Today, in a world, is one of so many days."""

_PER_EURO: Mapping[str, int] = {
    "EUR": 10_000, "USD": 10_980, "GBP": 8_630, "CHF": 9_570, "SEK": 112_400, "CAD": 14_860, "AUD": 16_490,
    "NOK": 115_300,
}  # fmt: skip
"""About what a euro buys, times 10,000; a world's own rates lie around these."""


class Record(NamedTuple):
    """One thing of the world.

    Attributes:
        id: its identifier. name: what it can be searched by.
        belongs_to: the identifier of the thing of the next level, ``""`` for groups.
        values: its facts, by the field's key.
    """

    id: str
    name: str
    belongs_to: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Facts:
    """All that is true in a world before anything is done to it; never changed.

    Attributes:
        subtopic: what the facts are about.
        today: the day it is (ISO 8601).
        records: items, parents, groups; positions are part of a task's structure, values are not.
        by_id: level and record by identifier.
        by_name: record by level and name, in lower case.
        members: identifiers of what belongs to a parent or a group, sorted.
        rates: units of each currency that one euro buys.
        salt: what codes and names of new records depend on.
    """

    subtopic: Subtopic
    today: str
    records: tuple[tuple[Record, ...], tuple[Record, ...], tuple[Record, ...]]
    by_id: Mapping[str, tuple[int, Record]]
    by_name: Mapping[tuple[int, str], Record]
    members: Mapping[str, tuple[str, ...]]
    rates: Mapping[str, float]
    salt: int

    def rate(self, source: str, target: str) -> float:
        """The exchange rate between two currencies, to four decimals."""
        return round(self.rates[target] / self.rates[source], 4)


def parent_of_item(family: int) -> tuple[int, ...]:
    """Which parent each item belongs to, by position: ``family`` items to the first, then 2, 1 and 1."""
    return (*[0] * family, 1, 1, 2, 3)


def positions_apart(family: int, base: int, top: int) -> tuple[int, ...]:
    """Positions at level ``base`` whose things at level ``top`` all differ."""
    if base == top:
        return tuple(range((family + 4, PARENTS, GROUPS)[base]))
    if base == 0:
        return (0, family, family + 2, family + 3) if top == 1 else (0, family + 2, family + 3)
    return (0, 2, 3)


def draw_facts(subtopic: Subtopic, stream: Stream, family: int) -> Facts:
    """The facts of a world.

    Args:
        subtopic: its declaration.
        stream: where the values come from.
        family: how many items the first parent has.
    """
    day = FIRST_DAY + datetime.timedelta(days=stream.below(DAYS))
    names: set[str] = set()
    items, parents, groups = subtopic.kinds
    group_records = _draw_kind(groups, stream, names, day, [""] * GROUPS)
    parent_records = _draw_kind(parents, stream, names, day, [group_records[at].id for at in GROUP_OF_PARENT])
    owners = [parent_records[at].id for at in parent_of_item(family)]
    item_records = _draw_kind(items, stream, names, day, owners)
    records = (item_records, parent_records, group_records)
    members: dict[str, list[str]] = {record.id: [] for level in records[1:] for record in level}
    for level in records[:2]:
        for record in level:
            members[record.belongs_to].append(record.id)
    return Facts(
        subtopic=subtopic,
        today=day.isoformat(),
        records=records,
        by_id={record.id: (at, record) for at, level in enumerate(records) for record in level},
        by_name={(at, record.name.lower()): record for at, level in enumerate(records) for record in level},
        members={owner: tuple(sorted(ids)) for owner, ids in members.items()},
        rates=_draw_rates(stream),
        salt=stream.below(2**62),
    )


def _draw_kind(
    kind: Kind, stream: Stream, names: set[str], today: datetime.date, owners: list[str]
) -> tuple[Record, ...]:
    identifiers: list[int] = []
    while len(identifiers) < len(owners):
        number = stream.between(1021, 9987)
        if number not in identifiers:
            identifiers.append(number)
    fields = tuple(kind.fields.values())
    return tuple(
        Record(
            f"{kind.prefix}-{number}",
            draw_name(kind.pattern, stream, names),
            owner,
            {field.key: _draw_value(field, stream, names, today) for field in fields},
        )
        for number, owner in zip(identifiers, owners, strict=True)
    )


def _draw_value(field: Field, stream: Stream, names: set[str], today: datetime.date) -> Any:
    if field.kind == "text":
        return draw_name(field.pattern, stream, names)
    drawn = stream.between(field.low, field.high)
    if field.kind == "date":
        return (today + datetime.timedelta(days=drawn)).isoformat()
    return round(drawn / 10**field.decimals, field.decimals) if field.decimals else drawn


def _draw_rates(stream: Stream) -> dict[str, float]:
    drawn = {code: round(rate * stream.between(88, 112) / 1_000_000, 4) for code, rate in _PER_EURO.items()}
    return {**drawn, "EUR": 1.0}
