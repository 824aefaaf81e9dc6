"""What makes a τ-bench episode a success: the right end state, and what the user has to be told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from envs_registry.tau_bench.domains import TERMINAL_TOOLS
from envs_registry.tau_bench.outputs import missing_outputs, missing_values
from envs_registry.tau_bench.world import TauWorld
from toolenv.errors import ToolError
from toolenv.task import Score
from toolenv.trace import Trace
from toolenv.types import Action, Message, ToolCall, ToolCalls

MissingRule: TypeAlias = Callable[[Iterable[str], Sequence[str]], tuple[str, ...]]
"""``rule(outputs, messages)``: the required outputs that were not said."""


@dataclass(frozen=True)
class EndStateReference:
    """Upstream's reward: the database ends as the ground truth leaves it, and every output was said.

    Which calls were made, and which of them failed, does not matter (TOOLS.md, section 5; FIELD-060).

    Attributes:
        make_world: a world in which nothing has happened yet.
        actions: upstream's ground truth; some of its calls return errors.
        outputs: texts that have to stand in the agent's messages.
    """

    make_world: Callable[[], TauWorld]
    actions: tuple[ToolCall, ...]
    outputs: tuple[str, ...]

    @cached_property
    def expected(self) -> str:
        """The digest of the database after the ground truth, on a world of its own."""
        world = self.make_world()
        for action in self.actions:
            if action.name not in TERMINAL_TOOLS:
                with suppress(ToolError):
                    world.call(action.name, action.arguments)
        return world.digest()

    def score(self, trace: Trace) -> Score:
        """Judge by upstream's rule."""
        return self._score(trace, missing_outputs)

    def score_strictly(self, trace: Trace) -> Score:
        """Judge with whole words and numbers instead of upstream's substrings (FIELD-030).

        See :func:`envs_registry.tau_bench.outputs.missing_values`. Nothing in the engine calls this: scores
        under it do not compare with published ones.
        """
        return self._score(trace, missing_values)

    def _score(self, trace: Trace, missing: MissingRule) -> Score:
        if trace.ending not in ("message", "terminal_tool"):
            return Score(False, "the episode was not brought to an end")
        if trace.checkpoints[-1] != self.expected:
            return Score(False, "the database is not as the ground truth leaves it")
        said = [step.action.text for step in trace.steps if isinstance(step.action, Message)]
        unsaid = missing(self.outputs, said)
        return Score(not unsaid, f"the user was not told {', '.join(unsaid)}" if unsaid else "")

    def solution(self) -> tuple[Action, ...]:
        """The ground truth's calls together, then its transfer, or a message that holds the outputs.

        Together, since one task has more of them than an episode has decisions.
        """
        calls = tuple(action for action in self.actions if action.name not in TERMINAL_TOOLS)
        transfers = tuple(action for action in self.actions if action.name in TERMINAL_TOOLS)
        message = Message("\n".join(("Done.", *self.outputs)))
        closing = ToolCalls(transfers[-1:]) if transfers and not self.outputs else message
        return (ToolCalls(calls), closing) if calls else (closing,)
