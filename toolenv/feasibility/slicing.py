"""Slicing: which calls a successful trace really needed.

Two things are asked of a slice, a part of the trace's calls in their order: played alone, it is judged
successful; and whatever value its calls and messages use was told by the conversation, a tool's documentation
or a call of the slice itself (:mod:`toolenv.feasibility.dependence`). Without the second, a lookup could
always be dropped, since a replay repeats arguments that only the lookup had told.

The backward slice from what changed the world is tried first; then ever shorter runs of calls are dropped,
from the last to the first (after Zeller's ddmin), until no single call can be. The result is minimal in that
sense, not necessarily the smallest there is. It is the same every time, and replays are bounded. A tool is
needed if the trace's other calls cannot do without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from toolenv.feasibility.dependence import Dependence, Use, closure, is_grounded
from toolenv.feasibility.replaying import DEFAULT_REPLAYS, OutOfReplays, Replayer, state_changes
from toolenv.feasibility.values import tokens_in, without
from toolenv.judge import judge
from toolenv.suite import Suite
from toolenv.task import Task
from toolenv.trace import Step, Trace
from toolenv.types import Message

TOKENS_TRIED = 64
"""Observed words of an agent's messages, numbers first, that are tried for whether the judge needs them."""

DOES_NOT_REPLAY = "played again, the trace is not judged successful"


@dataclass(frozen=True, slots=True)
class KeptCall:
    """A call that a trace needed, and what for.

    Attributes:
        number: its place among the trace's calls, from 1.
        tool: its tool.
        is_use: whether it succeeded, so that its tool counts as used.
        why: what it is needed for, a line each.
    """

    number: int
    tool: str
    is_use: bool
    why: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict."""
        return {"call": self.number, "tool": self.tool, "why": list(self.why)}


@dataclass(frozen=True, slots=True)
class Slice:
    """The calls a trace needed.

    Attributes:
        kept: they, in order.
        dropped: the tools of the other calls, in order.
        replays: how many replays it took.
        is_minimal: whether no single call more can be dropped.
        problem: why nothing could be dropped, if so.
    """

    kept: tuple[KeptCall, ...]
    dropped: tuple[str, ...] = ()
    replays: int = 0
    is_minimal: bool = False
    problem: str = ""

    @property
    def tools(self) -> frozenset[str]:
        """S of the slice: the tools of its successful calls."""
        return frozenset(one.tool for one in self.kept if one.is_use)

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict."""
        kept, dropped = [one.to_json() for one in self.kept], list(self.dropped)
        facts: dict[str, Any] = {"kept": kept, "dropped": dropped, "replays": self.replays}
        return {**facts, "minimal": self.is_minimal, **({"problem": self.problem} if self.problem else {})}


