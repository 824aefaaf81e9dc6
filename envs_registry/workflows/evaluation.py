"""The frozen evaluation set: 1,106 tasks with paper 2's split by workflow.

``evaluation.json`` holds their ids, and a hash over all that they consist of. ``python -m
envs_registry.workflows.evaluation`` writes it; a test compares it with what the generator makes today.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from envs_registry.workflows.blueprint import Blueprint
from envs_registry.workflows.identifiers import WORKFLOWS, TaskNumber, cells, parse_task_id
from envs_registry.workflows.reading import subtopic_names
from envs_registry.workflows.streams import Stream
from toolenv.errors import DataCorruptError
from toolenv.task import Task

FILE = Path(__file__).parent / "evaluation.json"

SPLIT: Mapping[str, int] = {"sequential": 378, "parallel": 358, "mixture": 370}
"""How many tasks of each workflow (paper 2, appendix on candidate statistics)."""

MOST_IN_A_CELL = 5
"""At most so many tasks of one workflow and subtopic (same place)."""

SEED = 0


@cache
def evaluation_numbers() -> tuple[TaskNumber, ...]:
    """The tasks of the set, in its order.

    Raises:
        DataCorruptError: the file is not as it was written.
    """
    try:
        return tuple(
            parse_task_id(task_id) for task_id in json.loads(FILE.read_text(encoding="utf-8"))["tasks"]
        )
    except (ValueError, KeyError, TypeError) as error:
        raise DataCorruptError(f"{FILE}: {error}") from error


def choose() -> tuple[TaskNumber, ...]:
    """The tasks to freeze: every cell's first four, and a fifth where the split asks for it."""
    stream = Stream("workflows", "evaluation", SEED)
    worlds = len(subtopic_names())
    fifths = {
        workflow: set(stream.sample(range(worlds), size - worlds * (MOST_IN_A_CELL - 1)))
        for workflow, size in SPLIT.items()
    }
    numbers = (TaskNumber(SEED, index) for index in range(cells() * MOST_IN_A_CELL))
    last = cells() * (MOST_IN_A_CELL - 1)
    return tuple(
        number
        for number in numbers
        if number.index < last or number.index % cells() // len(WORKFLOWS) in fifths[number.workflow]
    )


def content(task: Task) -> dict[str, Any]:
    """All that a task consists of, as plain JSON values."""
    blueprint: Blueprint = task.metadata["blueprint"]
    return {
        "id": task.id,
        "messages": [[message.role, message.content] for message in task.messages],
        "tools": [tool.to_openai() for tool in task.tools],
        "blueprint": blueprint.to_json(),
    }


def fingerprint(tasks: Iterable[Task]) -> str:
    """``sha256:…`` over all that some tasks consist of, in order."""
    found = hashlib.sha256()
    for task in tasks:
        text = json.dumps(content(task), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        found.update(text.encode("utf-8") + b"\n")
    return f"sha256:{found.hexdigest()}"


def frozen_fingerprint() -> str:
    """The fingerprint the set had when it was frozen."""
    return str(json.loads(FILE.read_text(encoding="utf-8"))["hash"])


def main() -> None:
    """Freeze the set."""
    from envs_registry.workflows.generate import VERSION, generate

    numbers = choose()
    frozen = {
        "version": VERSION,
        "hash": fingerprint(map(generate, numbers)),
        "tasks": [number.task_id for number in numbers],
    }
    FILE.write_text(json.dumps(frozen, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
