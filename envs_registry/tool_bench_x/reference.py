"""What makes a task a success (paper 2, §4, Experimental Setup)."""

from __future__ import annotations

from dataclasses import dataclass

from envs_registry.tool_bench_x.answers import answer_of
from envs_registry.tool_bench_x.layout import Call
from toolenv.task import Score
from toolenv.trace import Trace
from toolenv.types import Action, Message, ToolCall, ToolCalls


@dataclass(frozen=True, slots=True)
class ToolBenchXReference:
    """Success: the final message holds the expected answer as a whole token.

    Upstream compares the final answer as a text; the paper also takes a final response that contains it. The
    state that upstream's backend records at completion is that same answer.

    Attributes:
        answer: as the record has it.
        calls: the reference path, if the record has one.
    """

    answer: str
    calls: tuple[Call, ...] = ()

    def score(self, trace: Trace) -> Score:
        """Judge the final message."""
        last = trace.steps[-1].action if trace.steps else None
        if isinstance(last, Message) and answer_of(self.answer).is_in(last.text):
            return Score(True)
        return Score(False, f"the final message does not hold the answer, {self.answer!r}")

    def solution(self) -> tuple[Action, ...]:
        """The reference path and the answer; empty without a path."""
        if not self.calls:
            return ()
        return (*solution_calls(self.calls), Message(closing_words(self.answer)))


def solution_calls(calls: tuple[Call, ...]) -> tuple[ToolCalls, ...]:
    """Calls as decisions, one at a time."""
    return tuple(ToolCalls((ToolCall(call.tool, call.arguments),)) for call in calls)


def closing_words(answer: str) -> str:
    """The message that ends a solution."""
    return f"The answer is: {answer}"
