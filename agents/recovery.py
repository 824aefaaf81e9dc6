"""Scripted policies that follow a plan and read what tools tell; some know how to recover, some do not.

They are briefed with the *structure* of a solution (:class:`toolenv.plan.Plan`: which calls, and which
documented field feeds which argument) and with no value that a tool tells: all those they read, so a hazard
can mislead them.

``recovery`` (or ``recovery:reference``) has every skill; a task is proved recoverable by what it does.
``recovery:trusting`` has them too, but asks no second source where nothing looks wrong, which costs less.
``recovery:naive`` takes every result at its word. ``recovery:retry-only``, ``recovery:switch-only`` and
``recovery:normalise-only`` have one skill each (paper 2, §3: retrying, fallback, normalisation).
``recovery:hinted`` has the skills that the user's messages call for: none until a hint says what is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from toolenv.errors import UnknownNameError, UsageError
from toolenv.plan import Computed, Given, Part, Path, Plan, PlannedCall, PlannedMessage, Taken, plan_in
from toolenv.task import Task
from toolenv.types import NO_TOKENS, Action, Message, Observation, ToolCall, ToolCalls, ToolSpec

from .drifted import MISSING, is_failure, loaded
from .errands import Errand, Skills, begun, next_source, react

EVERYTHING = Skills(
    retries=2, switches=True, normalises=True, remaps=True, rebinds=True, cross_checks="always"
)
SKILLS: Mapping[str, Skills] = {
    "reference": EVERYTHING,
    "trusting": replace(EVERYTHING, cross_checks="in doubt"),
    "naive": Skills(),
    "retry-only": Skills(retries=2),
    "switch-only": Skills(switches=True),
    "normalise-only": Skills(normalises=True),
}


CALLED_FOR: Mapping[str, Skills] = {
    "call it again": Skills(retries=2),
    "another tool that tells the same": Skills(switches=True, cross_checks="always"),
    "is outdated": Skills(remaps=True),
    "do not look as documented": Skills(normalises=True),
    "as it was sent": Skills(rebinds=True),
    "bound to each other's names": Skills(rebinds=True),
}
"""What is needed where a hint has these words."""


class Progress(NamedTuple):
    """How far an episode has come.

    Attributes:
        plan: what is followed.
        step: the next step of the plan.
        results: by planned call, the values read from it, by path.
        errands: the calls whose replies come next.
        down: tools that failed for good; their sources are asked at once.
    """

    plan: Plan
    step: int = 0
    results: Mapping[int, Mapping[Path, Any]] = MappingProxyType({})
    errands: tuple[Errand, ...] = ()
    down: frozenset[str] = frozenset()


class PlanFollower:
    """Follows a plan, with some skills.

    Args:
        skills: what it can do when a result is not what its documentation says.
        name: shown in tables.
    """

    def __init__(self, skills: Skills, name: str) -> None:
        self.skills, self.name = skills, name

    def brief(self, task: Task) -> Progress:
        """The plan of a task.

        Raises:
            UsageError: there is none.
        """
        plan = plan_in(task.metadata)
        if plan is None:
            raise UsageError(f"task {task.id!r} carries no plan for {self.name} to follow")
        return Progress(plan)

    def act(self, observation: Observation, memory: Progress) -> tuple[Action, Progress]:
        """The next decision: follow up on what was replied, or the next step of the plan."""
        progress = self._heard(observation, memory) if memory.errands else memory
        if progress.errands:
            return _calls(progress.errands), progress
        return self._next_step(progress, observation.tools)

    def _heard(self, observation: Observation, progress: Progress) -> Progress:
        """The progress after the replies to its errands; those left need another call."""
        count = len(progress.errands)
        replies = observation.messages[len(observation.messages) - count :]
        results, left, down = dict(progress.results), list[Errand](), set(progress.down)
        for errand, reply in zip(progress.errands, replies, strict=True):
            outcome = react(errand, reply.content, progress.plan, self.skills)
            if isinstance(outcome, Errand):
                left.append(outcome)
                if outcome.tool != errand.tool and is_failure(loaded(reply.content)):
                    down.add(errand.tool)
            else:
                results[errand.number] = outcome
        return Progress(progress.plan, progress.step, results, tuple(left), frozenset(down))

    def _next_step(self, progress: Progress, tools: tuple[ToolSpec, ...]) -> tuple[Action, Progress]:
        if progress.step >= len(progress.plan.steps):
            return Message("", usage=NO_TOKENS), progress
        step = progress.plan.steps[progress.step]
        errands = () if isinstance(step, PlannedMessage) else _errands(step, progress, tools)
        after = progress._replace(step=progress.step + 1, errands=errands)
        if isinstance(step, PlannedMessage):
            return Message(_words(step.pieces, progress.results), usage=NO_TOKENS), after
        return _calls(errands), after


class HintReader(PlanFollower):
    """Follows a plan as ``recovery:naive`` does, until it is told what is wrong with the tools."""

    def __init__(self) -> None:
        super().__init__(Skills(), "hinted")

    def act(self, observation: Observation, memory: Progress) -> tuple[Action, Progress]:
        """The next decision, with the skills called for so far."""
        told = " ".join(message.content for message in observation.messages if message.role == "user")
        needed = (skills for words, skills in CALLED_FOR.items() if words in told)
        return PlanFollower(next(needed, self.skills), self.name).act(observation, memory)


def _errands(
    step: Sequence[PlannedCall], progress: Progress, tools: tuple[ToolSpec, ...]
) -> tuple[Errand, ...]:
    earlier = progress.plan.steps[: progress.step]
    first = sum(len(one) for one in earlier if isinstance(one, tuple))
    fresh = (
        begun(first + offset, call.tool, _arguments(call, progress.results), tools)
        for offset, call in enumerate(step)
    )
    return tuple(
        (next_source(one, progress.plan) or one) if one.tool in progress.down else one for one in fresh
    )


def _arguments(call: PlannedCall, results: Mapping[int, Mapping[Path, Any]]) -> dict[str, Any]:
    values = {name: worth(part, results) for name, part in call.arguments.items()}
    return {name: None if value is MISSING else value for name, value in values.items()}


def _calls(errands: Sequence[Errand]) -> ToolCalls:
    return ToolCalls(tuple(ToolCall(one.tool, one.sent) for one in errands), usage=NO_TOKENS)


def _words(pieces: Sequence[str | Part], results: Mapping[int, Mapping[Path, Any]]) -> str:
    return "".join(piece if isinstance(piece, str) else _as_text(worth(piece, results)) for piece in pieces)


def _as_text(value: Any) -> str:
    if value is MISSING:
        return "unknown"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def worth(part: Any, results: Mapping[int, Mapping[Path, Any]]) -> Any:
    """The value of a part, from what was read; :data:`toolenv.agents.drifted.MISSING` if it was not."""
    if isinstance(part, Given):
        return part.value
    if isinstance(part, Taken):
        return results.get(part.call, {}).get(part.path, MISSING)
    if isinstance(part, Computed):
        raise UsageError(f"the plan computes {part.operation!r}, which nobody here knows")
    if isinstance(part, Mapping):
        return {key: _present(worth(inner, results)) for key, inner in part.items()}
    return [_present(worth(inner, results)) for inner in part]


def _present(value: Any) -> Any:
    return None if value is MISSING else value


def make(argument: str, options: Mapping[str, Any]) -> PlanFollower:
    """``recovery:NAME``; ``recovery`` alone is the reference.

    Raises:
        UnknownNameError: no such policy.
    """
    name = argument or "reference"
    if name == "hinted":
        return HintReader()
    if name not in SKILLS:
        raise UnknownNameError("recovery policy", name, (*SKILLS, "hinted"))
    return PlanFollower(SKILLS[name], name if argument else "recovery")
