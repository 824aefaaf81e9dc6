"""The BFCL suite on the real wheel: counts, masks, acknowledgements, and what each category means."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, cast

import gymnasium
import pytest

from envs_registry.bfcl import SUITE
from envs_registry.bfcl.backends import TASK_DATE
from envs_registry.bfcl.categories import CATEGORIES, SUBSETS
from envs_registry.bfcl.load import load_category, read_lines
from envs_registry.bfcl.single_turn import ACKNOWLEDGEMENT
from toolenv import Message, Stop, ToolCall, ToolCalls, ToolEnv, rollout
from toolenv.agents.oracle import Oracle
from toolenv.errors import DataCorruptError, DataMissingError

pytestmark = pytest.mark.usefixtures("bfcl_package")


def env(subset: str = "default", condition: str = "clean", **keywords: Any) -> ToolEnv:
    made = gymnasium.make(f"ToolFeas/BFCL-{condition}-v0", subset=subset, **keywords)
    return cast(ToolEnv, made.unwrapped)


def test_the_default_subset_is_the_paper_s_1453() -> None:
    assert len(SUITE.tasks("default")) == 1453
    assert len(SUITE.tasks("candidate-a")) == len(SUITE.tasks("candidate-c")) == 1453


@pytest.mark.parametrize("name", CATEGORIES)
def test_every_category_loads_whole_and_is_covered_by_its_manifest(name: str) -> None:
    tasks = SUITE.tasks(name)
    manifest = SUITE.masks(name)
    # Sizes are those of the notes on the wheel's files.
    assert len(tasks) == CATEGORIES[name].size
    assert [task.id for task in tasks] == sorted(
        [*manifest.masks, *manifest.excluded], key=[task.id for task in tasks].index
    )
    pools = {task.id: {tool.name for tool in task.tools} for task in tasks}
    for task_id, mask in manifest.masks.items():
        assert set(mask) < pools[task_id]


def test_exactly_the_known_tasks_can_never_pass() -> None:
    flagged = {
        task_id
        for name in CATEGORIES
        for task_id, flags in SUITE.masks(name).flags.items()
        if "can_never_pass" in flags
    }
    # Four by upstream's own rules; in the fifth, a turn needs a function that a later turn brings.
    assert flagged == {
        "live_multiple_862-181-3",
        "live_multiple_964-207-0",
        "live_simple_106-63-0",
        "live_simple_112-68-0",
        "multi_turn_miss_func_49",
    }


def test_masks_leave_no_default_pool_empty() -> None:
    manifest = SUITE.masks("default")
    assert len(manifest.masks) == 1451
    assert Counter(manifest.excluded.values()) == {
        "no successful trace: the reference solution is not judged successful": 2
    }
    # The notes: masking the ground truth's tools empties 178 of 200 pools here.
    empty = [reason for reason in SUITE.masks("parallel_multiple").excluded.values() if "empties" in reason]
    assert len(empty) == 178


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"side1": 5, "side2": 4, "side3": 3}, "ok"),
        ({"side1": 99, "side2": 98, "side3": 97}, "ok"),
        ({"side1": "5", "side2": 4, "side3": 3}, "invalid_arguments"),
        ({"side1": 5}, "invalid_arguments"),
        ({"side1": 5, "side2": 4, "side3": 3, "side4": 2}, "invalid_arguments"),
    ],
)
def test_single_turn_calls_are_acknowledged_alike_whether_right_or_wrong(
    arguments: dict[str, Any], kind: str
) -> None:
    made = env(tasks="multiple_0")
    made.reset()
    observation, *_ = made.step(ToolCalls((ToolCall("triangle_properties.get", arguments),)))
    ((_, result),) = made.trace.calls()
    assert result.kind == kind
    assert (observation.messages[-1].content == ACKNOWLEDGEMENT) is (kind == "ok")


def test_the_other_tool_of_the_pool_is_acknowledged_alike() -> None:
    made = env(tasks="multiple_0")
    made.reset()
    observation, *_ = made.step(ToolCalls((ToolCall("circle_properties.get", {"radius": 1}),)))
    assert observation.messages[-1].content == ACKNOWLEDGEMENT


def solve(*attempts: ToolCalls) -> bool | None:
    made = env(tasks="multiple_0")
    made.reset()
    for attempt in attempts:
        made.step(attempt)
    *_, info = made.step(Message("Done."))
    success: bool | None = info["verdict"]["success"]
    return success


RIGHT = ToolCall("triangle_properties.get", {"side1": 5, "side2": 4, "side3": 3})
WRONG = ToolCall("circle_properties.get", {"radius": 1})


def test_a_rejected_call_that_is_corrected_does_not_count_against_the_agent() -> None:
    refused = ToolCall("triangle_properties.get", {"side1": 5})
    unknown = ToolCall("triangle", {})
    assert solve(ToolCalls((refused,)), ToolCalls((unknown,)), ToolCalls((RIGHT,))) is True


def test_exact_repeats_count_once_and_other_calls_count() -> None:
    assert solve(ToolCalls((RIGHT,)), ToolCalls((RIGHT,))) is True
    assert solve(ToolCalls((RIGHT, RIGHT))) is True
    assert solve(ToolCalls((RIGHT, WRONG))) is False
    assert solve() is False


def test_repeats_that_a_task_asks_for_are_not_lost() -> None:
    # parallel_158 asks for two samples of each of two distributions: equal calls, four in all.
    assert rollout(env("parallel"), Oracle(), seed=0, task_id="parallel_158").episode.success is True


def test_field_065_relevance_and_irrelevance_mean_what_they_say() -> None:
    relevance, irrelevance = env("live_relevance"), env("irrelevance")
    relevance.reset(options={"task_id": relevance.source.task_ids[0]})
    assert relevance.task.label == "feasible"
    tool = relevance.tools[0]
    relevance.step(ToolCalls((ToolCall(tool.name, {}),)))
    assert relevance.step(Message("Done."))[4]["verdict"]["success"] is True
    irrelevance.reset(options={"task_id": "irrelevance_0"})
    assert irrelevance.task.label == "infeasible"
    assert irrelevance.step(Stop("nothing fits"))[1] == 1.0
    irrelevance.reset(options={"task_id": "irrelevance_0"})
    *_, info = irrelevance.step(Message("I cannot say."))
    assert (info["verdict"]["success"], info["verdict"]["reward"]) == (True, 0.0)


def test_field_017_an_empty_pool_is_offered_as_such() -> None:
    made = env("live_irrelevance")
    empty = [task_id for task_id in made.source.task_ids if not made.source.get(task_id).tools]
    assert len(empty) == 4  # as in the notes
    observation, _ = made.reset(options={"task_id": empty[0]})
    assert observation.tools == ()


def test_field_095_multi_turn_tools_come_from_the_class_documents() -> None:
    task = env(tasks="multi_turn_base_0").source.get("multi_turn_base_0")
    assert len(task.tools) == 18 + 14  # GorillaFileSystem and TwitterAPI, by the notes


def test_missed_functions_come_with_their_turn() -> None:
    task = SUITE.tasks("multi_turn_miss_func")[0]
    offered = [{tool.name for tool in task.offered(turn)} for turn in range(len(task.turns) + 1)]
    assert ["sort" in names for names in offered] == [False, False, False, True, True]


def test_field_038_travel_tasks_say_what_day_it_is_and_book_for_later() -> None:
    travel = [
        task for task in SUITE.tasks("multi_turn_base") if "book_flight" in {tool.name for tool in task.tools}
    ]
    assert travel
    for task in travel:
        assert TASK_DATE.isoformat() in task.messages[0].content
        booked = re.findall(r"'travel_date': '([\d-]+)'", repr(task.reference.solution()))
        assert all(date > TASK_DATE.isoformat() for date in booked)


def test_field_064_entries_and_answers_join_by_id(tmp_path: Path, bfcl_package: Path) -> None:
    category = CATEGORIES["simple_python"]
    (tmp_path / "data/possible_answer").mkdir(parents=True)
    entries = read_lines(bfcl_package / category.file)
    answers = read_lines(bfcl_package / category.answers)
    (tmp_path / category.file).write_text("\n".join(map(json.dumps, entries)))
    (tmp_path / category.answers).write_text("\n".join(map(json.dumps, reversed(answers))))
    assert [task.id for task in load_category(tmp_path, category)] == [entry["id"] for entry in entries]
    answers[0]["id"] = "simple_python__0"
    (tmp_path / category.answers).write_text("\n".join(map(json.dumps, answers)))
    with pytest.raises(DataCorruptError, match=r"(?s)simple_python_0.*simple_python__0"):
        load_category(tmp_path, category)
    (tmp_path / category.answers).unlink()
    with pytest.raises(DataMissingError, match=r"possible_answer.*toolenv data pull bfcl"):
        load_category(tmp_path, category)


def test_subsets_are_made_of_categories() -> None:
    assert {name for parts in SUBSETS.values() for name in parts} == set(CATEGORIES)


@pytest.mark.parametrize("subset", CATEGORIES)
def test_the_oracle_solves_all_that_can_be_solved(subset: str) -> None:
    made = env(subset)
    failed = [
        task_id
        for task_id in made.source.task_ids
        if not rollout(made, Oracle(), seed=0, task_id=task_id).episode.reward
        and not made.task.flags & {"can_never_pass", "no_reference"}
    ]
    assert failed == []
