"""Counts the tokens of an episode."""

from __future__ import annotations

from typing import Any, cast

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from toolenv.env import ToolEnv
from toolenv.types import Action, Observation
from toolenv.wrappers.ended import complete


class TokenCount(int):
    """A count that vector environments keep as an object.

    They make an integer array of a plain ``int``, which then cannot hold the ``None`` of the next episode.
    """


def _count(tokens: int | None) -> TokenCount | None:
    return None if tokens is None else TokenCount(tokens)


class RecordTokens(gymnasium.Wrapper[Observation, Action, Observation, Action], RecordConstructorArgs):
    """``info["episode"]`` on the last step gets ``input_tokens``, ``output_tokens`` and ``known_usage``.

    Counts are ``None``, and ``known_usage`` false, where any decision's usage is unknown.
    """

    def __init__(self, env: gymnasium.Env[Observation, Action]) -> None:
        RecordConstructorArgs.__init__(self)
        gymnasium.Wrapper.__init__(self, env)
        self._tool_env = cast(ToolEnv, env.unwrapped)

    def step(self, action: Action) -> tuple[Observation, Any, bool, bool, dict[str, Any]]:
        """Step, and add the counts when the episode is over."""
        result = self.env.step(action)
        if result[2] or result[3]:
            complete(result[4], self._tool_env)
            usage = self._tool_env.trace.usage
            result[4].setdefault("episode", {}).update(
                input_tokens=_count(usage.input_tokens),
                output_tokens=_count(usage.output_tokens),
                known_usage=usage.known,
            )
        return result
