"""Episodes that begin where failed ones ended (paper 2, §4: the arms Hint and TTS)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import gymnasium

from toolenv.env import ToolEnv
from toolenv.task import Task
from toolenv.trace import Trace
from toolenv.types import Action, Observation


class GoOn(gymnasium.Wrapper[Observation, Action, Observation, Action]):
    """Starts each episode by playing a recorded one again, to its end, and telling the agent to go on.

    The world, what the hazard has done so far and the conversation are as they were left; only the message is
    new. A step costs what it costs without the wrapper.

    Args:
        env: the environment the recorded episodes were played in.
        arm: the arm of a study; recorded.
        recorded: the episode to go on with, by task id and seed.
        message: what the agent is told about a task.
        decisions: how many further decisions it has.
    """

    def __init__(
        self,
        env: gymnasium.Env[Observation, Action],
        arm: str,
        recorded: Callable[[str, int], Trace],
        message: Callable[[Task], str],
        decisions: int,
    ) -> None:
        super().__init__(env)
        self._arm, self._recorded, self._message, self._decisions = arm, recorded, message, decisions

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start where the episode of ``options["task_id"]`` and ``seed`` ended.

        Raises:
            ReplayError: it does not repeat.
        """
        env = cast(ToolEnv, self.unwrapped)
        trace = self._recorded((options or {})["task_id"], cast(int, seed))
        _, info = self.env.reset(seed=seed, options={"trace": trace})
        return env.go_on(self._arm, self._message(env.task), self._decisions), info
