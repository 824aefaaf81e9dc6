"""Searching a finite space to its end: all that can be reached and read with grounded calls."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from toolenv.feasibility.certificates.exhausted import MOST_STATES, Finite, answered, heard
from toolenv.feasibility.certificates.grounding import Knowledge
from toolenv.feasibility.certificates.records import Claim
from toolenv.kernel.protocol import World
from toolenv.task import Task
from toolenv.types import ToolCall


@dataclass
class _Space:
    """What was found so far: states with the calls that lead there, and results with where they were read."""

    worlds: list[World]
    paths: list[tuple[ToolCall, ...]]
    digests: set[str]
    known: Knowledge
    read: dict[str, tuple[int, ToolCall]] = field(default_factory=dict)
    tried: set[tuple[int, str]] = field(default_factory=set)


def exhaust(rules: object, task: Task, turn: int, most: int) -> tuple[Claim | None, int]:
    """The claim that a user turn cannot be finished, and how many calls were tried.

    Args:
        rules: the suite's; no claim where they are not :class:`Finite`.
        task: the task, masked.
        turn: the user turn.
        most: calls tried at most.

    Returns:
        No claim where the task may be solved, the calls are not finite in number, or the bound is reached.
    """
    if not isinstance(rules, Finite):
        return None, 0
    world = rules.start(task)
    space = _Space([world], [()], {world.digest()}, heard(task, turn))
    while found := _extended(rules, task, space, most):
        if found == "given up":
            return None, len(space.tried)
    paths = [[_plain(call) for call in path] for path in space.paths]
    read = [[at, _plain(call)] for at, call in space.read.values()]
    return Claim("exhausted", turn, {"paths": paths, "read": read}), len(space.tried)


def _extended(rules: Finite, task: Task, space: _Space, most: int) -> str:
    """Make every call that was not made yet; ``"more"`` if that told or led to anything new, else empty."""
    grown = ""
    for at, world in enumerate(list(space.worlds)):
        calls = None if rules.may_be_solved(task, world, space.known) else _calls(rules, task, space, at)
        if calls is None:
            return "given up"
        for call in calls:
            if len(space.tried) >= most or len(space.worlds) > MOST_STATES:
                return "given up"
            grown = _made(space, at, call) or grown
    return grown


def _calls(rules: Finite, task: Task, space: _Space, at: int) -> list[ToolCall] | None:
    calls = rules.grounded_calls(task, space.worlds[at], space.known)
    if calls is None:
        return None
    return [call for call in calls if (at, _key(call)) not in space.tried]


def _made(space: _Space, at: int, call: ToolCall) -> str:
    space.tried.add((at, _key(call)))
    after, grown = space.worlds[at].fork(), ""
    text = answered(after, call)
    if text not in space.read:
        space.read[text] = (at, call)
        space.known = space.known.plus(text)
        grown = "more"
    if after.digest() not in space.digests:
        space.digests.add(after.digest())
        space.worlds.append(after)
        space.paths.append((*space.paths[at], call))
        grown = "more"
    return grown


def _key(call: ToolCall) -> str:
    return json.dumps([call.name, dict(call.arguments)], sort_keys=True)


def _plain(call: ToolCall) -> dict[str, Any]:
    return {"name": call.name, "arguments": dict(call.arguments)}