class Study:
    """A successful trace, taken apart by replays. What is asked twice is worked out once.

    Args:
        suite: the suite.
        task: the clean task.
        trace: a trace of it that was judged successful.
        max_replays: how many replays may be made.
    """

    def __init__(self, suite: Suite, task: Task, trace: Trace, max_replays: int = DEFAULT_REPLAYS) -> None:
        self._suite, self._task = suite, task
        self.recorded = trace
        self._replayer = Replayer(suite, task, trace, max_replays)
        self._all = frozenset(range(len(Dependence(task, trace).calls)))

    @cached_property
    def whole(self) -> Trace | None:
        """The whole trace played again, if it is judged successful again."""
        try:
            return self._replayer.replay(self._all)
        except OutOfReplays:
            return None

    @cached_property
    def dependence(self) -> Dependence:
        """The data dependences of the replayed trace; of the recorded one if it does not replay."""
        return Dependence(self._task, self.whole or self.recorded)

    @cached_property
    def changes(self) -> frozenset[int]:
        """The calls that change the world."""
        return state_changes(self._suite, self._task, self.whole or self.recorded)

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """What calls consume, and what the judge needs said that only results can have told."""
        return (*self.dependence.uses, *_message_uses(self.dependence))

    def succeeds(self, kept: frozenset[int]) -> bool:
        """Whether these calls alone are grounded and judged successful.

        Raises:
            OutOfReplays: no more replays may be made.
        """
        if self.whole is None or not is_grounded(self.uses, kept):
            return False
        played = self._replayer.replay(kept)
        return played is not None and self._is_told(kept, played)

    def _is_told(self, kept: frozenset[int], played: Trace) -> bool:
        """Whether the results of the replay still hold the values: without a call, another's may differ."""
        order = sorted(kept)
        results = Dependence(self._task, played).results
        place = {number: at for at, number in enumerate(order)}
        return all(
            any(results[place[one]].mentions(use.value) for one in use.producers if one in place)
            for use in self.uses
            if use.consumer is None or use.consumer in kept
        )

    def solves_without(self, tools: frozenset[str]) -> bool:
        """Whether the trace succeeds without the calls of these tools; false if it cannot be told."""
        kept = frozenset(one.number for one in self.dependence.calls if one.call.name not in tools)
        try:
            return self.succeeds(kept)
        except OutOfReplays:
            return False

    @cached_property
    def slice(self) -> Slice:
        """The calls the trace needed."""
        if self.whole is None:
            return self._sliced(self._all, is_minimal=False, problem=DOES_NOT_REPLAY)
        kept, is_minimal = self._all, True
        try:
            for smaller in self._shrink():
                kept = smaller
        except OutOfReplays:
            is_minimal = False
        return self._sliced(kept, is_minimal)

    @cached_property
    def replaceable(self) -> frozenset[str]:
        """The tools of the slice that the trace's other calls can stand in for: there are other slices."""
        return frozenset(tool for tool in self.slice.tools if self.solves_without(frozenset({tool})))

    @property
    def needed(self) -> frozenset[str]:
        """S of what was needed: the tools that are in every slice."""
        return self.slice.tools - self.replaceable

    def _shrink(self) -> Iterator[frozenset[int]]:
        """Ever smaller parts of the trace that succeed."""
        kept = self._all
        backward = closure(self.uses, self.changes)
        if backward < kept and self.succeeds(backward):
            yield (kept := backward)
        sizes = _window_sizes(len(kept))
        while sizes:
            size, *rest = sizes
            smaller = self._without_window(kept, size)
            if smaller is None:
                sizes = rest
                continue
            yield (kept := smaller)
            # What could not be dropped before may be droppable now, alone or with its neighbours.
            sizes = _window_sizes(min(len(kept), 4 * size))

    def _without_window(self, kept: frozenset[int], size: int) -> frozenset[int] | None:
        """``kept`` without ``size`` calls in a row, the last such row that can be spared."""
        order = sorted(kept)
        for start in range(len(order) - size, -1, -1):
            smaller = kept.difference(order[start : start + size])
            if self.succeeds(smaller):
                return smaller
        return None

    def _sliced(self, kept: frozenset[int], is_minimal: bool, problem: str = "") -> Slice:
        calls = self.dependence.calls
        return Slice(
            kept=tuple(
                KeptCall(one.number + 1, one.call.name, one.result.kind == "ok", self._why(one.number, kept))
                for one in calls
                if one.number in kept
            ),
            dropped=tuple(one.call.name for one in calls if one.number not in kept),
            replays=self._replayer.made,
            is_minimal=is_minimal,
            problem=problem,
        )

    def _why(self, number: int, kept: frozenset[int]) -> tuple[str, ...]:
        told = [use for use in self.uses if number in use.producers]
        fed = [
            f"its result feeds call {use.consumer + 1}, argument {use.place}"
            for use in told
            if use.consumer is not None and use.consumer in kept
        ]
        said = [
            f"its result holds {use.value!r}, which has to be said" for use in told if use.consumer is None
        ]
        changes = ["it changes the world"] if number in self.changes else []
        return tuple(dict.fromkeys([*changes, *fed, *said])) or ("the judge requires it",)


def slice_trace(suite: Suite, task: Task, trace: Trace, max_replays: int = DEFAULT_REPLAYS) -> Slice:
    """The calls that a successful trace needed; see the module.

    Args:
        suite: the suite.
        task: the clean task.
        trace: a trace of it that was judged successful.
        max_replays: replays made at most; where they do not suffice, the slice is not minimal and says so.
    """
    return Study(suite, task, trace, max_replays).slice


def _window_sizes(count: int) -> Sequence[int]:
    """Half the calls, a quarter, …, 1."""
    sizes = []
    while count > 1:
        count //= 2
        sizes.append(count)
    return sizes or ([1] if count else [])


def _message_uses(dependence: Dependence) -> Iterator[Use]:
    """The values the judge needs said, as far as only results can have told them."""
    task, trace = dependence.task, dependence.trace
    if _still_succeeds(task, trace, None):
        return
    heard = dependence.said_before(len(trace.steps))
    observed = (
        (token, dependence.producers(token, len(dependence.calls)))
        for token in tokens_in("\n".join(_texts(trace)))
        if not heard.mentions(token)
    )
    candidates = [(token, producers) for token, producers in observed if producers]
    candidates.sort(key=lambda one: not any(map(str.isdigit, one[0])))
    for token, producers in candidates[:TOKENS_TRIED]:
        if not _still_succeeds(task, trace, token):
            yield Use(None, "the message", token, producers)


def _texts(trace: Trace) -> Iterator[str]:
    for step in trace.steps:
        if isinstance(step.action, Message):
            yield step.action.text


def _still_succeeds(task: Task, trace: Trace, unsaid: str | None) -> bool:
    """Whether the trace would succeed without a word in its messages; ``None``: without any words."""
    steps = tuple(_saying_less(step, unsaid) for step in trace.steps)
    return judge(task, replace(trace, steps=steps)).success is True


def _saying_less(step: Step, unsaid: str | None) -> Step:
    if not isinstance(step.action, Message):
        return step
    text = "" if unsaid is None else without(step.action.text, unsaid)
    return step._replace(action=replace(step.action, text=text))
