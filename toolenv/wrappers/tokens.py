"""Counts the tokens of an episode."""

from __future__ import annotations

from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from toolenv.types import NO_TOKENS, Action, Observation, Usage


class RecordTokens(gymnasium.Wrapper[Observation, Action, Observation, Action], RecordConstructorArgs):
    """``info["episode"]`` on the last step gets ``input_tokens``, ``output_tokens`` and ``known_usage``.

    Counts are ``None``, and ``known_usage`` false, where any decision's usage is unknown.
    """

    def __init__(self, env: gymnasium.Env[Observation, Action]) -> None:
        RecordConstructorArgs.__init__(self)
        gymnasium.Wrapper.__init__(self, env)
        self._usages: list[Usage | None] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode and its count."""
        self._usages = []
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Action) -> tuple[Observation, Any, bool, bool, dict[str, Any]]:
        """Step, and add the counts when the episode is over."""
        self._usages.append(getattr(action, "usage", None))
        observation, reward, terminated, truncated, info = self.env.step(action)
        if terminated or truncated:
            total = sum((usage or Usage() for usage in self._usages), NO_TOKENS)
            info.setdefault("episode", {}).update(
                input_tokens=total.input_tokens, output_tokens=total.output_tokens, known_usage=total.known
            )
        return observation, reward, terminated, truncated, info
