"""What is known about a task: workflows by their definition, plans without values, contracts that hold."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from envs_registry.workflows import SUITE
from envs_registry.workflows.blueprint import Blueprint, Feed, Origin, ReferenceCall
from envs_registry.workflows.calculators import STATISTICS
from envs_registry.workflows.checks import problems, workflow_of
from envs_registry.workflows.evaluation import evaluation_numbers
from envs_registry.workflows.generate import TOOL_COUNTS
from envs_registry.workflows.script import by_stage
from envs_registry.workflows.units import CURRENCIES, UNITS
from toolenv.plan import Given, Plan, PlannedCall, PlannedMessage, Taken, taken_in
from toolenv.task import Task

TASKS = SUITE.tasks("default")


def call(tool: str, *sources: int) -> ReferenceCall:
    """A made-up call that is fed by some others."""
    feeds = tuple(Feed((f"from{at}",), Origin(at, ("value",))) for at in sources)
    return ReferenceCall(tool, {}, feeds, {}, 0)


@pytest.mark.parametrize(
    ("sources", "workflow"),
    [
        ([(), (0,), (1,)], "sequential"),
        ([(), (0,), (0, 1), (0, 1, 2)], "sequential"),
        ([(), (), (0, 1)], "parallel"),
        ([(), (), (), (0, 1, 2)], "parallel"),
        ([(), (), (0, 1), (2,)], "mixture"),
        ([(), (0,), (), (1, 2)], "mixture"),
        ([(), (0,), (0,), (1, 2)], "mixture"),
    ],
)
def test_a_workflow_is_what_its_calls_need_of_each_other(
    sources: list[tuple[int, ...]], workflow: str
) -> None:
    assert workflow_of([call(f"tool{at}", *some) for at, some in enumerate(sources)]) == workflow


def test_every_task_has_the_workflow_its_number_says() -> None:
    for number, task in zip(evaluation_numbers(), TASKS, strict=True):
        assert workflow_of(task.metadata["blueprint"].calls) == number.workflow == task.metadata["workflow"]


def test_every_task_is_sound() -> None:
    assert [found for task in TASKS for found in problems(task)] == []


def test_calls_stand_stage_by_stage_and_need_only_earlier_stages() -> None:
    for task in TASKS:
        calls = task.metadata["blueprint"].calls
        stages = [one.stage for one in calls]
        assert stages == sorted(stages)
        assert set(stages) == set(range(max(stages) + 1))
        for one in calls:
            assert all(calls[feed.origin.call].stage < one.stage for feed in one.feeds)


def test_sorting_by_stage_keeps_origins() -> None:
    first, second = call("find"), call("get", 0)
    late = ReferenceCall("other", {}, (), {}, 0)
    second = ReferenceCall(second.tool, {}, second.feeds, {}, 1)
    calls, origin = by_stage([first, second, late], Origin(1, ("value",)))
    assert [one.tool for one in calls] == ["find", "other", "get"]
    assert calls[2].feeds[0].origin.call == 0
    assert origin == Origin(2, ("value",))


# ---- plans ----


def test_a_plan_makes_the_reference_calls() -> None:
    for task in TASKS:
        plan, blueprint = plan_and_blueprint(task)
        assert [one.tool for one in plan.calls] == [one.tool for one in blueprint.calls]
        for planned, made in zip(plan.calls, blueprint.calls, strict=True):
            assert planned.arguments.keys() == made.arguments.keys()
        assert isinstance(plan.steps[-1], PlannedMessage)
        assert list(taken_in(plan.steps[-1].pieces)) == [Taken(*blueprint.origin)]


def test_a_plan_gives_nothing_that_only_tools_tell() -> None:
    """Every value it gives stands in the request, or is a choice that the request describes in words."""
    in_words = {*CURRENCIES, *UNITS, *STATISTICS}
    for task in TASKS:
        plan, _ = plan_and_blueprint(task)
        request = task.messages[-1].content
        for given in givens(plan.calls):
            written = str(given.value)
            is_date = written[:2] == "20" and written.count("-") == 2
            assert written in request or written in in_words or is_date, (task.id, written)
            if is_date:
                assert str(int(written[-2:])) in request
                assert written[:4] in request


def test_contracts_say_all_fields_and_the_other_source() -> None:
    for task in TASKS[::5]:
        plan, blueprint = plan_and_blueprint(task)
        assert plan.contracts.keys() == {tool.name for tool in task.tools}
        for name, contract in plan.contracts.items():
            known = blueprint.contracts[name]
            assert [field.name for field in contract.fields] == [field.name for field in known.output]
            assert contract.complete
            there = known.alternative in blueprint.contracts
            assert [source.tool for source in contract.sources] == ([known.alternative] if there else [])
        for register, mirror in blueprint.redundant():
            assert plan.contracts[register].authority > plan.contracts[mirror].authority > 0
        # Whatever the solution reads can be read elsewhere, too.
        assert all(
            plan.contracts[name].sources for name in blueprint.tools if blueprint.contracts[name].reads
        )


def test_the_person_points_to_the_mirror_where_the_plan_reads_it() -> None:
    mirrored = 0
    for task in TASKS:
        blueprint: Blueprint = task.metadata["blueprint"]
        facts = task.metadata["facts"]
        reads_mirror = any(blueprint.contracts[name].authority == "mirror" for name in blueprint.tools)
        if reads_mirror:
            assert facts.subtopic.mirror in task.messages[-1].content
            mirrored += 1
    assert 0.2 < mirrored / len(TASKS) < 0.35


def plan_and_blueprint(task: Task) -> tuple[Plan, Blueprint]:
    return task.metadata["plan"], task.metadata["blueprint"]


def givens(parts: Any) -> Iterator[Given]:
    if isinstance(parts, Given):
        yield parts
    elif isinstance(parts, PlannedCall):
        yield from givens(parts.arguments.values())
    elif not isinstance(parts, Taken):
        for part in parts:
            yield from givens(part)


# ---- the blueprint itself ----


def test_a_blueprint_is_json() -> None:
    for task in TASKS[::50]:
        plain = json.loads(json.dumps(task.metadata["blueprint"].to_json()))
        assert plain["workflow"] == task.metadata["workflow"]
        assert len(plain["calls"]) == len(task.metadata["blueprint"].calls)


def test_answers_are_of_every_kind_and_numbers_have_three_digits() -> None:
    answers = [task.metadata["blueprint"].answer for task in TASKS]
    assert set(Counter(answer.kind for answer in answers)) == {"number", "date", "text", "id"}
    for answer in answers:
        if answer.kind == "number":
            assert len(answer.text.replace(".", "").strip("-0")) >= 3


def test_the_longest_reference_leaves_room_for_as_many_mistakes() -> None:
    """An agent that calls one tool at a time needs a decision for each call and one for its answer."""
    most = max(len(task.metadata["blueprint"].calls) for task in TASKS)
    assert most + 1 < SUITE.max_turns
    assert sum(TOOL_COUNTS.values()) == 100
