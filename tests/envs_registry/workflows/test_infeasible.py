"""Masked tasks cannot be solved: by what tools are declared to tell, and by asking them everything."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from envs_registry.workflows import SUITE
from envs_registry.workflows.blueprint import Blueprint
from envs_registry.workflows.checks import leftover_facts
from envs_registry.workflows.facts import Facts
from envs_registry.workflows.units import CURRENCIES
from toolenv.errors import ToolError
from toolenv.task import Task
from toolenv.types import ToolSpec

TASKS = SUITE.tasks("default")
LEAST_DIGITS = 3
"""Shorter numbers stand somewhere by chance."""


def test_no_tool_that_remains_is_declared_to_tell_what_the_answer_depends_on() -> None:
    for task in TASKS:
        assert leftover_facts(task.metadata["blueprint"]) == frozenset(), task.id


def test_every_answer_depends_on_a_fact_that_only_critical_tools_tell() -> None:
    for task in TASKS:
        blueprint: Blueprint = task.metadata["blueprint"]
        assert blueprint.critical_facts, task.id
        telling = {name for name, one in blueprint.contracts.items() if one.facts & blueprint.critical_facts}
        assert telling
        assert telling <= blueprint.critical


def test_asked_for_everything_the_remaining_tools_do_not_tell_it() -> None:
    """Every tool that reads facts, with every identifier, name and pair of currencies of the world."""
    asked = 0
    for task in TASKS[::5]:
        wanted = needed_values(task)
        for name, result in everything_told(task):
            asked += 1
            assert wanted.isdisjoint(scalars(result)), (task.id, name, result)
    assert asked > 2000


def test_what_the_critical_tools_tell_would_be_found_that_way() -> None:
    """The check above can fail: the same questions to the critical tools do give the values away."""
    given_away = 0
    for task in TASKS[::40]:
        critical = task.metadata["blueprint"].critical
        told = {one for _, result in everything_told(task, critical) for one in scalars(result)}
        fed = needed_values(task) - {task.metadata["blueprint"].answer.value}
        assert fed <= told, task.id
        given_away += bool(fed)
    assert given_away > 15


def needed_values(task: Task) -> set[Any]:
    """The values that the reference calls take from facts, identifiers left out, and the answer."""
    blueprint: Blueprint = task.metadata["blueprint"]
    values: set[Any] = {blueprint.answer.value}
    for call in blueprint.calls:
        for feed in call.feeds:
            source = blueprint.calls[feed.origin.call]
            field = blueprint.contracts[source.tool].field(str(feed.origin.path[0]))
            if field.fact and field.type not in ("id", "ids"):
                values.add(source.result[field.name])
    return {value for value in values if len(str(value).replace(".", "").strip("0")) >= LEAST_DIGITS}


def everything_told(
    task: Task, tools: frozenset[str] | None = None
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    blueprint: Blueprint = task.metadata["blueprint"]
    world = SUITE.world(task, 0)
    for tool in task.tools:
        chosen = tool.name not in blueprint.critical if tools is None else tool.name in tools
        if chosen and blueprint.contracts[tool.name].reads:
            for arguments in questions(tool, task.metadata["facts"]):
                try:
                    yield tool.name, world.call(tool.name, arguments)
                except ToolError:
                    continue


def questions(tool: ToolSpec, facts: Facts) -> Iterator[dict[str, str]]:
    names = list(tool.parameters["required"])
    if "from_currency" in names:
        for one, other in itertools.permutations(CURRENCIES, 2):
            yield {"from_currency": one, "to_currency": other}
        return
    records = [record for level in facts.records for record in level]
    for value in [*(record.id for record in records), *(record.name for record in records)]:
        yield {names[0]: value}


def scalars(value: Any) -> set[Any]:
    if isinstance(value, Mapping):
        return set().union(*(scalars(item) for key, item in value.items() if key not in ("source", "as_of")))
    if isinstance(value, list):
        return set().union(*map(scalars, value))
    return {value}
