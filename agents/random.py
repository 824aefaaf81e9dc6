"""Calls random tools with random arguments that fit their schemas, and stops or closes at random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy

from toolenv.errors import UsageError
from toolenv.sampling import sample_action
from toolenv.seeding import mix
from toolenv.types import NO_TOKENS, Action, Observation


class Random:
    """A random agent.

    Its choices are a function of its own seed, the episode's, and the conversation, so they are the same in
    any order and thread, and differ between trials.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.name = f"random:{seed}" if seed else "random"

    def start(self, seed: int) -> int:
        """The episode's seed is all there is to remember."""
        return seed

    def act(self, observation: Observation, memory: int | None) -> tuple[Action, int | None]:
        """One of: a stop, a message, or calls of tools offered."""
        said = (f"{message.role}: {message.content}" for message in observation.messages)
        tools = (tool.name for tool in observation.tools)
        key = mix(self.seed, memory or 0, *said, *tools)
        action = sample_action(numpy.random.default_rng(key), observation.tools)
        return replace(action, usage=NO_TOKENS), memory


def make(argument: str, options: Mapping[str, Any]) -> Random:
    """``random``, or ``random:SEED``."""
    given = argument or options.get("seed") or 0
    try:
        return Random(int(str(given)))
    except ValueError as error:
        raise UsageError(f"random:{given}: the seed is a whole number") from error
