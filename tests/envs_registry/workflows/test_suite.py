"""The suite in its environments: who succeeds, what is masked, what subsets there are."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, cast

import gymnasium
import pytest

from envs_registry.workflows import SUITE
from envs_registry.workflows.planning import PLANNER
from toolenv import Message, Stop, ToolCall, ToolCalls, ToolEnv, rollout
from toolenv.agents.noop import make as make_noop
from toolenv.agents.oracle import Oracle
from toolenv.agents.recovery import make as make_recovery
from toolenv.cli.build import PROVENANCE
from toolenv.errors import UsageError
from toolenv.feasibility.certificates.settle import settled
from toolenv.feasibility.reference_masks import reference_masks
from toolenv.policy import Policy
from toolenv.source import make_source
from toolenv.task import Task
from toolenv.validation import validate_source

TASKS = SUITE.tasks("default")


def env(condition: str = "clean", **keywords: Any) -> ToolEnv:
    return cast(ToolEnv, gymnasium.make(f"ToolFeas/Workflows-{condition}-v0", **keywords).unwrapped)


def successes(policy: Policy, subset: str = "default") -> int:
    made = env(subset=subset)
    episodes = [rollout(made, policy, seed=0, task_id=task_id).episode for task_id in made.source.task_ids]
    assert all(episode.valid for episode in episodes)
    return sum(episode.success is True for episode in episodes)


@pytest.mark.parametrize("subset", ["default", "variant-1", "train-1000"])
def test_the_oracle_solves_every_task(subset: str) -> None:
    assert successes(Oracle(), subset) == len(SUITE.tasks(subset))


def test_doing_nothing_solves_none() -> None:
    assert successes(make_noop("", {})) == 0


def test_following_the_plan_solves_every_clean_task() -> None:
    """The script knows the structure and reads all values; so plans hold what is needed, and in time."""
    assert successes(make_recovery("naive", {})) == 1106


@pytest.mark.parametrize("condition", ["clean", "infeasible", "mixed"])
def test_the_environments_are_what_they_claim_to_be(condition: str) -> None:
    source = make_source(SUITE, condition)
    assert len(source.task_ids) == 1106
    found = [
        finding
        for _, findings in validate_source(source, Oracle(), make_noop("", {}))
        for finding in findings
    ]
    assert found == []


def test_stopping_is_right_where_the_critical_tools_are_gone() -> None:
    made = env("infeasible")
    for task_id in made.source.task_ids[::97]:
        made.reset(options={"task_id": task_id})
        assert made.step(Stop("what I need is not offered"))[1] == 1.0


# ---- masks ----


def test_the_shipped_masks_are_the_critical_tools() -> None:
    masks = SUITE.masks("default")
    assert list(masks.masks) == [task.id for task in TASKS]
    assert (masks.excluded, masks.flags) == ({}, {})
    for task in TASKS:
        assert set(masks.masks[task.id]) == task.metadata["blueprint"].critical, task.id


def test_every_mask_is_certified() -> None:
    """So are those of the variants, whose values alone differ."""
    built, _ = settled(SUITE, PLANNER, reference_masks(SUITE, "default", Oracle(), "none", PROVENANCE))
    assert built == SUITE.masks("default")
    assert {known["status"] for known in built.evidence.values()} == {"certified"}
    variant = SUITE.masks("variant-1")
    _, found = settled(SUITE, PLANNER, variant)
    assert {record.status for record in found.tasks.values()} == {"certified"}
    assert variant.evidence.keys() == variant.masks.keys()


def test_masks_hold_the_tools_of_the_solution_and_their_other_source() -> None:
    masks = SUITE.masks("default").masks
    for task in TASKS:
        steps = [step for step in task.reference.solution() if isinstance(step, ToolCalls)]
        used = {call.name for step in steps for call in step.calls}
        contracts = task.metadata["blueprint"].contracts
        others = {contracts[name].alternative for name in used if contracts[name].reads}
        assert set(masks[task.id]) == used | others


def test_every_masked_pool_still_offers_tools() -> None:
    source = make_source(SUITE, "infeasible")
    sizes = [len(source.get(task_id).offered()) for task_id in source.task_ids]
    assert (min(sizes), max(sizes)) == (3, 10)


@pytest.mark.parametrize("subset", ["variant-1", "variant-2", "variant-3", "train-1000"])
def test_other_subsets_are_masked_alike(subset: str) -> None:
    masks = SUITE.masks(subset)
    assert masks.subset == subset
    tasks = SUITE.tasks(subset)
    assert list(masks.masks) == [task.id for task in tasks]
    assert all(set(masks.masks[task.id]) == task.metadata["blueprint"].critical for task in tasks)


# ---- variants ----


def structure(task: Task) -> object:
    blueprint = task.metadata["blueprint"]
    return (
        [tool.name for tool in task.tools],
        [(call.tool, sorted(call.arguments), call.stage) for call in blueprint.calls],
        # Which of several listed things comes first depends on identifiers; how many there are does not.
        [[(feed.argument, feed.origin.call) for feed in call.feeds] for call in blueprint.calls],
        (blueprint.origin, blueprint.answer.kind, blueprint.answer.unit, blueprint.critical),
        {key: task.metadata[key] for key in ("domain", "subtopic", "workflow", "tool_count")},
    )


def test_variants_keep_the_structure_and_change_the_values() -> None:
    same_request = same_answer = 0
    for task in TASKS[::9]:
        seen = {task.metadata["blueprint"].answer.text}
        for variant in (1, 2, 3):
            other = SUITE.variant(task.id, variant)
            assert other.id == f"{task.id}~{variant}"
            assert structure(other) == structure(task)
            assert other.metadata["facts"].records != task.metadata["facts"].records
            same_request += other.messages[-1] == task.messages[-1]
            seen.add(other.metadata["blueprint"].answer.text)
        same_answer += 4 - len(seen)
    # One identifier in 9,000 is drawn twice, one person in 7,000; some requests hold one value alone.
    assert max(same_request, same_answer) <= 2


def test_variant_nought_is_the_task_itself() -> None:
    task = TASKS[3]
    assert SUITE.variant(task.id, 0) == task
    assert SUITE.variant(SUITE.variant(task.id, 4).id, 0) == task


def test_generating_is_what_the_subsets_do() -> None:
    assert SUITE.generate(0, 5) == TASKS[5]
    assert SUITE.tasks("train-1000")[7] == SUITE.generate(1, 7)


# ---- success ----


def outcome(task: Task, *actions: Any) -> tuple[bool | None, str]:
    made = env(tasks=task.id)
    made.reset()
    for action in actions:
        *_, info = made.step(action)
    return info["verdict"]["success"], info["verdict"]["why"]


def deed_task() -> Task:
    return next(task for task in TASKS if task.metadata["blueprint"].changes_state)


def test_field_030_success_needs_the_state_and_the_answer() -> None:
    task = deed_task()
    *calls, words = task.reference.solution()
    assert outcome(task, *calls, words) == (True, "")
    success, why = outcome(task, *calls, Message("Done."))
    assert (success, "final message" in why) == (False, True)
    success, why = outcome(task, words)
    assert (success, why) == (False, "the world does not end as the task wants it")


def test_an_unasked_change_of_the_world_fails_a_task_that_is_answered() -> None:
    for task in TASKS:
        blueprint = task.metadata["blueprint"]
        deeds = [name for name, one in blueprint.contracts.items() if one.changes_state]
        if deeds and not blueprint.changes_state:
            break
    tool = next(one for one in task.tools if one.name == deeds[0])
    item = task.metadata["facts"].records[0][0].id
    values = {"date": "2099-01-01", "amount": 10, "currency": "EUR"}
    needed = tool.parameters["required"]
    arguments = {name: values.get(name, 10 if name.startswith("amount") else item) for name in needed}
    deed = ToolCalls((ToolCall(tool.name, arguments),))
    *calls, words = task.reference.solution()
    success, why = outcome(task, deed, *calls, words)
    assert (success, why) == (False, "the world does not end as the task wants it")


def test_the_answer_may_stand_in_any_sentence_of_the_final_message() -> None:
    task = next(one for one in TASKS if one.metadata["blueprint"].answer.kind == "number")
    *calls, _ = task.reference.solution()
    value = task.metadata["blueprint"].answer.value
    assert outcome(task, *calls, Message(f"I looked it up. You'll need **{value:,}** in all."))[0] is True
    assert outcome(task, *calls, Message(f"It is {value + 1}."))[0] is False
    assert outcome(task, *calls, Message(f"It is 9{value}."))[0] is False


def test_a_repeated_deed_is_one_deed() -> None:
    task = deed_task()
    *calls, words = task.reference.solution()
    assert outcome(task, *calls, calls[-1], words) == (True, "")


# ---- names ----


@pytest.mark.parametrize(
    ("keywords", "problem"),
    [
        ({"subset": "variant-9"}, "unknown subset 'variant-9'.*did you mean"),
        ({"tasks": "loans-mixture-0-99"}, "unknown task id 'loans-mixture-0-99'"),
    ],
)
def test_bad_keywords_are_named(keywords: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        env(**keywords)


def test_nothing_is_generated_before_it_is_needed() -> None:
    code = "import sys, toolenv; print([one for one in sys.modules if 'registry.workflows.' in one])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "['envs_registry.workflows.suite']"
