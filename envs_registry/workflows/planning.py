"""What the search for witnesses knows about Workflows."""

from __future__ import annotations

import datetime
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, Final

from envs_registry.workflows.answers import Answer
from envs_registry.workflows.blueprint import Blueprint, Origin
from envs_registry.workflows.claims import RULES, deeds_wanted
from envs_registry.workflows.contracts import ToolContract
from envs_registry.workflows.facts import Facts, Record
from envs_registry.workflows.twins import world_of
from envs_registry.workflows.units import CURRENCIES
from envs_registry.workflows.world import WorkflowWorld
from toolenv.canonical import canonical
from toolenv.errors import ToolError
from toolenv.feasibility.certificates.grounding import Knowledge
from toolenv.feasibility.certificates.planning import Features, Goal, Obtained
from toolenv.feasibility.certificates.records import Claim, Criterion
from toolenv.rendering import render
from toolenv.task import Task

_ID: Final = re.compile(r"\b[A-Z]{2,4}-[0-9]{4}\b")
_CODE: Final = re.compile(r"\b(?:BK|CH)-[0-9A-Z]{6}\b")
_SHIFTS: Final = (1, 7, 100, 365)
"""By how much a number or a date is changed to make a twin; the first that makes a difference is taken."""


class WorkflowsPlanningWorld:
    """A world to search in; forks share the facts."""

    def __init__(self, world: WorkflowWorld) -> None:
        self._world = world

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Run a tool; the text of its result, errors included."""
        try:
            return render(self._world.call(name, arguments))
        except (ToolError, KeyError, TypeError, ValueError) as error:
            return str(error) or "error"

    def fork(self) -> WorkflowsPlanningWorld:
        """An independent copy."""
        return WorkflowsPlanningWorld(self._world.fork())

    def features(self) -> Features:
        """What has been done."""
        return features_of(self._world)

    def key(self) -> Hashable:
        """The same, and what it changed."""
        return canonical(self._world.view())


def features_of(world: WorkflowWorld) -> Features:
    """What has been done in a world."""
    return frozenset(canonical(deed) for deed in world.view()["deeds"].values())


class WorkflowsPlanner:
    """See :class:`toolenv.feasibility.certificates.planning.Planner`."""

    rules = RULES
    ignored: frozenset[str] = frozenset()

    def covers(self, task: Task) -> bool:
        """All tasks."""
        return True

    def claims(self, task: Task) -> Iterator[Claim]:
        """What has to be done, then each fact that the reference calls were told by masked tools."""
        for deed in sorted(deeds_wanted(task)):
            yield Claim("effect", 0, {"deed": deed})
        blueprint: Blueprint = task.metadata["blueprint"]
        origins = [feed.origin for call in blueprint.calls for feed in call.feeds] + [blueprint.origin]
        for origin in dict.fromkeys(origins):
            if blueprint.calls[origin.call].tool in task.mask:
                for change in _changes(task, origin):
                    yield Claim("twin", 0, change)

    def goals(self, task: Task, criterion: Criterion) -> tuple[Goal, ...]:
        """What is done in the end, and that the answer is known."""
        blueprint: Blueprint = task.metadata["blueprint"]
        world = world_of(task, task.metadata["facts"])
        for call in blueprint.calls:
            world.call(call.tool, call.arguments)

        def missing(obtained: Obtained, known: Knowledge) -> int:
            return not known.has(blueprint.answer.text)

        return (Goal(features_of(world), missing),)

    def start(self, task: Task) -> WorkflowsPlanningWorld:
        """A fresh world."""
        return WorkflowsPlanningWorld(world_of(task, task.metadata["facts"]))

    def changing(self, task: Task) -> frozenset[str]:
        """The deeds."""
        contracts: Mapping[str, ToolContract] = task.metadata["blueprint"].contracts
        return frozenset(name for name, contract in contracts.items() if contract.changes_state)

    def choices(self, task: Task, tool: str, parameter: str) -> Iterable[Any]:
        """None but what the schema lists."""
        return ()

    def seen_values(self, parameter: str, text: str) -> Iterable[Any]:
        """Identifiers and confirmation codes, for the parameters that take them."""
        if parameter == "confirmation":
            return _CODE.findall(text)
        return _ID.findall(text) if parameter.endswith("_id") else ()

    def closing(self, task: Task, known: Knowledge) -> str:
        """The answer, where it is known."""
        answer: Answer = task.metadata["blueprint"].answer
        return f"Done. {answer.text}" if known.has(answer.text) else "Done."


PLANNER = WorkflowsPlanner()


def _changes(task: Task, origin: Origin) -> Iterator[dict[str, Any]]:
    """Changes of the world after which a value of a reference call's result is another one."""
    blueprint: Blueprint = task.metadata["blueprint"]
    facts: Facts = task.metadata["facts"]
    call = blueprint.calls[origin.call]
    field = blueprint.contracts[call.tool].field(str(origin.path[0]))
    if field.fact == "exchange.rate":
        for code in CURRENCIES:
            if code in call.arguments.values() and code != "EUR":
                yield {"currency": code, "value": round(facts.rates[code] * 1.25, 4)}
    elif field.type in ("id", "ids"):
        told = call.result[field.name]
        known = [told] if isinstance(told, str) else told
        for identifier in (one for one in known if one in facts.by_id):
            yield {"id": identifier, "renamed": _unused(identifier, facts)}
    elif field.fact:
        record = _record_of(call.result, facts)
        if record is not None:
            yield from _other_values(record, field.fact.partition(".")[2])


def _record_of(result: Mapping[str, Any], facts: Facts) -> Record | None:
    """The record that a result is about: that of the first identifier in it."""
    found = (
        facts.by_id[value] for value in result.values() if isinstance(value, str) and value in facts.by_id
    )
    return next((record for _, record in found), None)


def _other_values(record: Record, key: str) -> Iterator[dict[str, Any]]:
    value = record.values.get(key)
    if isinstance(value, int | float):
        for shift in _SHIFTS:
            yield {"id": record.id, "field": key, "value": value + shift}
            yield {"id": record.id, "field": key, "value": max(1, value - shift)}
    elif isinstance(value, str):
        yield from ({"id": record.id, "field": key, "value": one} for one in _other_texts(value))


def _other_texts(value: str) -> Iterator[str]:
    try:
        day = datetime.date.fromisoformat(value)
    except ValueError:
        yield f"{value} Other"
        return
    for shift in _SHIFTS:
        yield (day + datetime.timedelta(days=shift)).isoformat()


def _unused(identifier: str, facts: Facts) -> str:
    """An identifier of the same kind that nothing has."""
    prefix, _, number = identifier.partition("-")
    taken = (f"{prefix}-{(int(number) + step) % 9000 + 1000}" for step in range(1, 9000))
    return next(one for one in taken if one not in facts.by_id)
