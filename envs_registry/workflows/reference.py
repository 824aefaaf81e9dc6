"""What makes a task of this suite a success."""

from __future__ import annotations

from dataclasses import dataclass

from envs_registry.workflows.blueprint import Blueprint
from toolenv.task import Score
from toolenv.trace import Trace
from toolenv.types import Action, Message, ToolCall, ToolCalls


@dataclass(frozen=True, slots=True)
class WorkflowReference:
    """Success: the world ends as the task wants it, and the final message holds the answer.

    Paper 2 counts either as right; its tasks have one or the other. Here a task without a change wants the
    world left alone, so that both can be asked for; :meth:`state_is_right` and :meth:`is_answered` tell them
    apart.

    Attributes:
        blueprint: how the task is meant to be solved.
    """

    blueprint: Blueprint

    def score(self, trace: Trace) -> Score:
        """Judge the final state and the final message."""
        if not self.state_is_right(trace):
            return Score(False, "the world does not end as the task wants it")
        if not self.is_answered(trace):
            return Score(False, f"the final message does not hold the answer, {self.blueprint.answer.text!r}")
        return Score(True)

    def state_is_right(self, trace: Trace) -> bool:
        """Whether the world ended as the reference calls leave it."""
        return bool(trace.checkpoints) and trace.checkpoints[-1] == self.blueprint.digest

    def is_answered(self, trace: Trace) -> bool:
        """Whether the final message holds the answer as a whole token."""
        last = trace.steps[-1].action if trace.steps else None
        return isinstance(last, Message) and self.blueprint.answer.is_in(last.text)

    def is_accurate(self, trace: Trace) -> bool:
        """Paper 2's accuracy: the change that was asked for is made, or the final message holds the answer.

        Where no change was asked for, a world left alone proves nothing: there only the message counts.
        """
        changed = self.blueprint.changes_state and self.state_is_right(trace)
        return changed or self.is_answered(trace)

    def solution(self) -> tuple[Action, ...]:
        """The reference calls, those of a stage together, and a final message."""
        calls = [
            ToolCalls(tuple(ToolCall(call.tool, call.arguments) for call in stage))
            for stage in self.blueprint.stages
        ]
        unit = f" {self.blueprint.answer.unit}" if self.blueprint.answer.unit else ""
        return (*calls, Message(f"The answer is {self.blueprint.answer.text}{unit}."))
