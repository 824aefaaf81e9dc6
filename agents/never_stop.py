"""Tries every task and never stops: FCR 1, false-stop rate 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy

from toolenv.errors import UsageError
from toolenv.sampling import sample_value
from toolenv.seeding import mix
from toolenv.types import NO_TOKENS, Action, Message, Observation, ToolCall, ToolCalls


class NeverStop:
    """Calls the first tool offered once per user turn, then reports the work as done."""

    name = "never-stop"

    def act(self, observation: Observation, memory: Any) -> tuple[Action, Any]:
        """A call where the last word was the user's, else a closing message."""
        if not observation.tools or observation.messages[-1].role == "tool":
            return Message("Done.", usage=NO_TOKENS), memory
        tool = observation.tools[0]
        rng = numpy.random.default_rng(mix(tool.name))
        call = ToolCall(tool.name, sample_value(tool.parameters, rng))
        return replace(ToolCalls((call,)), usage=NO_TOKENS), memory


def make(argument: str, options: Mapping[str, Any]) -> NeverStop:
    """``never-stop`` takes no argument."""
    if argument:
        raise UsageError(f"never-stop:{argument}: this agent takes no argument")
    return NeverStop()
