"""What the certificates of Workflows rest on, held against what the tools do in all 84 worlds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from envs_registry.workflows import SUITE
from envs_registry.workflows.blueprint import Blueprint
from envs_registry.workflows.claims import RULES, deeds_wanted
from envs_registry.workflows.planning import PLANNER
from envs_registry.workflows.reading import subtopic_names
from envs_registry.workflows.toolbox import get_toolbox
from envs_registry.workflows.twins import difference_told, outcome_in, twin_of, world_of
from envs_registry.workflows.world import WorkflowWorld
from toolenv.errors import ToolError
from toolenv.feasibility.certificates.records import Claim
from toolenv.task import Task
from toolenv.types import ChatMessage

TASKS = SUITE.tasks("default")
CALCULATING = {"formula", "conversion", "summary", "ranking", "calendar"}


def blueprint_of(task: Task) -> Blueprint:
    blueprint: Blueprint = task.metadata["blueprint"]
    return blueprint


def whole_mask(task: Task) -> Task:
    return task.masked(blueprint_of(task).critical)


def test_calculators_look_at_nothing_but_their_arguments() -> None:
    """Every calculating call of every reference, made without any world; convert_currency reads the rates."""
    nowhere, made = cast(WorkflowWorld, None), 0
    for task in TASKS:
        toolbox = get_toolbox(task.metadata["subtopic"])
        for call in blueprint_of(task).calls:
            if toolbox.contract(call.tool).kind in CALCULATING and call.tool != "convert_currency":
                made += 1
                assert toolbox.tools[call.tool].run(nowhere, call.arguments) == call.result
    assert made > 500


def test_what_is_done_bears_the_name_of_the_tool_that_did_it() -> None:
    done = 0
    for task in TASKS:
        toolbox = get_toolbox(task.metadata["subtopic"])
        world = world_of(task, task.metadata["facts"])
        for call in blueprint_of(task).calls:
            before = world.view()["deeds"]
            world.call(call.tool, call.arguments)
            new = [deed["deed"] for code, deed in world.view()["deeds"].items() if code not in before]
            assert new == ([call.tool] if toolbox.contract(call.tool).changes_state else [])
            done += len(new)
        assert bool(deeds_wanted(task)) is blueprint_of(task).changes_state
    assert done == 165  # docs/workflows.md


def test_only_deeds_change_a_world() -> None:
    """By their source: nothing but the runners of deeds calls ``do``; by trial in every world."""
    assert len(subtopic_names()) == 84
    for task in TASKS[::13]:
        toolbox, world = get_toolbox(task.metadata["subtopic"]), world_of(task, task.metadata["facts"])
        before = world.digest()
        for tool in toolbox.tools.values():
            if not tool.contract.changes_state:
                for record in task.metadata["facts"].records[0]:
                    arguments = dict.fromkeys(tool.spec.parameters["required"], record.id)
                    try:
                        world.call(tool.spec.name, arguments)
                    except (ToolError, KeyError, TypeError, ValueError):
                        continue
        assert world.digest() == before


def test_a_twin_has_another_answer_and_tells_the_same() -> None:
    """Asked anew here: the reference calls give another answer, the tools left the same results."""
    seen = 0
    for task in TASKS[::50]:
        masked = whole_mask(task)
        claim = next(one for one in PLANNER.claims(masked) if not RULES.problem(masked, one))
        if claim.kind == "twin":
            facts = task.metadata["facts"]
            twin = twin_of(facts, claim.facts)
            assert outcome_in(task, facts)[0] != outcome_in(task, twin)[0]
            assert twin != facts
            seen += 1
    assert seen > 10


def first(kind: str, key: str = "") -> tuple[Task, Claim]:
    for task in TASKS:
        for claim in PLANNER.claims(whole_mask(task)):
            wanted = claim.kind == kind and (not key or key in claim.facts)
            if wanted and not RULES.problem(whole_mask(task), claim):
                return task, claim
    raise AssertionError(kind)


@pytest.mark.parametrize("key", ["field", "currency", "renamed"])
def test_a_twin_that_a_tool_left_tells_apart_proves_nothing(key: str) -> None:
    task, claim = first("twin", key)
    assert "tells" in RULES.problem(task.masked(frozenset({"nothing"})), claim)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"field": "no_such_field"}, "there is no such world"),
        ({"id": "XXX-0000"}, "there is no such world"),
        ({"value": "a text"}, "cannot stand where"),
        ({"value": True}, "cannot stand where"),
        ({"value": -5}, "cannot stand where"),
    ],
)
def test_what_is_no_twin(change: dict[str, Any], problem: str) -> None:
    task, claim = next(
        (task, claim)
        for task in TASKS
        for claim in PLANNER.claims(whole_mask(task))
        if isinstance(claim.facts.get("value"), int | float) and "field" in claim.facts
    )
    changed = replace(claim, facts={**claim.facts, **change})
    assert problem in RULES.problem(whole_mask(task), changed)


def test_the_same_world_is_no_twin() -> None:
    task, claim = first("twin", "field")
    record = task.metadata["facts"].by_id[claim.facts["id"]][1]
    same = replace(claim, facts={**claim.facts, "value": record.values[claim.facts["field"]]})
    assert "the same answer" in RULES.problem(whole_mask(task), same)


def test_an_identifier_that_is_said_is_not_hidden() -> None:
    task, claim = first("twin", "renamed")
    said = replace(task, messages=(*task.messages, ChatMessage("user", f"It is {claim.facts['id']}.")))
    assert "is known" in RULES.problem(said.masked(blueprint_of(task).critical), claim)


def test_a_deed_whose_tool_is_left_proves_nothing() -> None:
    task, claim = first("effect")
    assert RULES.problem(whole_mask(task), claim) == ""
    assert "is left" in RULES.problem(task.masked(frozenset({"nothing"})), claim)
    assert "nothing that is to be done" in RULES.problem(
        whole_mask(task), replace(claim, facts={"deed": "fly"})
    )
    assert "unknown claim" in RULES.problem(whole_mask(task), replace(claim, turn=1))


def test_deeds_and_receipts_are_the_same_in_a_twin() -> None:
    """A deed's confirmation depends on what was done to what, and on nothing that a twin changes."""
    task, claim = next(
        (task, claim)
        for task in TASKS
        for claim in PLANNER.claims(whole_mask(task))
        if blueprint_of(task).changes_state and "field" in claim.facts
    )
    worlds = [
        world_of(task, one) for one in (task.metadata["facts"], twin_of(task.metadata["facts"], claim.facts))
    ]
    deed = next(
        call for call in blueprint_of(task).calls if blueprint_of(task).contracts[call.tool].changes_state
    )
    results = [world.call(deed.tool, deed.arguments) for world in worlds]
    assert results[0] == results[1]
    receipts = [world.call(get_toolbox(task.metadata["subtopic"]).receipt, results[0]) for world in worlds]
    assert receipts[0] == receipts[1]


def test_worlds_that_differ_where_tools_left_read_are_told_apart() -> None:
    task, claim = first("twin", "field")
    facts = task.metadata["facts"]
    assert difference_told(
        task.masked(frozenset({"nothing"})), facts, twin_of(facts, claim.facts), frozenset()
    )
    assert difference_told(task.masked(frozenset({"nothing"})), facts, facts, frozenset()) == ""
