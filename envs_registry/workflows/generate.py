"""A task is a pure function of (seed, index, variant): the same bytes in any process, thread and Python.

Two streams decide a task. The *structure* depends on seed and index: shape, choices, wording, pool. The
*values* depend on the variant too: names, identifiers, numbers, dates. So variants of a task differ in
values alone.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from envs_registry.workflows.answers import Answer, AnswerKind, number_text
from envs_registry.workflows.blueprint import Blueprint, Origin, ReferenceCall, Workflow, value_at
from envs_registry.workflows.contracts import OutputField
from envs_registry.workflows.facts import Facts, draw_facts
from envs_registry.workflows.identifiers import TaskNumber
from envs_registry.workflows.leakage import leaks
from envs_registry.workflows.plans import plan_of
from envs_registry.workflows.pool import critical_facts, critical_tools, draw_pool
from envs_registry.workflows.reading import subtopic_names
from envs_registry.workflows.reference import WorkflowReference
from envs_registry.workflows.script import Choices, Script, by_stage
from envs_registry.workflows.shapes import Shape, catalogue
from envs_registry.workflows.streams import Stream
from envs_registry.workflows.toolbox import Toolbox, get_toolbox
from envs_registry.workflows.units import CURRENCIES, preferred_conversion
from envs_registry.workflows.wording import Speaker
from toolenv.errors import ToolEnvError, ToolError, UsageError
from toolenv.task import Task
from toolenv.types import ChatMessage, ToolSpec

VERSION = 1
"""Part of every stream's key. Whatever changes a task raises it, and the ``-vN`` of the ids with it."""

TOOL_COUNTS: Mapping[int, int] = {2: 5, 3: 15, 4: 52, 5: 16, 6: 7, 7: 3, 8: 2}
"""How many of 100 tasks take so many tools, where the workflow allows; the paper says: mostly four."""

MIRRORED = 30
"""In so many of 100 tasks the person points to the mirror, and the reference reads that."""

MOST_ATTEMPTS = 400

_LEAST_DIGITS = 3


@dataclass(frozen=True, slots=True)
class Structure:
    """What all variants of a task share, but for the wording, which is drawn along with the text."""

    number: TaskNumber
    toolbox: Toolbox
    shape: Shape
    family: int
    mirrored: bool
    statistic: str
    order: str
    currency: str
    deed_in_days: int


def generate(number: TaskNumber) -> Task:
    """The task of a number.

    Raises:
        UsageError: a negative number.
        ToolEnvError: no values fit its structure, which a declaration with too narrow ranges may cause.
    """
    if min(number.seed, number.index, number.variant) < 0:
        raise UsageError(f"{number}: give whole numbers of at least 0")
    structure = _structure(number)
    for attempt in range(MOST_ATTEMPTS):
        values = Stream("workflows", VERSION, "values", number.seed, number.index, number.variant, attempt)
        facts = draw_facts(structure.toolbox.subtopic, values, structure.family)
        task = _try(structure, facts)
        if task is not None:
            return task
    raise ToolEnvError(f"task {number.task_id!r}: no values fit after {MOST_ATTEMPTS} attempts")


def _structure(number: TaskNumber) -> Structure:
    stream = Stream("workflows", VERSION, "structure", number.seed, number.index)
    toolbox = get_toolbox(number.subtopic)
    counts, weights, shapes = _offers(number.subtopic, number.workflow)
    cores = shapes[stream.weighted(counts, weights)]
    shape = stream.choice(cores[stream.choice(tuple(cores))])
    own = shape.unit.name if shape.unit is not None else ""
    statistics = ("mean", "highest", "lowest")
    return Structure(
        number=number,
        toolbox=toolbox,
        shape=shape,
        family=stream.between(2, 4),
        mirrored=stream.chance(MIRRORED),
        statistic=stream.choice(("total", *statistics) if _adds_up(shape) else statistics),
        order=stream.choice(("highest", "lowest")),
        currency=stream.choice([code for code in CURRENCIES if code != own]),
        deed_in_days=stream.between(9, 120),
    )


def _adds_up(shape: Shape) -> bool:
    return shape.field is not None and shape.field.adds_up


