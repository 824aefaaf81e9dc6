"""A ``TimeLimit`` on the inside makes an ordinary truncated episode."""

from __future__ import annotations

from typing import Any

import gymnasium
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.wrappers import TimeLimit

from tests.support.toy import toy_source
from toolenv import Message, Stop, ToolCall, ToolCalls, ToolEnv, Trace, rollout
from toolenv.wrappers import RecordReward, RecordTokens, RecordTrace, RewardOutcomes

LOOK = ToolCalls((ToolCall("accounts.balance", {"account": "A1"}),))
CLEAN = "ToolFeas/Workflows-clean-v0"


@pytest.mark.parametrize("condition", ["clean", "infeasible"])
def test_gymnasium_s_own_limit_truncates(condition: str) -> None:
    env = gymnasium.make(f"ToolFeas/Workflows-{condition}-v0", max_episode_steps=2)
    env.reset(seed=0)
    nothing = ToolCalls((ToolCall("nothing"),))
    assert env.step(nothing)[1:] == (0.0, False, False, {})
    _, reward, terminated, truncated, info = env.step(nothing)
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert (info["episode"]["l"], info["episode"]["r"], info["is_success"]) == (2, 0.0, 0.0)
    assert (info["trace"].ending, len(info["trace"].steps)) == ("truncated", 2)
    assert info["task_id"] == info["trace"].task_id
    verdict = info["verdict"]
    assert (verdict["decided_by"], verdict["valid"], verdict["success"]) == ("truncated", True, False)
    with pytest.raises(ResetNeeded):
        env.step(nothing)
    env.reset(seed=0)
    assert env.step(Stop("none"))[2:4] == (True, False)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_in_vectors(mode: str) -> None:
    options = {"shared_memory": False} if mode == "async" else {}
    envs = gymnasium.make_vec(
        CLEAN, num_envs=2, vectorization_mode=mode, vector_kwargs=options, max_episode_steps=1
    )
    try:
        envs.reset(seed=1)
        _, rewards, terminated, truncated, infos = envs.step((LOOK, Stop("none")))
        assert list(rewards) == [0.0, 0.0]
        assert (list(terminated), bool(truncated[0])) == ([False, True], True)
        assert list(infos["verdict"]["decided_by"]) == ["truncated", "stop_signal"]
        assert list(infos["is_success"]) == [0.0, 0.0]
    finally:
        envs.close()


@pytest.mark.parametrize("wrapper", [RecordTrace, RecordTokens, RecordReward])
def test_each_wrapper_by_itself_has_what_it_needs(wrapper: Any) -> None:
    env = wrapper(TimeLimit(ToolEnv(toy_source()), 1))
    env.reset(seed=1, options={"task_id": "pay-7"})
    assert env.step(LOOK)[4]["verdict"]["decided_by"] == "truncated"


def test_own_rewards_are_paid() -> None:
    env = RewardOutcomes(gymnasium.make(CLEAN, max_episode_steps=1), failure=-0.5)
    env.reset(seed=0)
    _, reward, *_, info = env.step(LOOK)
    assert reward == info["episode"]["r"] == info["verdict"]["reward"] == -0.5


def test_an_episode_that_ends_in_its_last_step_keeps_its_own_ending() -> None:
    env = RecordTrace(TimeLimit(ToolEnv(toy_source()), 1))
    env.reset(seed=1, options={"task_id": "pay-7"})
    _, _, terminated, _, info = env.step(Message("Paid."))
    assert terminated
    assert info["trace"].ending == "message"


def test_what_was_cut_short_says_so_and_plays_again() -> None:
    env = RecordTrace(TimeLimit(ToolEnv(toy_source()), 2))
    played = rollout(env, lambda observation: LOOK, seed=1, task_id="pay-7")
    assert (played.episode.valid, played.episode.turns, played.episode.decided_by) == (True, 2, "truncated")
    assert played.trace.error == "ended from outside, after 2 decisions"
    again = ToolEnv(toy_source())
    again.reset(options={"trace": Trace.from_json(played.trace.to_json())})
    assert again.trace == played.trace
