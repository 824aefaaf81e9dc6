"""Checks claims that a finite space was searched to its end. Imports nothing that searches.

``exhausted``
    ``{"paths": [[CALL, …], …], "read": [[STATE, CALL], …]}``: the states that can be reached, each by the
    calls that lead to it from the start (the first by none); and calls in these states whose results are all
    that can be read. A call is ``{"name": …, "arguments": {…}}``.

The claim holds if the set is closed: every grounded call in every state, with all that can be read in any of
them known, leads to one of the states and returns one of the results, and none of the states is one in which
the task may be solved by who knows all of that. Who plays an episode is then always in one of these states
and never knows more, whatever he calls and in whatever order; he only must not guess.

Which calls are grounded the suite says (:class:`Finite`): all whose result depends on their arguments in
another way than by an error that tells nothing. Where they are not finite in number it says ``None``, and no
such claim can be made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol, runtime_checkable

from toolenv.errors import ToolError
from toolenv.feasibility.certificates.grounding import Knowledge, told
from toolenv.feasibility.certificates.records import Claim
from toolenv.kernel.protocol import Noted, World
from toolenv.rendering import render
from toolenv.task import Task
from toolenv.types import ToolCall

MOST_STATES: Final = 200
"""States that a claim may speak of."""

MOST_CALLS: Final = 20_000
"""Calls that a check makes; a claim that asks for more is refused."""


@runtime_checkable
class Finite(Protocol):
    """The rules of a suite in whose tasks a search may come to an end."""

    def start(self, task: Task) -> World:
        """A fresh world."""
        ...

    def grounded_calls(self, task: Task, world: World, known: Knowledge) -> tuple[ToolCall, ...] | None:
        """Every call with the tools left that can be made by who knows this and does not guess.

        Calls that cannot change anything and tell nothing, whatever is known, may be left out. ``None`` where
        the calls are not finite in number.
        """
        ...

    def may_be_solved(self, task: Task, world: World, known: Knowledge) -> bool:
        """Whether the task would be solved in this state by who knows this."""
        ...


def heard(task: Task, turn: int) -> Knowledge:
    """What is known at the end of a user turn before any result is read."""
    later = (message for one in task.turns[:turn] for message in one.messages)
    return told([*task.messages, *later], task.offered(turn))


def answered(world: World, call: ToolCall) -> str:
    """The text of a call's result; the world is changed."""
    try:
        value = world.call(call.name, call.arguments)
    except ToolError as error:
        return str(error)
    return render(value.value if isinstance(value, Noted) else value)


def problem_of_exhausted(rules: object, task: Task, claim: Claim) -> str:
    """What is wrong with such a claim; empty if it holds."""
    if not isinstance(rules, Finite):
        return "in this suite no search comes to an end"
    try:
        paths = [[_call(one) for one in path] for path in claim.facts["paths"]]
        read = [(int(at), _call(one)) for at, one in claim.facts["read"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return f"no paths and results: {type(error).__name__}: {error}"
    if set(claim.facts) != {"paths", "read"} or not 0 <= claim.turn <= len(task.turns):
        return f"unknown claim 'exhausted' about turn {claim.turn} with {sorted(claim.facts)}"
    if not paths or paths[0] or len(paths) > MOST_STATES:
        return f"{len(paths)} states, of which the first has to be the start; at most {MOST_STATES}"
    offered = {tool.name for tool in task.offered(claim.turn)}
    if any(
        call.name not in offered for call in (*(one for path in paths for one in path), *(c for _, c in read))
    ):
        return "a call of a tool that is not left"
    if any(not 0 <= at < len(paths) for at, _ in read):
        return "a result of a state that is not named"
    return _problem_of_set(rules, task, claim.turn, paths, read)


def _problem_of_set(
    rules: Finite, task: Task, turn: int, paths: list[list[ToolCall]], read: list[tuple[int, ToolCall]]
) -> str:
    worlds = [_reached(rules, task, path) for path in paths]
    digests = {world.digest() for world in worlds}
    texts = {answered(worlds[at].fork(), call) for at, call in read}
    known = heard(task, turn).plus(*sorted(texts))
    left = MOST_CALLS
    for at, world in enumerate(worlds):
        if rules.may_be_solved(task, world, known):
            return f"in state {at} the task may be solved"
        calls = rules.grounded_calls(task, world, known)
        if calls is None or (left := left - len(calls)) < 0:
            return f"in state {at} there are calls without end"
        if problem := _not_closed(world, calls, digests, texts):
            return f"state {at}: {problem}"
    return ""


def _not_closed(world: World, calls: Iterable[ToolCall], digests: set[str], texts: set[str]) -> str:
    for call in calls:
        after = world.fork()
        if answered(after, call) not in texts:
            return f"{call.name}{dict(call.arguments)} tells more"
        if after.digest() not in digests:
            return f"{call.name}{dict(call.arguments)} leads elsewhere"
    return ""


def _reached(rules: Finite, task: Task, path: Iterable[ToolCall]) -> World:
    world = rules.start(task)
    for call in path:
        answered(world, call)
    return world


def _call(plain: Mapping[str, Any]) -> ToolCall:
    if set(plain) != {"name", "arguments"} or not isinstance(plain["name"], str):
        raise ValueError(f"{plain!r:.80} is no call")
    return ToolCall(plain["name"], dict(plain["arguments"]))
