"""The frozen evaluation set: paper 2's numbers, and that nothing about it has moved."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from envs_registry.workflows import SUITE
from envs_registry.workflows.evaluation import (
    SPLIT,
    choose,
    evaluation_numbers,
    fingerprint,
    frozen_fingerprint,
)
from envs_registry.workflows.reading import subtopic_names

TASKS = SUITE.tasks("default")


def test_the_split_is_the_paper_s() -> None:
    assert len(TASKS) == 1106
    workflows = Counter(task.metadata["workflow"] for task in TASKS)
    assert workflows == {"sequential": 378, "parallel": 358, "mixture": 370}


def test_there_are_seven_domains_and_84_subtopics_with_at_most_five_tasks_a_workflow() -> None:
    assert len(subtopic_names()) == 84
    assert set(Counter(subtopic_names().values()).values()) == {12}
    cells = Counter((task.metadata["subtopic"], task.metadata["workflow"]) for task in TASKS)
    assert len(cells) == 84 * 3
    assert set(cells.values()) == {4, 5}


def test_tasks_take_two_to_eight_tools_and_mostly_four() -> None:
    counts = Counter(task.metadata["tool_count"] for task in TASKS)
    assert set(counts) == set(range(2, 9))
    assert counts[4] > len(TASKS) / 2
    # The paper's three buckets: at most 3, 4, at least 5.
    assert min(counts[2] + counts[3], sum(counts[size] for size in range(5, 9))) > 150


def test_the_page_on_the_suite_has_the_right_numbers() -> None:
    page = (Path(__file__).parents[3] / "docs" / "workflows.md").read_text(encoding="utf-8")
    counts = Counter((task.metadata["workflow"], task.metadata["tool_count"]) for task in TASKS)
    for workflow, size in SPLIT.items():
        cells = [str(counts[workflow, tools] or "") for tools in range(2, 9)]
        assert (
            "| ".join([f"| {workflow} ", *(f"{cell} " if cell else "" for cell in cells), f"{size} |"])
            in page
        )


def test_the_number_of_tools_is_that_of_different_tools_called() -> None:
    for task in TASKS:
        called = {call.tool for call in task.metadata["blueprint"].calls}
        assert len(called) == task.metadata["tool_count"], task.id


def test_ids_and_requests_are_all_different() -> None:
    assert len({task.id for task in TASKS}) == len(TASKS)
    assert len({task.messages[-1].content for task in TASKS}) == len(TASKS)


def test_the_set_is_what_was_frozen() -> None:
    # Whatever changes a task raises VERSION and the ids' -vN, and the set is frozen anew.
    assert fingerprint(TASKS) == frozen_fingerprint()
    assert evaluation_numbers() == choose()


@pytest.mark.parametrize("subset", ["train-1000", "variant-1"])
def test_other_subsets_share_no_request_with_it(subset: str) -> None:
    frozen = {task.messages[-1].content for task in TASKS}
    assert frozen.isdisjoint(task.messages[-1].content for task in SUITE.tasks(subset))
