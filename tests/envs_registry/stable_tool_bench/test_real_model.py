"""The real small model on five queries, and as judge and simulator. Its skill is not asserted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from envs_registry.stable_tool_bench import SUITE
from envs_registry.stable_tool_bench.model_server import ModelServer
from envs_registry.stable_tool_bench.simulator import Simulator
from envs_registry.stable_tool_bench.sopr import WORTH, SoprJudge, judge_all
from tests.envs_registry.stable_tool_bench.cases import make_api
from tests.support.real_model import RealServer
from toolenv.agents.chat import ChatPolicy
from toolenv.agents.registry import make_agent
from toolenv.agents.settings import ChatSettings
from toolenv.env import ToolEnv
from toolenv.rollout import rollout
from toolenv.source import make_source
from toolenv.task import Task

pytestmark = pytest.mark.real_model


@pytest.fixture
def server(real_server: RealServer) -> Iterator[ModelServer]:
    server = ModelServer(real_server.model, real_server.base_url, max_tokens=400)
    yield server
    server.close()


def test_five_queries_end_as_valid_episodes(tasks: Mapping[str, Task], real_server: RealServer) -> None:
    settings = ChatSettings(model=real_server.model, base_url=real_server.base_url, max_tokens=32)
    policy = ChatPolicy(settings)
    env = ToolEnv(make_source(SUITE, "clean", max_turns=1))
    for task_id in list(tasks)[:5]:
        played = rollout(env, policy, seed=0, task_id=task_id)
        assert played.episode.valid, played.episode.error
        assert played.trace.usage.known
    policy.close()


def test_the_judge_s_schema_is_kept_by_a_real_server(tasks: Mapping[str, Task], server: ModelServer) -> None:
    env = ToolEnv(make_source(SUITE, "clean"))
    played = rollout(env, make_agent("oracle"), seed=0, task_id="588")
    query = tasks["588"].messages[0].content
    (judged,) = judge_all([played], lambda _: query, SoprJudge(server, repeats=1))
    assert not judged.error
    assert {one.status for one in judged.opinions} <= WORTH.keys()
    assert judged.score is not None


def test_a_simulated_answer_has_upstream_s_form(server: ModelServer) -> None:
    api = replace(make_api(), template={})
    answer = Simulator(server).answer(api, {"city": "Oslo"})
    assert answer.keys() == {"error", "response"}
