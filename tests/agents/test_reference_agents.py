"""The agents that ask no model, and the specs that name agents."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.toy import Toy, toy_source
from toolenv import Message, Stop, ToolCall, ToolCalls, ToolEnv, rollout
from toolenv.agents.random import Random
from toolenv.agents.registry import agent_names, make_agent
from toolenv.agents.scripted import Scripted
from toolenv.episode import Episode
from toolenv.errors import UnknownNameError, UsageError
from toolenv.feasibility.reference_masks import reference_masks


def play(spec: str, condition: str) -> list[Episode]:
    env = ToolEnv(toy_source(condition))
    return [
        rollout(env, make_agent(spec), seed=0, task_id=task_id).episode for task_id in env.source.task_ids
    ]


def test_oracle() -> None:
    assert [episode.success for episode in play("oracle", "clean")] == [True] * 4
    assert [episode.decision for episode in play("oracle", "infeasible")] == ["infeasible"] * 3


def test_always_stop_and_never_stop() -> None:
    assert {episode.decision for episode in play("always-stop", "clean")} == {"infeasible"}
    assert {episode.success for episode in play("always-stop", "clean")} == {False}
    assert {episode.decision for episode in play("never-stop", "infeasible")} == {"feasible"}


def test_noop_shows_what_passes_without_work() -> None:
    assert {episode.task_id: episode.success for episode in play("noop", "clean")} == {
        "pay-7": False,
        "pay-30": False,
        "two-turns": False,
        "idle": True,
    }
    assert all((episode.calls, episode.decided_by) == (0, "message") for episode in play("noop", "clean"))


def test_random_depends_on_its_seed_and_the_conversation_alone() -> None:
    env = ToolEnv(toy_source())
    first = [rollout(env, Random(1), seed=0, task_id=task_id) for task_id in env.source.task_ids]
    backwards = [
        rollout(env, Random(1), seed=0, task_id=task_id) for task_id in reversed(env.source.task_ids)
    ]
    assert first == backwards[::-1]
    other = [rollout(env, Random(2), seed=0, task_id=task_id) for task_id in env.source.task_ids]
    assert first != other


def test_scripted_plays_its_list_in_every_episode_and_then_closes() -> None:
    script = Scripted([ToolCalls((ToolCall("pay", {"account": "A1", "amount": 7}),))])
    env = ToolEnv(toy_source())
    for _ in range(2):
        played = rollout(env, script, seed=0, task_id="pay-7")
        assert played.episode.success is True
        assert [type(step.action) for step in played.trace.steps] == [ToolCalls, Message]
    assert rollout(env, Scripted([Stop("no")], "quitter"), seed=0, task_id="pay-7").episode.agent == "quitter"


def test_reference_agents_cost_no_tokens() -> None:
    for spec in ("oracle", "always-stop", "never-stop", "noop", "random"):
        assert {episode.tokens for episode in play(spec, "clean")} == {0}


def test_the_specs_there_are() -> None:
    assert {"oracle", "always-stop", "never-stop", "noop", "random", "chat"} <= set(agent_names())
    assert [make_agent(spec).name for spec in ("random", "random:7")] == ["random", "random:7"]


def test_agents_of_one_s_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_agents.py").write_text(
        "from toolenv import Message, Stop\n"
        "def careful(observation):\n    return Stop('careful')\n"
        "class Polite:\n    name = 'polite'\n    def act(self, observation, memory):\n"
        "        return Message('please'), memory\n"
        "class Demanding(Polite):\n    def __init__(self, price):\n        pass\n"
        "number = 7\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        assert make_agent("own_agents:careful").name == "careful"
        assert make_agent("own_agents:Polite").name == "polite"
        with pytest.raises(UnknownNameError, match=r"attribute 'carefull'.*did you mean 'careful'"):
            make_agent("own_agents:carefull")
        with pytest.raises(UsageError, match=r"Demanding.*without arguments"):
            make_agent("own_agents:Demanding")
        with pytest.raises(UsageError, match=r"7 is no policy"):
            make_agent("own_agents:number")
    finally:
        sys.modules.pop("own_agents", None)


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("orakle", "unknown agent 'orakle'; did you mean 'oracle'"),
        ("no_such_module:agent", "unknown agent or module 'no_such_module'"),
        ("oracle:7", "takes no argument"),
        ("random:seven", "whole number"),
    ],
)
def test_bad_specs_are_named(spec: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        make_agent(spec)


def test_reference_masks_come_from_solutions_that_are_judged_successful() -> None:
    manifest = reference_masks(Toy(), "default", make_agent("oracle"), "none", "test")
    assert manifest.masks == {"pay-7": ("pay",), "pay-30": ("pay",), "two-turns": ("pay",)}
    assert manifest.excluded == {"idle": "no tool is used by the successful trace"}
    assert manifest.flags == {"idle": ("do_nothing_passes",)}
