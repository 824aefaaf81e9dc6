"""Puts the trace into the last ``info`` of an episode."""

from __future__ import annotations

from typing import Any, cast

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from toolenv.env import ToolEnv
from toolenv.types import Action, Observation
from toolenv.wrappers.ended import complete


class RecordTrace(gymnasium.Wrapper[Observation, Action, Observation, Action], RecordConstructorArgs):
    """``info["trace"]`` on the last step is the episode's :class:`toolenv.trace.Trace`."""

    def __init__(self, env: gymnasium.Env[Observation, Action]) -> None:
        RecordConstructorArgs.__init__(self)
        gymnasium.Wrapper.__init__(self, env)
        self._tool_env = cast(ToolEnv, env.unwrapped)

    def step(self, action: Action) -> tuple[Observation, Any, bool, bool, dict[str, Any]]:
        """Step, and add the trace when the episode is over."""
        result = self.env.step(action)
        if result[2] or result[3]:
            complete(result[4], self._tool_env)
            result[4]["trace"] = self._tool_env.trace
        return result
