"""What planner and executor are told: the two-round protocol of §5 and Appendix C, in our own words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from toolenv.types import ChatMessage, Observation, ToolSpec

from .prompts import SelfContained

PLANNER_PROMPT_VERSION = 1
"""Raised whenever a text below changes: scores under different versions do not compare."""

DECOMPOSE_PROMPT = """\
You are the planner in a team of two. You call no tools yourself: an executor does, and it has these tools \
and no others:

{tools}

Look at the user's latest request above. Break it down into the steps it takes, and name for every step the \
capability that it requires, that is, what a tool must be able to do for it. Do not look for tools yet, and \
do not carry anything out. Answer with a numbered list: on each line a step, then its capability in brackets.\
"""
"""Round 1: decompose the task and name the required capabilities. ``{tools}`` is :func:`describe_tools`."""

CHECK_PROMPT = """\
Now hold the capabilities you named against the executor's tools, one after another. A capability is there \
only if a tool is meant for it: neither general knowledge nor a tool meant for something else takes the \
place of a missing one.

If a required capability is missing, reply with this line alone, and nothing else:
STOP: <the missing capability, in a few words>

Otherwise reply with the plan for the executor: numbered steps, each with the tool to call and where its \
arguments come from, and at the end what the user must be told."""
"""Round 2: check them against the offered tools; ``STOP: …`` alone, or a plan."""

PLAN_PROMPT = """\
A planner has looked at this request and at your tools before you, and gives you this plan:

{plan}

Follow it as far as it proves right; the decisions are yours. If a tool that the request requires is missing \
after all, stop."""
"""What the executor is told, right behind the request; ``{plan}`` is the planner's second reply."""

NO_ANSWER = "(no answer)"


def first_round(observation: Observation) -> SelfContained:
    """The conversation so far as plain words, and the request to decompose; no tool can be called."""
    prompt = DECOMPOSE_PROMPT.format(tools=describe_tools(observation.tools))
    messages = (*map(_in_words, observation.messages), ChatMessage("user", prompt))
    return SelfContained(messages, (), observation.turns_left)


def second_round(first: SelfContained, answer: str) -> SelfContained:
    """The first round with its answer, and the request to check."""
    added = (ChatMessage("assistant", answer or NO_ANSWER), ChatMessage("user", CHECK_PROMPT))
    return SelfContained((*first.messages, *added), (), first.turns_left)


def plan_message(plan: str) -> ChatMessage:
    """A plan as the executor reads it."""
    return ChatMessage("user", PLAN_PROMPT.format(plan=plan))


def describe_tools(tools: Sequence[ToolSpec]) -> str:
    """One line a tool, under the names by which the executor calls them: ``- pay(amount: integer): …``."""
    return "\n".join(map(_describe, tools)) or "(none)"


def _describe(tool: ToolSpec) -> str:
    properties, required = tool.parameters.get("properties"), tool.parameters.get("required")
    declared: Mapping[str, Any] = properties if isinstance(properties, Mapping) else {}
    needed = required if isinstance(required, list | tuple) else ()
    shown = (f"{name}{'' if name in needed else '?'}: {_type(schema)}" for name, schema in declared.items())
    description = " ".join(tool.description.split())
    return f"- {tool.wire_name or tool.name}({', '.join(shown)})" + (
        f": {description}" if description else ""
    )


def _type(schema: object) -> str:
    named = schema.get("type") if isinstance(schema, Mapping) else None
    names = named if isinstance(named, list | tuple) else [named or "any"]
    return "|".join(map(str, names))


def _in_words(message: ChatMessage) -> ChatMessage:
    """A message without calls: a request without tools must not hold any (servers refuse it)."""
    if message.role == "tool":
        return ChatMessage("user", f"Result: {message.content}")
    calls = (
        f"Called {call.name} with {json.dumps(call.arguments, ensure_ascii=False, default=str)}"
        for call in message.calls
    )
    return ChatMessage(message.role, "\n".join([message.content] * bool(message.content) + [*calls]))
