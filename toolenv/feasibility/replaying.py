"""Playing a recorded trace again, whole or without some of its calls, through a fresh clean environment."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from toolenv.env import ToolEnv
from toolenv.errors import ToolFault
from toolenv.feasibility.dependence import made_calls
from toolenv.kernel.protocol import Slot
from toolenv.rollout import Rollout, rollout
from toolenv.source import TaskSource
from toolenv.suite import Suite
from toolenv.task import Task
from toolenv.trace import Trace
from toolenv.types import Action, Message, Observation, Stop, ToolCalls
from toolenv.user import RecordedUser

DEFAULT_REPLAYS = 200
"""Replays of one trace that are made at most."""


class OutOfReplays(Exception):
    """A trace was replayed as often as allowed."""


class Script:
    """Plays given decisions, then closes with empty messages."""

    name = "replay"

    def __init__(self, actions: Sequence[Action]) -> None:
        self._actions = tuple(actions)

    def act(self, observation: Observation, memory: Any) -> tuple[Action, int]:
        """The next decision; memory counts them."""
        at = memory or 0
        return (self._actions[at] if at < len(self._actions) else Message("")), at + 1


class Replayer:
    """Plays a trace of a task again.

    Args:
        suite: the suite.
        task: the clean task.
        trace: the trace; a simulated user says what it said there.
        limit: how many replays may be made.

    Attributes:
        made: how many have been made.
    """

    def __init__(self, suite: Suite, task: Task, trace: Trace, limit: int = DEFAULT_REPLAYS) -> None:
        self._task, self._trace, self._limit = task, trace, limit
        self._env = ToolEnv(task_source(suite, task, trace.max_turns, trace))
        self._results: dict[frozenset[int], Trace | None] = {}

    @property
    def made(self) -> int:
        """How many replays have been made."""
        return len(self._results)

    def replay(self, kept: Collection[int]) -> Trace | None:
        """The trace with the calls of these numbers only, if it is judged successful.

        Raises:
            OutOfReplays: no more replays may be made.
        """
        key = frozenset(kept)
        if key not in self._results:
            if self.made >= self._limit:
                raise OutOfReplays
            self._results[key] = self._play(key)
        return self._results[key]

    def _play(self, kept: frozenset[int]) -> Trace | None:
        script = Script(tuple(actions_of(self._trace, kept)))
        played = rollout(self._env, script, seed=self._trace.seed, task_id=self._task.id)
        return played.trace if played.episode.success is True else None


def task_source(suite: Suite, task: Task, max_turns: int, trace: Trace | None = None) -> TaskSource:
    """A source of one task; with a trace, its simulated user says what was recorded there."""
    source = TaskSource(suite, "clean", {task.id: task}, {}, 0.0, max_turns)
    if source.user is not None and trace is not None:
        source.user = RecordedUser.of(trace)
    return source


def actions_of(trace: Trace, kept: Collection[int]) -> Iterator[Action]:
    """A trace's decisions with only these of its calls; decisions left without any are left out."""
    number = 0
    for step in trace.steps:
        action = step.action
        if isinstance(action, ToolCalls):
            numbers = range(number, number + len(action.calls))
            calls = tuple(call for at, call in zip(numbers, action.calls, strict=True) if at in kept)
            number += len(action.calls)
            if calls:
                yield replace(action, calls=calls)
        elif isinstance(action, Message | Stop):
            yield action


def play(suite: Suite, task: Task, actions: Sequence[Action], lines: Sequence[str] = ()) -> Rollout:
    """Play decisions on a clean task with seed 0, with as many decisions a user turn as they need.

    Args:
        suite, task: the suite and the task.
        actions: the decisions.
        lines: what the user says, where the suite has a simulated one.
    """
    source = task_source(suite, task, max(suite.max_turns, len(actions) + 1))
    if source.user is not None:
        source.user = RecordedUser(lines)
    return rollout(ToolEnv(source), Script(actions), seed=0, task_id=task.id)


def state_changes(suite: Suite, task: Task, trace: Trace) -> frozenset[int]:
    """The numbers of the calls that changed the world as the judge sees it."""
    kernel = task_source(suite, task, trace.max_turns, trace).kernel(task)
    world = kernel.start(trace.seed)
    state, changed = world.digest(), set[int]()
    for one in made_calls(trace):
        try:
            kernel.call(world, one.call, Slot(one.number, one.turn))
        except ToolFault:
            break
        before, state = state, world.digest()
        if state != before:
            changed.add(one.number)
        if one.call.name in task.terminal_tools and one.result.kind == "ok":
            break
    return frozenset(changed)
