"""BFCL's multi-turn rules: whether a trace leaves the world, and has learned, what the ground truth does.

The rules are those of ``multi_turn_checker`` in ``bfcl-eval`` 2026.3.23. A trace has to reach the end of
every user turn, and after each turn with ground truth

1. a call was made in that turn, whatever became of it, unless it could not be read;
2. the state equals that after the same turns of ground truth;
3. the results of the turn's ground-truth calls are among those of all calls so far, as often.

Turns without ground truth are not checked, but their calls count. The order of calls is free.
``tests/envs_registry/bfcl/test_multi_turn_differential.py`` holds these rules against upstream's own.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeAlias

from toolenv.canonical import differences
from toolenv.errors import DataCorruptError, ToolError
from toolenv.kernel.protocol import World
from toolenv.task import Score
from toolenv.trace import Trace
from toolenv.types import Action, Message, ToolCall, ToolCalls, ToolResult

WorldFactory: TypeAlias = Callable[[], World]
"""Makes the fresh world of one task."""

DECISIONS_PER_TURN: Final = 10
"""The cap of paper 1, Appendix C; for multi-turn tasks, of each user turn."""

_RAN: Final = frozenset({"ok", "tool_error"})
_UNREADABLE: Final = frozenset({"malformed"})
_DIFFERENCES_SHOWN: Final = 3


def parse_call(text: str, parameters: Mapping[str, Sequence[str]] | None = None) -> ToolCall:
    """A ground-truth call string, e.g. ``"cd(folder='document')"``.

    Args:
        text: one Python call of a bare name; its arguments are literals.
        parameters: the parameter names of each tool in order, for positional arguments.

    Raises:
        DataCorruptError: the text is not such a call.
    """
    try:
        return _read_call(text, parameters or {})
    except (SyntaxError, ValueError, TypeError) as error:
        raise DataCorruptError(f"not a call with literal arguments: {text!r:.200} ({error})") from error


@dataclass(frozen=True)
class MultiTurnReference:
    """The truth of a multi-turn task.

    What the ground truth does to the world is found by replaying it, once, on a world of its own; no live
    episode is touched.

    Attributes:
        ground_truth: the calls of each user turn.
        make_world: makes the task's fresh world.
    """

    ground_truth: tuple[tuple[ToolCall, ...], ...]
    make_world: WorldFactory = field(compare=False, repr=False)

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """Digest of the world after each turn's ground truth."""
        return self._replayed[0]

    @property
    def results(self) -> tuple[tuple[str, ...], ...]:
        """Texts of the results of each turn's ground-truth calls."""
        return self._replayed[1]

    def score(self, trace: Trace) -> Score:
        """Judge a trace; ``why`` names the user turn, counted from 0, and the check it failed."""
        why = _unfinished(trace, len(self.ground_truth)) or next(self._failures(trace), "")
        return Score(success=not why, why=why)

    def solution(self) -> tuple[Action, ...]:
        """Each turn's calls, one a decision, then a message.

        Calls share a decision only where a turn would otherwise exceed :data:`DECISIONS_PER_TURN`.
        """
        return tuple(action for turn in self.ground_truth for action in _decisions(turn))

    @cached_property
    def _replayed(self) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        world = self.make_world()
        turns = [(run(world, turn), world.digest()) for turn in self.ground_truth]
        return tuple(state for _, state in turns), tuple(results for results, _ in turns)

    def _failures(self, trace: Trace) -> Iterator[str]:
        obtained: Counter[str] = Counter()
        for turn, truth in enumerate(self.ground_truth):
            calls = _calls(trace, turn)
            obtained.update(result.text for _, result in calls if _ran(result))
            if not truth:
                continue
            if not any(_was_made(call, result) for call, result in calls):
                yield f"turn {turn}: no call was made"
            if trace.checkpoints[turn] != self.checkpoints[turn]:
                yield f"turn {turn}: the state differs{self._difference(trace, turn)}"
            if missing := Counter(self.results[turn]) - obtained:
                yield f"turn {turn}: no call returned {next(iter(missing))!r:.300}"

    def _difference(self, trace: Trace, turn: int) -> str:
        """Where, for people: what a fresh world is after the same calls, if it is in the recorded state."""
        expected, actual = self.make_world(), self.make_world()
        run(expected, (call for calls in self.ground_truth[: turn + 1] for call in calls))
        run(actual, (call for at in range(turn + 1) for call, result in _calls(trace, at) if _ran(result)))
        if actual.digest() != trace.checkpoints[turn]:
            return ""
        lines = differences(expected.view(), actual.view())
        more = f" and {len(lines) - _DIFFERENCES_SHOWN} more" if len(lines) > _DIFFERENCES_SHOWN else ""
        return f": {'; '.join(lines[:_DIFFERENCES_SHOWN])}{more}"


def run(world: World, calls: Iterable[ToolCall]) -> tuple[str, ...]:
    """Make calls; the text of each result, errors included."""
    return tuple(_text(world, call) for call in calls)


def _text(world: World, call: ToolCall) -> str:
    try:
        return str(world.call(call.name, call.arguments))
    except ToolError as error:
        return str(error)


# ---- traces ----


def _unfinished(trace: Trace, turns: int) -> str:
    reached = len(trace.checkpoints)
    if trace.ending == "truncated":
        return f"turn {max(0, reached - 1)}: the decisions ran out"
    if reached != turns:
        return f"turn {max(0, reached - 1)}: the episode ended here, after {reached} of {turns} user turns"
    return ""


def _calls(trace: Trace, turn: int) -> list[tuple[ToolCall, ToolResult]]:
    return [
        pair
        for step in trace.steps
        if step.turn == turn and isinstance(step.action, ToolCalls)
        for pair in zip(step.action.calls, step.results, strict=True)
    ]


def _ran(result: ToolResult) -> bool:
    return result.kind in _RAN


def _was_made(call: ToolCall, result: ToolResult) -> bool:
    """Upstream counts what could be read as a call, of whatever tool; other output it never sees."""
    return not call.problem and result.kind not in _UNREADABLE


# ---- ground truth ----


def _decisions(calls: Sequence[ToolCall]) -> list[Action]:
    together = -(-len(calls) // (DECISIONS_PER_TURN - 1)) or 1
    grouped = [ToolCalls(tuple(calls[at : at + together])) for at in range(0, len(calls), together)]
    return [*grouped, Message("Done.")]


def _read_call(text: str, parameters: Mapping[str, Sequence[str]]) -> ToolCall:
    call = ast.parse(text.strip(), mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise ValueError("it does not call a bare name")
    name = call.func.id
    if len(call.args) > len(order := parameters.get(name, ())):
        raise ValueError(f"{len(call.args)} positional arguments, but {name} has parameters {list(order)}")
    given = [*zip(order, call.args, strict=False), *((word.arg, word.value) for word in call.keywords)]
    arguments = {key: _json_value(ast.literal_eval(node)) for key, node in given if key is not None}
    if len(arguments) != len(given):
        raise ValueError("an argument is given twice, or by **")
    return ToolCall(name, arguments)


def _json_value(value: Any) -> Any:
    """``value``, if a call can carry it as it is."""
    if isinstance(value, list):
        return [_json_value(item) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _json_value(item) for key, item in value.items()}
    if value is None or isinstance(value, str | int | float):
        return value
    raise ValueError(f"{value!r:.80} is no JSON value")
