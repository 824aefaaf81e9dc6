"""What policies and tools of one's own get wrong beside their decisions."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import Future
from typing import Any

import numpy
import pytest

from tests.support.toy import toy_source
from tests.toolenv.runner.toy_runs import ten_episodes, toy_ids
from toolenv import Observation, Stop, ToolEnv, ToolSpec, rollout
from toolenv.errors import SchemaError, UsageError
from toolenv.policy import preflight_ledger
from toolenv.rollout import play
from toolenv.runner.local import run_jobs
from toolenv.runner.plan import plan
from toolenv.sampling import sample_value
from toolenv.spaces import ActionSpace


class Act:
    name = "mine"

    def act(self, observation: Observation, memory: Any) -> Any:
        raise GeneratorExit


class Start(Act):
    def start(self, seed: int) -> Any:
        raise GeneratorExit


class Batch(Act):
    def act_batch(self, observations: Sequence[Observation], memories: Sequence[Any]) -> Any:
        raise GeneratorExit


class Submit(Act):
    def submit(self, observation: Observation, memory: Any) -> Any:
        raise GeneratorExit


class Later(Act):
    def submit(self, observation: Observation, memory: Any) -> Any:
        future: Future[Any] = Future()
        future.set_exception(GeneratorExit())
        return future


class Deciding(Act):
    def deciding(self, observation: Observation, memory: Any) -> Generator[Any, Any, Any]:
        raise GeneratorExit
        yield


@pytest.mark.parametrize("kind", [Act, Start, Batch, Submit, Later, Deciding])
@pytest.mark.parametrize("concurrency", [1, 3])
def test_generator_exit_in_a_policy_makes_its_episode_invalid(kind: type[Act], concurrency: int) -> None:
    with toy_ids():
        jobs, _ = plan(ten_episodes())
        played = list(run_jobs(jobs, kind(), {}, concurrency))
    assert len(played) == len(jobs)
    assert {one.episode.decided_by for one in played} == {"agent_error"}
    assert all("the policy raised GeneratorExit" in one.episode.error for one in played)


def test_an_episode_that_nobody_wants_any_more_is_not_judged() -> None:
    env = ToolEnv(toy_source())
    played = play(env, Act(), seed=0, task_id="pay-7")
    next(played)
    played.close()
    assert env.trace.ending == "running"


@pytest.mark.parametrize("said", [None, 5, [("agent", None)]])
def test_a_preflight_by_role_that_is_no_mapping(said: Any) -> None:
    class Proxy(Act):
        def preflight_by_role(self) -> Any:
            return said

    with pytest.raises(
        UsageError, match=r"preflight of 'mine': preflight_by_role returned .*expected a mapping"
    ):
        preflight_ledger(Proxy())


@pytest.mark.parametrize("parameters", [None, True, "x", []])
def test_parameters_that_are_no_schema_name_the_tool(parameters: Any) -> None:
    with pytest.raises(SchemaError, match=r"tool 'find': parameters is .*, expected a JSON Schema object"):
        ToolSpec("find", "Finds.", parameters)


def test_schemas_that_are_true_or_false_can_be_sampled() -> None:
    schema = {
        "type": "object",
        "properties": {"title": False, "any": True, "none": {"type": "array", "items": False}},
        "required": ["any", "none"],
    }
    rng = numpy.random.default_rng(0)
    for _ in range(30):
        value = sample_value(schema, rng)
        assert "title" not in value
        assert isinstance(value["any"], str)
        assert value["none"] == []
    space = ActionSpace(seed=0)
    assert all(space.contains(space.sample(mask=[ToolSpec("find", "", schema)])) for _ in range(30))


def test_a_stop_is_still_one() -> None:
    assert rollout(ToolEnv(toy_source()), lambda _: Stop("x"), seed=0).episode.valid
