"""Single-turn BFCL tasks: a world that acknowledges, and what makes their calls right.

Upstream ships no implementation of these functions. The world answers every call that fits its schema with
the same acknowledgement, so that nothing it says can tell an agent whether the call was the right one.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from envs_registry.bfcl.ast_rules import check_calls
from envs_registry.bfcl.ground_truth import solution_calls
from toolenv.arguments import check_arguments
from toolenv.canonical import digest
from toolenv.schema import to_json_schema
from toolenv.task import Score
from toolenv.trace import Trace
from toolenv.types import Action, Message, Stop, ToolCall, ToolCalls, ToolSpec

ACKNOWLEDGEMENT = '{"status": "accepted"}'
"""What every call that fits its schema returns."""

DONE = Message("Done.")


class AcknowledgingWorld:
    """Accepts every call and remembers it."""

    def __init__(self, calls: Sequence[tuple[str, Mapping[str, Any]]] = ()) -> None:
        self._calls = list(calls)

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Acknowledge."""
        self._calls.append((name, arguments))
        return ACKNOWLEDGEMENT

    def fork(self) -> AcknowledgingWorld:
        """An independent copy."""
        return AcknowledgingWorld(self._calls)

    def digest(self) -> str:
        """Equal for equal calls in equal order."""
        return digest([[name, arguments] for name, arguments in self._calls])

    def view(self) -> Any:
        """The accepted calls, in order."""
        return {"accepted_calls": [[name, copy.deepcopy(dict(given))] for name, given in self._calls]}


def accepted_calls(trace: Trace) -> list[ToolCall]:
    """The calls the world accepted, in order, exact repeats once."""
    accepted: list[ToolCall] = []
    for call, _ in trace.calls("ok"):
        if not any(call.name == other.name and _same(call.arguments, other.arguments) for other in accepted):
            accepted.append(call)
    return accepted


def _same(left: Any, right: Any) -> bool:
    """Equality that, unlike Python's, tells 1 from True and from 1.0: the rules do so too."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_same(value, right[key]) for key, value in left.items())
    if isinstance(left, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right)


@dataclass(frozen=True)
class CallReference:
    """Success by upstream's AST rules, on the accepted calls.

    Attributes:
        category: upstream's category name, which picks the rule.
        documents: the functions as upstream documents them.
        ground_truth: upstream's acceptable calls.
    """

    category: str
    documents: Sequence[Mapping[str, Any]]
    ground_truth: Sequence[Mapping[str, Any]]

    def score(self, trace: Trace) -> Score:
        """Judge the accepted calls, exact repeats once; with the repeats, should the task ask for them."""
        once = self._check(accepted_calls(trace))
        return (
            once
            if once.success
            else self._check([call for call, _ in trace.calls("ok")])._replace(why=once.why)
        )

    def _check(self, calls: Sequence[ToolCall]) -> Score:
        made = [(call.name, call.arguments) for call in calls]
        return check_calls(self.category, self.documents, made, self.ground_truth)

    def solution(self) -> tuple[Action, ...]:
        """The ground truth's calls together, then a closing message."""
        return (ToolCalls(tuple(solution_calls(self.documents, self.ground_truth, self.fits))), DONE)

    def fits(self, tool: str, parameter: str, value: Any) -> bool:
        """Whether a value meets the schema that agents see."""
        document = next(one for one in self.documents if one["name"] == tool)
        schema, _ = to_json_schema(document["parameters"], where=tool)
        spec = ToolSpec(tool, parameters={**schema, "required": []})
        return not check_arguments(spec, {parameter: value}, "strict").problem


@dataclass(frozen=True)
class RelevanceReference:
    """Success where upstream only asks whether a call was made.

    Attributes:
        expected: ``"call"`` (relevance) or ``"no_call"`` (irrelevance).
    """

    expected: Literal["call", "no_call"]

    def score(self, trace: Trace) -> Score:
        """A call is any that could be read, accepted or not; its content is not checked."""
        called = any(isinstance(step.action, ToolCalls) for step in trace.steps)
        if self.expected == "call":
            return Score(called, "" if called else "a call was expected and none was made")
        return Score(not called, "a call was made though no tool fits" if called else "")

    def solution(self) -> tuple[Action, ...]:
        """Stop where no tool fits; where one does, upstream says nothing of how to call it."""
        return (Stop("no tool offered fits the request"),) if self.expected == "no_call" else ()
