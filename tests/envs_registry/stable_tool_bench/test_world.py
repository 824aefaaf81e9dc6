"""The virtual server in the environment: every relevant API answers, within upstream's limit."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from envs_registry.stable_tool_bench import SUITE
from envs_registry.stable_tool_bench.sources import Sources
from envs_registry.stable_tool_bench.world import VirtualServer
from tests.envs_registry.stable_tool_bench.cases import make_api, make_env, make_task
from toolenv.agents.registry import make_agent
from toolenv.env import ToolEnv
from toolenv.kernel import Slot
from toolenv.rollout import rollout
from toolenv.source import make_source
from toolenv.task import Task
from toolenv.types import ToolCall, ToolCalls


def test_every_relevant_api_of_every_task_answers_the_oracle(
    tasks: Mapping[str, Task], queries: Mapping[str, list[dict[str, Any]]]
) -> None:
    source = make_source(SUITE, "clean")
    assert source.task_ids == tuple(tasks)
    env, oracle, sources = ToolEnv(source), make_agent("oracle"), Counter[str]()
    for task_id, task in tasks.items():
        played = rollout(env, oracle, seed=0, task_id=task_id)
        calls = played.trace.calls()
        assert {call.name for call, _ in calls} == {api.spec.name for api in task.reference.relevant}
        assert all(result.kind == "ok" for _, result in calls)
        assert all(0 < len(result.content) <= 1024 for _, result in calls)
        assert played.episode.success
        sources.update(result.record["source"] for _, result in calls)
    shown = Counter(
        "template" if entry.get("template_response") else "generic"
        for query in (query for group in queries.values() for query in group)
        for entry in query["api_list"]
        if [entry["tool_name"], entry["api_name"]] in query["relevant APIs"]
    )
    assert sources == shown
    assert shown.total() == 1795


def test_every_offered_tool_answers_its_example_call(tasks: Mapping[str, Task]) -> None:
    source = make_source(SUITE, "clean")
    for task in tasks.values():
        kernel = source.kernel(task)
        world = kernel.start(0)
        for api in task.metadata["apis"].values():
            result = kernel.call(world, ToolCall(api.spec.name, dict(api.required)), Slot(0))
            assert result.kind == "ok"
            assert json.loads(result.text).keys() == {"error", "response"}
        assert world.view() == {"answered": sorted(task.metadata["apis"])}


def test_long_results_are_cut_for_the_agent_and_kept_for_the_trace() -> None:
    api = make_api(template_response={f"text_{number}": "str" for number in range(100)})
    env = make_env(make_task([api]))
    env.reset(seed=0)
    env.step(ToolCalls((ToolCall(api.spec.name, {"city": "Oslo"}),)))
    ((_, result),) = env.trace.calls()
    assert len(result.content) == 1024
    assert len(json.loads(result.text)["response"]) == 100


def test_the_state_is_which_tools_have_answered() -> None:
    now, later = make_api(), make_api(api_name="later")
    apis = {api.spec.name: api for api in (now, later)}
    one = VirtualServer(apis, 0, Sources())
    two = one.fork()
    assert one.digest() == two.digest()
    one.call(now.spec.name, {"city": "Oslo"})
    assert one.view() == {"answered": [now.spec.name]}
    assert two.view() == {"answered": []}
    assert one.digest() != two.digest()
    one.call(later.spec.name, {"city": "Oslo"})
    two.call(later.spec.name, {"city": "Rome"})
    two.call(now.spec.name, {"city": "Rome"})
    assert one.digest() == two.digest()


def test_the_seed_decides_what_is_made_up_and_a_fork_makes_up_the_same() -> None:
    api = make_api()
    apis = {api.spec.name: api}
    one, other = VirtualServer(apis, 1, Sources()), VirtualServer(apis, 2, Sources())
    answers = [world.call(api.spec.name, {"city": "Oslo"}).value for world in (one, one.fork(), one, other)]
    assert answers[0] == answers[1] == answers[2] != answers[3]
