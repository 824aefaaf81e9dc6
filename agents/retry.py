"""``retry(SPEC)``: an agent that is asked again, with a reflection, where its output only meets an error."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from toolenv.arguments import check_arguments
from toolenv.errors import UsageError
from toolenv.json_values import UnusableValueError, clean_json
from toolenv.names import lookup_table
from toolenv.policy import Deliberation, Policy, PolicyFunction, as_policy
from toolenv.task import Task
from toolenv.types import Action, ChatMessage, Malformed, Observation, ToolCall, ToolCalls

from .asides import Aside, about_attempt, about_calls, with_asides
from .bill import Bill
from .composed import Composed, beginning
from .specs import whole_number

RETRY_PROMPT_VERSION = 1
"""Raised whenever a text below changes: scores under different versions do not compare."""

REFLECTION = "Before you go on, say to yourself in one sentence what went wrong, and then do it differently."
NOT_MADE = "Error: not run, because another call made with it was wrong."
REPEATED = "this very call has just been answered with an error"


@dataclass(frozen=True, slots=True)
class RetryMemory:
    """The inner policy's memory, and the attempts and reflections it has seen."""

    inner: Any = None
    asides: tuple[Aside, ...] = ()


class Retry(Composed):
    """Asks again where an output could not be read, or holds a call that is certain to be refused.

    Certain are: a tool that is not offered, arguments that cannot be read or that break the tool's schema
    even when converted, and a call just answered with an error, made again unchanged. The attempt is not
    passed on: it and a reflection stay in what the inner policy sees, and its tokens count as retried.

    Args:
        inner: who is asked.
        times: how often it is asked again in one decision; the last answer is taken as it is.
        name: shown in tables.

    Raises:
        UsageError: ``times`` is below 1.
    """

    def __init__(self, inner: Policy | PolicyFunction, *, times: int = 1, name: str = "") -> None:
        if times < 1:
            raise UsageError(f"retry: times={times}; give at least 1")
        self.inner, self.times = as_policy(inner), times
        shown = self.inner.name if times == 1 else f"{times},{self.inner.name}"
        super().__init__(
            name or f"retry({shown})", {"": self.inner}, retry_prompt_version=RETRY_PROMPT_VERSION
        )

    def begin(self, task: Task | None = None, seed: int | None = None) -> RetryMemory:
        """No attempt yet."""
        return RetryMemory(beginning(self.inner, task, seed))

    def deliberate(self, observation: Observation, memory: RetryMemory | None) -> Deliberation:
        """The first answer without a problem, or the last one."""
        memory = self.begin() if memory is None else memory
        inner, asides, bill = memory.inner, memory.asides, Bill()
        problems: list[str] = []
        while True:
            action, inner = yield from bill.ask(self.inner, with_asides(observation, asides), inner)
            aside, problem = reflection(observation, action)
            if aside is None or len(problems) == self.times:
                break
            bill.throw_away()
            asides, problems = (*asides, aside), [*problems, problem]
        notes = {"retried": problems} if problems else {}
        return bill.settle(action, notes), RetryMemory(inner, asides)


def compose(arguments: Sequence[str], inner: Policy) -> Retry:
    """``retry(SPEC)``, or ``retry(TIMES,SPEC)``."""
    return Retry(inner, times=whole_number("retry", "TIMES", arguments, default=1))


def reflection(observation: Observation, action: Action) -> tuple[Aside | None, str]:
    """What the author of an output that would only meet an error is told, and what is wrong with it."""
    if isinstance(action, Malformed):
        said = f"Your last output could not be used: {action.why}. {REFLECTION}"
        return about_attempt(observation, action, said), action.why
    if not isinstance(action, ToolCalls):
        return None, ""
    failed = _just_failed(observation.messages)
    problems = [_problem(call, observation, failed) for call in action.calls]
    if not any(problems):
        return None, ""
    replies = [f"Error: {problem}. {REFLECTION}" if problem else NOT_MADE for problem in problems]
    return about_calls(observation, action, replies), next(filter(None, problems))


def _problem(call: ToolCall, observation: Observation, failed: Sequence[tuple[str, str]]) -> str:
    """Why a call is certain to be refused; empty if it is not."""
    tool = lookup_table(observation.tools).get(call.name)
    if tool is None:
        names = ", ".join(one.wire_name or one.name for one in observation.tools) or "none"
        return f"there is no tool named {call.name[:100]!r}; tools offered: {names}"
    if call.problem:
        return call.problem
    try:
        arguments = clean_json(call.arguments)[0]
    except UnusableValueError as why:
        return str(why)
    problem = check_arguments(tool, arguments, "coerce").problem
    return problem or (REPEATED if _identity(tool.name, arguments) in failed else "")


def _just_failed(messages: Sequence[ChatMessage]) -> list[tuple[str, str]]:
    """The calls whose replies end the conversation and are errors by their look."""
    replies = list(takewhile(lambda message: message.role == "tool", reversed(messages)))
    failed = {reply.call_id for reply in replies if looks_failed(reply.content)}
    caller = messages[-1 - len(replies)] if len(messages) > len(replies) else None
    calls = caller.calls if caller is not None else ()
    return [_identity(call.name, call.arguments) for call in calls if call.id in failed]


def looks_failed(content: str) -> bool:
    """Whether a reply is an error as an agent can tell: ``Error…``, or JSON that begins with ``error``."""
    return content.lstrip().lower().startswith(("error", '{"error"'))


def _identity(name: str, arguments: Any) -> tuple[str, str]:
    return name, json.dumps(dict(arguments), sort_keys=True, default=repr)
