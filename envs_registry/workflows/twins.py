"""Another world that somebody without some tools cannot tell from a task's own.

A *twin* differs from a task's world in one thing: a fact of a record, an exchange rate, or the identifier of
a record. If the tools left answer every question alike in both and the right answer is another one, then
whoever has only those tools does and says the same in both, and is wrong in one of them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from envs_registry.workflows.blueprint import Blueprint, ReferenceCall, value_at
from envs_registry.workflows.facts import Facts, Record
from envs_registry.workflows.toolbox import get_toolbox
from envs_registry.workflows.units import CURRENCIES
from envs_registry.workflows.world import WorkflowWorld
from toolenv.canonical import canonical
from toolenv.errors import ToolError
from toolenv.rendering import render
from toolenv.task import Task

_IDENTIFIER: Final = re.compile(r"[A-Z]{2,5}-[0-9]{4}")
_DATE: Final = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}")
_LARGE: Final = 1e9


def twin_of(facts: Facts, change: Mapping[str, Any]) -> Facts:
    """The facts with one of them changed.

    Args:
        facts: of a task.
        change: ``{"id", "field", "value"}``, ``{"currency", "value"}`` or ``{"id", "renamed"}``.

    Raises:
        KeyError: it names a record, a field or a currency that is not there.
        ValueError: the new value is not of the old one's kind.
    """
    if "currency" in change:
        _check_kind(facts.rates[change["currency"]], change["value"])
        return replace(facts, rates={**facts.rates, change["currency"]: change["value"]})
    _, record = facts.by_id[change["id"]]
    if "renamed" in change:
        if not _IDENTIFIER.fullmatch(change["renamed"]):
            raise ValueError(f"{change['renamed']!r:.80} is no identifier")
        return _each(facts, lambda one: _renamed(one, record.id, change["renamed"]))
    _check_kind(record.values[change["field"]], change["value"])
    values = {**record.values, change["field"]: change["value"]}
    return _each(facts, lambda one: one._replace(values=values) if one.id == record.id else one)


def _check_kind(old: Any, new: Any) -> None:
    """Numbers stay numbers, dates dates, texts texts."""
    if isinstance(old, str):
        same = isinstance(new, str) and (not _DATE.fullmatch(old) or _DATE.fullmatch(new) is not None)
    else:
        same = isinstance(new, int | float) and not isinstance(new, bool) and 0 < new < _LARGE
    if not same:
        raise ValueError(f"{new!r:.80} cannot stand where {old!r:.80} does")


def _renamed(record: Record, old: str, new: str) -> Record:
    own = new if record.id == old else record.id
    above = new if record.belongs_to == old else record.belongs_to
    return record._replace(id=own, belongs_to=above)


def _each(facts: Facts, change: Callable[[Record], Record]) -> Facts:
    """The facts with every record changed, and all that finds records anew."""
    first, second, third = (tuple(map(change, level)) for level in facts.records)
    records = (first, second, third)
    members: dict[str, list[str]] = {record.id: [] for level in records[1:] for record in level}
    for level in records[:2]:
        for record in level:
            members[record.belongs_to].append(record.id)
    return replace(
        facts,
        records=records,
        by_id={record.id: (at, record) for at, level in enumerate(records) for record in level},
        by_name={(at, record.name.lower()): record for at, level in enumerate(records) for record in level},
        members={owner: tuple(sorted(ids)) for owner, ids in members.items()},
    )


def world_of(task: Task, facts: Facts) -> WorkflowWorld:
    """A fresh world of these facts with a task's tools."""
    return WorkflowWorld(facts, get_toolbox(task.metadata["subtopic"]).runners)


def difference_told(task: Task, facts: Facts, twin: Facts, hidden: frozenset[str]) -> str:
    """How the tools left of a masked task tell two worlds apart; empty if they do not.

    Every tool that reads facts is asked everything it answers: each name, each identifier, each pair of
    currencies. The other tools calculate from their arguments, or act on things by their identifiers.

    Args:
        task: the task, masked.
        facts, twin: of the two worlds.
        hidden: identifiers that are not asked about, since nobody can come to know them; then no answer may
            hold one.
    """
    contracts = task.metadata["blueprint"].contracts
    here, there = world_of(task, facts), world_of(task, twin)
    for tool in task.offered():
        if not (contracts[tool.name].reads or tool.name == "convert_currency"):
            continue
        for arguments in questions(tuple(tool.parameters["required"]), facts, hidden):
            one, other = (_answer(world, tool.name, arguments) for world in (here, there))
            if one != other:
                return f"{tool.name}{arguments} tells them apart"
            if any(identifier in one for identifier in hidden):
                return (
                    f"{tool.name}{arguments} tells {sorted(hidden)[0]!r} or another identifier that differs"
                )
    return ""


def questions(parameters: tuple[str, ...], facts: Facts, hidden: frozenset[str]) -> Iterator[dict[str, Any]]:
    """All that a reading tool can be asked; other arguments are answered by an error that repeats them."""
    if "from_currency" in parameters:
        amount = {"amount": 1_000_000.0} if "amount" in parameters else {}
        for one, other in itertools.product(CURRENCIES, repeat=2):
            yield {**amount, "from_currency": one, "to_currency": other}
        return
    for level in facts.records:
        for record in level:
            yield {parameters[0]: record.name}
            if record.id not in hidden:
                yield {parameters[0]: record.id}


def _answer(world: WorkflowWorld, name: str, arguments: Mapping[str, Any]) -> str:
    try:
        return render(world.call(name, arguments))
    except ToolError as error:
        return str(error)


def outcome_in(task: Task, facts: Facts) -> tuple[str, str]:
    """The right answer and the digest of the final world, were these the facts.

    Raises:
        ToolError: a reference call fails there.
    """
    blueprint: Blueprint = task.metadata["blueprint"]
    world, results = world_of(task, facts), list[Mapping[str, Any]]()
    for call in blueprint.calls:
        results.append(world.call(call.tool, _arguments(call, results)))
    answer = value_at(results[blueprint.origin.call], blueprint.origin.path)
    return canonical(answer), world.digest()


def _arguments(call: ReferenceCall, results: list[Mapping[str, Any]]) -> dict[str, Any]:
    arguments = {
        name: list(value) if isinstance(value, list) else value for name, value in call.arguments.items()
    }
    for feed in call.feeds:
        name, *place = feed.argument
        value = value_at(results[feed.origin.call], feed.origin.path)
        if place:
            arguments[str(name)][int(place[0])] = value
        else:
            arguments[str(name)] = value
    return arguments
