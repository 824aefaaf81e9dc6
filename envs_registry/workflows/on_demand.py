"""Training tasks on demand: made when they are asked for, and not kept for long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import overload

from envs_registry.workflows.generate import VERSION, generate
from envs_registry.workflows.identifiers import TaskNumber, parse_task_id
from toolenv.errors import UsageError
from toolenv.suite import TaskTable
from toolenv.task import Task

WITHOUT_END = 10**9
"""How many tasks count as without end: more than an agent ever plays, and few enough for an index."""


@dataclass(frozen=True)
class TaskIds(Sequence[str]):
    """The ids of the first tasks of a seed."""

    seed: int
    size: int = WITHOUT_END

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...

    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        indexes = range(self.size)[at]
        if isinstance(indexes, int):
            return TaskNumber(self.seed, indexes).task_id
        if indexes == range(self.size):  # a copy of all would have no end
            return self
        return tuple(TaskNumber(self.seed, index).task_id for index in indexes)

    def __len__(self) -> int:
        return self.size

    def __contains__(self, task_id: object) -> bool:
        try:
            number = parse_task_id(str(task_id))
        except UsageError:
            return False
        return number == TaskNumber(self.seed, number.index) and number.index < self.size


@dataclass(frozen=True)
class GeneratedTasks(Mapping[str, Task]):
    """Tasks by id.

    Attributes:
        ids: which.
        masked: whether their critical tools are taken away.
    """

    ids: TaskIds
    masked: bool = False

    def __getitem__(self, task_id: str) -> Task:
        if task_id not in self.ids:
            raise KeyError(task_id)
        task = _generated(parse_task_id(task_id))
        return task.masked(task.metadata["blueprint"].critical) if self.masked else task

    def __contains__(self, task_id: object) -> bool:
        return task_id in self.ids

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __len__(self) -> int:
        return len(self.ids)


def training_table(seed: int, size: int) -> TaskTable:
    """The first training tasks of a seed."""
    ids = TaskIds(seed, size)
    clean, masked = GeneratedTasks(ids), GeneratedTasks(ids, masked=True)
    return TaskTable(ids, clean, masked, f"workflows-{VERSION}-{seed}-{size}")


@lru_cache(maxsize=512)
def _generated(number: TaskNumber) -> Task:
    return generate(number)
