"""The suites on real data, where it is there."""

from __future__ import annotations

import pytest

import envs_registry
from toolenv.agents.oracle import Oracle
from toolenv.env import ToolEnv
from toolenv.errors import DataMissingError
from toolenv.rollout import rollout
from toolenv.source import TaskSource, make_source
from toolenv.trace import Trace
from toolenv.types import ToolSpec


def real_source(name: str, subset: str | None = None) -> TaskSource:
    """A suite's clean tasks; skips the test if its data is not there."""
    try:
        return make_source(envs_registry.get_suite(name), "clean", subset=subset)
    except DataMissingError as error:
        pytest.skip(str(error))


def all_tools(source: TaskSource) -> dict[str, ToolSpec]:
    """Every tool of a source's tasks by name."""
    return {tool.name: tool for task_id in source.task_ids for tool in source.get(task_id).tools}


def oracle_trace(source: TaskSource, task_id: str) -> Trace:
    """The reference solution, played."""
    played = rollout(ToolEnv(source), Oracle(), seed=0, task_id=task_id)
    assert played.episode.success is True
    return played.trace
