"""Records the return, and pays other rewards than the default."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from toolenv.env import ToolEnv
from toolenv.errors import UnknownNameError
from toolenv.judge import RewardTable
from toolenv.types import Action, Observation
from toolenv.wrappers.ended import complete


class RecordReward(gymnasium.Wrapper[Observation, Action, Observation, Action], RecordConstructorArgs):
    """Sums up an episode in its last ``info``.

    ``info["episode"]`` gets ``r`` (return), ``l`` (decisions) and ``calls``. ``info["is_success"]`` is what
    FASS counts (paper 1, Appendix D): 1.0 where a feasible task was solved or an infeasible one rightly
    stopped, 0.0 otherwise, and NaN where that cannot be said: of an invalid episode, and of a feasible task
    that cannot be assessed. ``info["verdict"]["success"]`` is of solving alone. A vector environment's array
    of booleans holds no ``None``: there ``infos["verdict"]["success"]`` may show one as ``False``.
    """

    def __init__(self, env: gymnasium.Env[Observation, Action]) -> None:
        RecordConstructorArgs.__init__(self)
        gymnasium.Wrapper.__init__(self, env)
        self._tool_env = cast(ToolEnv, env.unwrapped)
        self._return = 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode and its return."""
        self._return = 0.0
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Action) -> tuple[Observation, Any, bool, bool, dict[str, Any]]:
        """Step, and add the sums when the episode is over."""
        result = self.env.step(action)
        self._return += float(result[1])
        if result[2] or result[3]:
            complete(result[4], self._tool_env)
            trace = self._tool_env.trace
            sums = {"r": self._return, "l": len(trace.steps), "calls": len(trace.calls())}
            result[4].setdefault("episode", {}).update(sums)
            result[4]["is_success"] = _is_success(result[4]["verdict"])
        return result


def _is_success(verdict: Mapping[str, Any]) -> float:
    if not verdict["valid"]:
        return math.nan
    if verdict["label"] == "infeasible":
        return float(verdict["decision"] == "infeasible")
    return math.nan if verdict["success"] is None else float(verdict["success"])


class RewardOutcomes(gymnasium.Wrapper[Observation, Action, Observation, Action], RecordConstructorArgs):
    """Pays each outcome by a :class:`toolenv.judge.RewardTable` of one's own.

    Put it on the outside: ``RewardOutcomes(gym.make(…), false_stop=-1.0)``. ``info["verdict"]["reward"]``
    and ``info["episode"]["r"]`` follow. Invalid episodes keep their NaN.

    Raises:
        UnknownNameError: no outcome has such a name; the nearest is named.
        UsageError: a reward is no finite number.
    """

    def __init__(self, env: gymnasium.Env[Observation, Action], **rewards: float) -> None:
        RecordConstructorArgs.__init__(self, _disable_deepcopy=False, **rewards)
        gymnasium.Wrapper.__init__(self, env)
        for name in rewards:
            if name not in RewardTable.__dataclass_fields__:
                raise UnknownNameError("reward", name, RewardTable.__dataclass_fields__, "RewardOutcomes")
        self.rewards = RewardTable(**rewards)

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
