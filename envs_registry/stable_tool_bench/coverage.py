"""How much of each query the virtual server can answer from recordings or templates (FIELD-066)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from envs_registry.stable_tool_bench.apis import Api
from envs_registry.stable_tool_bench.cache import ResponseCache
from envs_registry.stable_tool_bench.templates import read_shape
from toolenv.errors import UsageError
from toolenv.task import Task

Best: TypeAlias = Literal["cache", "template", "none"]
"""The best source of an API: recorded calls, a template, or neither."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What is known of the APIs of one query.

    Attributes:
        task_id: the query.
        pool: its APIs by their best source.
        recorded_calls: how many calls of them are recorded. A call is answered from there only if its
            arguments are among them.
    """

    task_id: str
    pool: Mapping[Best, int]
    recorded_calls: int

    @property
    def share(self) -> float:
        """The share of the query's APIs with recorded calls or a template."""
        return 1 - self.pool.get("none", 0) / sum(self.pool.values())


def best_source(api: Api, cache: ResponseCache | None) -> Best:
    """What an API is answered from at best."""
    if cache is not None and cache.recorded(api):
        return "cache"
    return "none" if read_shape(api.template) is None else "template"


def coverage(task: Task, cache: ResponseCache | None = None) -> Coverage:
    """The coverage of a task's whole pool, masked tools included."""
    apis = task.metadata["apis"].values()
    recorded = 0 if cache is None else sum(map(cache.recorded, apis))
    return Coverage(task.id, Counter(best_source(api, cache) for api in apis), recorded)


def covered_tasks(tasks: Iterable[Task], least: float, cache: ResponseCache | None = None) -> tuple[str, ...]:
    """The ids of tasks whose share is at least ``least``; what ``tasks=`` of an environment takes.

    Raises:
        UsageError: ``least`` is no share.
    """
    if not 0 <= least <= 1:
        raise UsageError(f"least={least!r}: give a share from 0 to 1")
    return tuple(task.id for task in tasks if coverage(task, cache).share >= least)