@cache
def _offers(
    subtopic: str, workflow: Workflow
) -> tuple[tuple[int, ...], tuple[int, ...], Mapping[int, Mapping[str, tuple[Shape, ...]]]]:
    """Numbers of tools, how likely each is, and the shapes of each by core."""
    shapes = {tools: cores for (kind, tools), cores in catalogue(subtopic).items() if kind == workflow}
    counts = tuple(sorted(shapes))
    return counts, tuple(TOOL_COUNTS[count] for count in counts), shapes


def _try(structure: Structure, facts: Facts) -> Task | None:
    """The task with these facts, if they make a good one."""
    number = structure.number
    choices = _choices(structure, facts)
    script = Script(structure.toolbox, facts, choices)
    try:
        origin = script.play(structure.shape)
    except ToolError:  # a calculated date lies in the past, or an amount is not positive
        return None
    answer = _answer(structure, script.calls, origin)
    if answer is None or _is_tied(structure.shape, script.calls):
        return None
    blueprint = _blueprint(structure, script, origin, answer)
    speaker = Speaker(facts.subtopic, Stream("workflows", VERSION, "wording", number.seed, number.index))
    request = speaker.request(structure.shape, facts, choices)
    today = f"Today is {facts.today}."
    if leaks(answer, f"{today} {request}", number.subtopic, blueprint.contracts):
        return None
    return Task(
        id=number.task_id,
        messages=(ChatMessage("system", today), ChatMessage("user", request)),
        tools=_specs(structure.toolbox, tuple(blueprint.contracts)),
        reference=WorkflowReference(blueprint),
        metadata={
            "domain": blueprint.domain,
            "subtopic": blueprint.subtopic,
            "workflow": blueprint.workflow,
            "tool_count": len(blueprint.tools),
            "plan": plan_of(blueprint),
            "blueprint": blueprint,
            "facts": facts,
        },
    )


def _choices(structure: Structure, facts: Facts) -> Choices:
    day = datetime.date.fromisoformat(facts.today) + datetime.timedelta(days=structure.deed_in_days)
    return Choices(
        structure.mirrored, structure.statistic, structure.order, structure.currency, day.isoformat()
    )


def _blueprint(structure: Structure, script: Script, last: Origin, answer: Answer) -> Blueprint:
    number, toolbox = structure.number, structure.toolbox
    calls, origin = by_stage(script.calls, last)
    critical = critical_tools(toolbox, (call.tool for call in calls))
    facts = critical_facts(toolbox, calls, origin)
    pool = draw_pool(
        toolbox, critical, facts, Stream("workflows", VERSION, "pool", number.seed, number.index)
    )
    return Blueprint(
        domain=subtopic_names()[number.subtopic],
        subtopic=number.subtopic,
        workflow=structure.shape.workflow,
        calls=calls,
        answer=answer,
        origin=origin,
        contracts={name: toolbox.contract(name) for name in pool},
        critical=critical,
        critical_facts=facts,
        changes_state=any(toolbox.contract(call.tool).changes_state for call in calls),
        digest=script.world.digest(),
    )


def _answer(structure: Structure, calls: Sequence[ReferenceCall], origin: Origin) -> Answer | None:
    """The answer, unless it is a number so short that it could be guessed."""
    call = calls[origin.call]
    value: Any = value_at(call.result, origin.path)
    field = structure.toolbox.contract(call.tool).field(str(origin.path[0]))
    kinds: Mapping[str, AnswerKind] = {"date": "date", "text": "text", "id": "id"}
    kind = kinds.get(field.type, "number")
    if kind != "number":
        return Answer(kind, value)
    if len(number_text(value).strip("-0.").replace(".", "")) < _LEAST_DIGITS:
        return None
    return Answer("number", value, _unit(structure, field))


def _unit(structure: Structure, field: OutputField) -> str:
    """The unit of the answer, a number."""
    shape = structure.shape
    unit = shape.unit
    if unit is None:
        return field.unit
    if shape.rate or ("convert" in shape.tail and unit.is_money):
        return structure.currency
    target = preferred_conversion(unit) if "convert" in shape.tail else None
    return unit.name if target is None else target.name


def _is_tied(shape: Shape, calls: Sequence[ReferenceCall]) -> bool:
    """Whether two compared things have the same value."""
    if shape.core != "best":
        return False
    ranking = next(call for call in calls if call.tool == "rank_by_value")
    return len(set(ranking.arguments["values"])) < len(ranking.arguments["values"])


def _specs(toolbox: Toolbox, pool: tuple[str, ...]) -> tuple[ToolSpec, ...]:
    return tuple(toolbox.tools[name].spec for name in pool)
