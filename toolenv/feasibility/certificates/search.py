"""The bounded, goal-directed search for a solution with the tools that are left.

It goes user turn by user turn. In a state it first looks: calls of tools that change nothing cost nothing but
their place in the witness, so they are made as long as they bring a wanted result or make a value of the
reference solution known; in a second attempt, if that leads nowhere, also if they bring any new id. Then it
tries every call that may change something, and goes on where the distance to the state wanted, plus the
results missing, is least. Values come from the reference solution, the documentation and what was read, and
only grounded ones are used.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from toolenv.feasibility.certificates.candidates import Candidates, Clue, clues
from toolenv.feasibility.certificates.grounding import Knowledge, told
from toolenv.feasibility.certificates.planning import Features, Goal, Obtained, Planner, SearchWorld
from toolenv.feasibility.certificates.records import Criterion
from toolenv.task import Task
from toolenv.types import ToolCall, ToolSpec

MOST_WAITING: Final = 500
"""How many states wait to be gone on from, which bounds the memory; the least promising are forgotten."""


LOOKS_AT_THE_CLOCK: Final = 64
"""Calls between two looks at whether the time is up."""


class OutOfBound(Exception):
    """The search looked at as many states as it may, or its time is up."""


def never() -> bool:
    """No limit of time."""
    return False


@dataclass(frozen=True, slots=True)
class Bound:
    """How far a search goes; counts, so that the answer never depends on the machine.

    Attributes:
        states: calls tried, over all turns of a task.
        changes: calls in one user turn that may change the world.
    """

    states: int = 5_000
    changes: int = 8


@dataclass(frozen=True, slots=True)
class Node:
    """A state that was reached in a user turn, and how."""

    world: SearchWorld
    known: Knowledge
    texts: tuple[str, ...]
    obtained: Obtained
    wanted: frozenset[int]
    calls: tuple[ToolCall, ...] = ()
    changes: int = 0


class Search:
    """One search for one masked task.

    Args:
        planner: what is known about the suite.
        task: the task, masked.
        bound: how far to go.
        is_late: asked every so often; once it says so, the search ends.
    """

    def __init__(
        self, planner: Planner, task: Task, bound: Bound, is_late: Callable[[], bool] = never
    ) -> None:
        self._planner, self._task, self._bound, self._is_late = planner, task, bound, is_late
        self._clues = clues(task)
        self._candidates = Candidates(self._clues, lambda tool, name: planner.choices(task, tool, name))
        self._changing = planner.changing(task)
        self._looked: dict[Hashable, str] = {}
        self._curious = False
        self.states = 0

    def solve(self, criterion: Criterion) -> tuple[tuple[tuple[ToolCall, ...], ...], Knowledge] | None:
        """Calls for each user turn, and what is known in the end; ``None`` if there are none to be found.

        Raises:
            OutOfBound: there may be, beyond the bound.
        """
        for curious in (False, True):
            self._curious = curious
            solved = self._solve(criterion)
            if solved is not None:
                return solved
        return None

    def _solve(self, criterion: Criterion) -> tuple[tuple[tuple[ToolCall, ...], ...], Knowledge] | None:
        world = self._planner.start(self._task)
        node = Node(world, Knowledge(), (), (), frozenset(range(len(self._clues))))
        plan = []
        for turn, goal in enumerate(self._planner.goals(self._task, criterion)):
            found = self._finish(self._open(node, turn), turn, goal)
            if found is None:
                return None
            plan.append(found.calls)
            node = replace(found, calls=(), changes=0)
        return tuple(plan), node.known

    def _open(self, node: Node, turn: int) -> Node:
        """At the beginning of a user turn: something was said."""
        messages = self._task.turns[turn - 1].messages if turn else self._task.messages
        heard = told(messages, self._task.offered(turn))
        texts = (*node.texts, *(message.content for message in messages if message.role == "user"))
        return self._learn(replace(node, known=Knowledge((*node.known.sources, *heard.sources)), texts=texts))

    def _learn(self, node: Node) -> Node:
        """With the clues ticked off that have become known."""
        left = frozenset(one for one in node.wanted if not node.known.has(self._clues[one].value))
        return replace(node, wanted=left)

    def _finish(self, start: Node, turn: int, goal: Goal) -> Node | None:
        ignored = self._planner.ignored
        tools = [tool for tool in self._task.offered(turn) if tool.name not in ignored]
        looking = [tool for tool in tools if tool.name not in self._changing]
        acting = [tool for tool in tools if tool.name in self._changing]
        number, seen = 0, set[Hashable]()
        waiting: list[tuple[int, int, int, Node]] = [(0, 0, 0, start)]
        while waiting:
            *_, node = heapq.heappop(waiting)
            node = self._look(node, turn, goal, looking)
            if self._is_reached(node, goal):
                return node
            if node.changes >= self._bound.changes:
                continue
            for child in self._children(node, turn, acting):
                key = (child.world.key(), goal.missing(child.obtained, child.known), child.wanted)
                if key not in seen:
                    seen.add(key)
                    number += 1
                    far = _distance(child.world.features(), goal.state) + 2 * key[1]
                    heapq.heappush(waiting, (far + child.changes, child.changes, number, child))
            if len(waiting) > 2 * MOST_WAITING:
                waiting = heapq.nsmallest(MOST_WAITING, waiting)
        return None

    def _is_reached(self, node: Node, goal: Goal) -> bool:
        return (
            (bool(node.calls) or not goal.needs_call)
            and goal.missing(node.obtained, node.known) == 0
            and (goal.state is None or node.world.features() == goal.state)
        )

    def _look(self, node: Node, turn: int, goal: Goal, tools: list[ToolSpec]) -> Node:
        """Make the calls that only look, as long as they help."""
        missing = goal.missing(node.obtained, node.known)
        helped = True
        while helped and (missing or node.wanted or (goal.needs_call and not node.calls)):
            helped = False
            for call in self._calls(node, turn, tools):
                after = self._after_look(node, call)
                left = goal.missing(after.obtained, after.known)
                first = goal.needs_call and not node.calls and not missing
                helps = left < missing or len(after.wanted) < len(node.wanted) or first
                if helps or (self._curious and self._brings_ids(node, after, tools)):
                    node, missing, helped = after, left, True
        return node

    def _brings_ids(self, node: Node, after: Node, tools: list[ToolSpec]) -> bool:
        """Whether the last result holds a value for a looking tool's parameter that was not seen before."""
        names = {name for tool in tools for name in tool.parameters.get("properties", {})}
        return any(
            not node.known.has(value)
            for name in sorted(names)
            for value in self._planner.seen_values(name, after.texts[-1])
        )

    def _after_look(self, node: Node, call: ToolCall) -> Node:
        key = (node.world.key(), call.name, json.dumps(call.arguments, sort_keys=True))
        if key not in self._looked:
            self._count()
            self._looked[key] = node.world.call(call.name, call.arguments)
        return self._with_result(node, call, self._looked[key], 0)

    def _children(self, node: Node, turn: int, tools: list[ToolSpec]) -> Iterator[Node]:
        for call in self._calls(node, turn, tools):
            self._count()
            world = node.world.fork()
            text = world.call(call.name, call.arguments)
            yield self._with_result(replace(node, world=world), call, text, 1)

    def _with_result(self, node: Node, call: ToolCall, text: str, changes: int) -> Node:
        return self._learn(
            replace(
                node,
                known=node.known.plus(text),
                texts=(*node.texts, text),
                obtained=(*node.obtained, (call, text)),
                calls=(*node.calls, call),
                changes=node.changes + changes,
            )
        )

    def _calls(self, node: Node, turn: int, tools: list[ToolSpec]) -> Iterator[ToolCall]:
        known: dict[str, bool] = {}

        def is_known(value: Any) -> bool:
            key = json.dumps(value, sort_keys=True)
            if key not in known:
                known[key] = node.known.has(value)
            return known[key]

        def seen(parameter: str) -> list[Any]:
            found = (value for text in node.texts for value in self._planner.seen_values(parameter, text))
            return list(dict.fromkeys(found))

        for tool in tools:
            for arguments in self._candidates.of(tool, turn, is_known, seen):
                yield ToolCall(tool.name, arguments)

    def _count(self) -> None:
        self.states += 1
        looks = self.states % LOOKS_AT_THE_CLOCK == 0
        if self.states > self._bound.states or (looks and self._is_late()):
            raise OutOfBound


def _distance(features: Features, wanted: Features | None) -> int:
    return 0 if wanted is None else len(features ^ wanted)


__all__ = ["Bound", "Clue", "OutOfBound", "Search"]
