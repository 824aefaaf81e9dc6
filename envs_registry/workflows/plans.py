"""Blueprints as plans: structure without values, for hazards and scripted policies (:mod:`toolenv.plan`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from envs_registry.workflows.blueprint import Blueprint, Origin, Path, ReferenceCall
from envs_registry.workflows.contracts import OutputField, ToolContract
from toolenv.plan import Contract, FieldType, Given, Part, Plan, PlannedCall, PlannedMessage, Source, Taken
from toolenv.plan import OutputField as PlannedField

AUTHORITIES: Mapping[str, int] = {"registry of record": 2, "mirror": 1, "": 0}
"""Whose word counts where two sources disagree: the higher."""

_TYPES: Mapping[str, FieldType] = {
    "number": "number", "integer": "integer", "date": "string", "text": "string", "id": "string",
    "ids": "array",
}  # fmt: skip


def plan_of(blueprint: Blueprint) -> Plan:
    """The plan behind a blueprint; calls keep their places."""
    steps = tuple(tuple(_planned(call) for call in stage) for stage in blueprint.stages)
    words = PlannedMessage(("The answer is ", _taken(blueprint.origin), "."))
    contracts = {
        name: _contract(contract, blueprint.contracts.get(contract.alternative))
        for name, contract in blueprint.contracts.items()
    }
    return Plan((*steps, words), contracts)


def _planned(call: ReferenceCall) -> PlannedCall:
    taken = {feed.argument: _taken(feed.origin) for feed in call.feeds}
    return PlannedCall(
        call.tool, {name: _part(value, (name,), taken) for name, value in call.arguments.items()}
    )


def _part(value: Any, where: Path, taken: Mapping[Path, Taken]) -> Part:
    if where in taken:
        return taken[where]
    if isinstance(value, list):
        return [_part(item, (*where, at), taken) for at, item in enumerate(value)]
    return Given(value)


def _taken(origin: Origin) -> Taken:
    return Taken(origin.call, origin.path)


@lru_cache(maxsize=8192)
def _contract(contract: ToolContract, alternative: ToolContract | None) -> Contract:
    """What is documented of a tool; the other source of its facts counts where it is on offer."""
    fields = tuple(map(_field, contract.output))
    authority = AUTHORITIES[contract.authority]
    if alternative is None:
        return Contract(fields, (), authority)
    source = Source(
        tool=alternative.name,
        arguments={name: name for name in contract.arguments},
        fields={field.name: field.name for field in fields},
        authority=AUTHORITIES[alternative.authority],
    )
    return Contract(fields, (source,), authority)


def _field(field: OutputField) -> PlannedField:
    return PlannedField(field.name, _TYPES[field.type], field.unit)
