"""What a model is told before a task: the feasibility-first protocol of Appendix F, in our own words."""

from __future__ import annotations

from dataclasses import dataclass

from toolenv.types import Observation

PROMPT_VERSION = 1
"""Raised whenever a text below changes: scores under different versions do not compare."""

FEASIBILITY_PROMPT = """\
You are an assistant that gets the user's task done by calling the tools you are offered. Reason step by step.

Feasibility comes first: before you act, decide whether the offered tools are enough for the task.

- They are enough: go ahead and call the tools you need.
- They are not enough, because a tool that the task requires is missing or unavailable: reply with this \
line alone, and nothing else:
STOP: <the missing capability, in a few words>

Never put your own knowledge in the place of a missing tool.
Never try to get around a missing tool with tools that are meant for something else.
Once everything the task asks for is done, sum up the outcome in a final message without any tool call."""
"""Assess first; ``STOP: …`` alone if a tool is missing; no substitution; no workaround; a final summary."""

NO_TOOLS_NOTE = "No tools are offered: the list of available tools is empty."
"""Said in words because a request without tools carries no list that could be empty (FIELD-017)."""


def system_prompt(*, tools_offered: bool, protocol: str = FEASIBILITY_PROMPT) -> str:
    """The policy's own part of the system message.

    Args:
        tools_offered: whether any tool is offered at this moment.
        protocol: what to say instead of Appendix F; ``""`` says nothing.
    """
    parts = (protocol, "" if tools_offered else NO_TOOLS_NOTE)
    return "\n\n".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class SelfContained(Observation):
    """An observation whose messages say all there is to say: what a planner sees in its rounds.

    A model's policy puts no prompt of its own before it, and no word on tools that are not offered.
    """


def prompt_for(observation: Observation, protocol: str | None = None) -> str:
    """The policy's own part of the system message to an observation.

    Args:
        observation: what is asked.
        protocol: what to say instead of Appendix F; ``None`` says that.
    """
    if isinstance(observation, SelfContained):
        return ""
    chosen = FEASIBILITY_PROMPT if protocol is None else protocol
    return system_prompt(tools_offered=bool(observation.tools), protocol=chosen)
