"""Task ids: ``SUBTOPIC-WORKFLOW-SEED-ROUND``, with ``~K`` behind it for variant K.

The number of a task, its *index*, enumerates subtopics and workflows first and rounds last, so that any run
of 252 indexes holds each workflow of each subtopic once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from envs_registry.workflows.blueprint import Workflow
from envs_registry.workflows.reading import subtopic_names
from toolenv.errors import UnknownNameError, UsageError

WORKFLOWS: tuple[Workflow, ...] = ("sequential", "parallel", "mixture")

_ID = re.compile(r"([a-z_]+)-(sequential|parallel|mixture)-(\d{1,18})-(\d{1,18})(?:~(\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class TaskNumber:
    """What a task is a function of.

    Attributes:
        seed: tasks of different seeds share nothing.
        index: which task of the seed.
        variant: which values; 0 is the task itself.
    """

    seed: int
    index: int
    variant: int = 0

    @property
    def subtopic(self) -> str:
        """The declared world."""
        return _subtopics()[self.index // len(WORKFLOWS) % len(_subtopics())]

    @property
    def workflow(self) -> Workflow:
        """How the calls depend on each other."""
        return WORKFLOWS[self.index % len(WORKFLOWS)]

    @property
    def task_id(self) -> str:
        """The id."""
        plain = f"{self.subtopic}-{self.workflow}-{self.seed}-{self.index // cells()}"
        return f"{plain}~{self.variant}" if self.variant else plain

    def with_variant(self, variant: int) -> TaskNumber:
        """The same task with other values."""
        return replace(self, variant=variant)


def cells() -> int:
    """How many pairs of subtopic and workflow there are: 252."""
    return len(_subtopics()) * len(WORKFLOWS)


def parse_task_id(task_id: str) -> TaskNumber:
    """The seed, index and variant of an id.

    Raises:
        UsageError: it is no id of this suite; the message says what is.
    """
    found = _ID.fullmatch(task_id)
    if found is None:
        raise UsageError(
            f"{task_id!r} is no task id: expected SUBTOPIC-WORKFLOW-SEED-ROUND, with ~K for a variant"
        )
    subtopic, workflow, seed, rounds, variant = found.groups()
    if subtopic not in _places():
        raise UnknownNameError("subtopic", subtopic, _subtopics(), f"task id {task_id!r}")
    cell = _places()[subtopic] * len(WORKFLOWS) + WORKFLOWS.index(workflow)
    return TaskNumber(int(seed), int(rounds) * cells() + cell, int(variant or 0))


@cache
def _subtopics() -> tuple[str, ...]:
    return tuple(subtopic_names())


@cache
def _places() -> Mapping[str, int]:
    return {name: at for at, name in enumerate(_subtopics())}
