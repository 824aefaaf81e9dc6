"""Small records in upstream's form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from envs_registry.stable_tool_bench.apis import Api, build_apis
from envs_registry.stable_tool_bench.proxy import ProxyReference
from envs_registry.stable_tool_bench.sources import Sources
from envs_registry.stable_tool_bench.suite import StableToolBench
from toolenv.env import ToolEnv
from toolenv.source import TaskSource
from toolenv.task import Task
from toolenv.types import ChatMessage


def document(**changes: Any) -> dict[str, Any]:
    """An API document."""
    plain = {
        "category_name": "Weather",
        "tool_name": "Weather Now",
        "api_name": "now",
        "api_description": "The weather of a city",
        "required_parameters": [parameter("city", default="Oslo", description="The city")],
        "optional_parameters": [parameter("days", "NUMBER", "3")],
        "method": "GET",
        "template_response": {"city": "str", "temp": "float", "days": [{"min": "int", "_list_length": 2}]},
    }
    return {**plain, **changes}


def parameter(name: str, kind: str = "STRING", default: Any = "", description: str = "") -> dict[str, Any]:
    return {"name": name, "type": kind, "description": description, "default": default}


def make_api(**changes: Any) -> Api:
    (api,) = build_apis([document(**changes)]).values()
    return api


def make_task(apis: Sequence[Api], query: str = "How is the weather in Oslo?", relevant: int = 1) -> Task:
    """A query over some APIs, the first ``relevant`` of which it was written for."""
    return Task(
        id="1",
        messages=(ChatMessage("user", query),),
        tools=tuple(api.spec for api in apis),
        reference=ProxyReference(apis[:relevant]),
        metadata={"apis": {api.spec.name: api for api in apis}},
    )


def make_env(task: Task, sources: Sources | None = None, masks: Mapping[str, Task] | None = None) -> ToolEnv:
    """The environment of one task; without ``sources`` nothing but templates answers."""
    suite = StableToolBench(Sources() if sources is None else sources)
    return ToolEnv(TaskSource(suite, "clean", {task.id: task}, masks or {}, 0.0, suite.max_turns))
