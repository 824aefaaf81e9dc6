"""Records the return, and pays other rewards than the default."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from toolenv.judge import RewardTable
from toolenv.types import Action, Observation, ToolCalls


class RecordReward(gymnasium.Wrapper[Observation, Action, Observation, Action], RecordConstructorArgs):
    """``info["episode"]`` on the last step gets ``r`` (return), ``l`` (decisions) and ``calls``."""

    def __init__(self, env: gymnasium.Env[Observation, Action]) -> None:
        RecordConstructorArgs.__init__(self)
        gymnasium.Wrapper.__init__(self, env)
        self._return, self._decisions, self._calls = 0.0, 0, 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode and its sums."""
        self._return, self._decisions, self._calls = 0.0, 0, 0
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Action) -> tuple[Observation, Any, bool, bool, dict[str, Any]]:
        """Step, and add the sums when the episode is over."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._return += float(reward)
        self._decisions += 1
        self._calls += len(action.calls) if isinstance(action, ToolCalls) else 0
        if terminated or truncated:
            info.setdefault("episode", {}).update(r=self._return, l=self._decisions, calls=self._calls)
        return observation, reward, terminated, truncated, info


class RewardOutcomes(gymnasium.Wrapper[Observation, Action, Observation, Action], RecordConstructorArgs):
    """Pays each outcome by a :class:`toolenv.judge.RewardTable` of one's own.

    Put it on the outside: ``RewardOutcomes(gym.make(…), false_stop=-1.0)``. ``info["verdict"]["reward"]``
    and ``info["episode"]["r"]`` follow. Invalid episodes keep their NaN.
    """

    def __init__(self, env: gymnasium.Env[Observation, Action], **rewards: float) -> None:
        RecordConstructorArgs.__init__(self, _disable_deepcopy=False, **rewards)
        gymnasium.Wrapper.__init__(self, env)
        self.rewards = RewardTable(**{**asdict(RewardTable()), **rewards})

    def step(self, action: Action) -> tuple[Observation, Any, bool, bool, dict[str, Any]]:
        """Step; the last reward is the table's."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        verdict = info.get("verdict")
        if verdict is not None and verdict["valid"]:
            reward = self.rewards.reward(verdict["label"], verdict["decision"], verdict["success"])
            verdict["reward"] = reward
            if "episode" in info:
                info["episode"]["r"] = reward
        return observation, reward, terminated, truncated, info
