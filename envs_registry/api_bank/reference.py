"""Whether an episode did what a dialogue asks: every call it needs, made right in a live state.

The calls an agent made are made again on a fresh world, so that no live episode is touched. Each call the
dialogue needs must find one of them that is right by upstream's rule for that API, no two the same. Order
counts where it changes a result: a call made too early gets another answer, which is not right. And nothing
else may be left changed: the tables must end as the right calls alone leave them.

Calls of ToolSearcher are a means and not needed. A call that is repeated in a dialogue is needed once: all
that are repeated only look something up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from envs_registry.api_bank.conversation import decisions
from envs_registry.api_bank.dialogues import RecordedCall
from envs_registry.api_bank.recording import key_of
from envs_registry.api_bank.registry import apis
from envs_registry.api_bank.rules import is_right
from envs_registry.api_bank.settings import SEARCHER, Setting
from toolenv.canonical import canonical
from toolenv.task import Score
from toolenv.trace import Trace
from toolenv.types import Action, ToolCall, ToolResult

NOTHING_NEEDED = "the dialogue records no call, so nothing says what would be right"


@dataclass(frozen=True)
class DialogueReference:
    """The truth of a task.

    Attributes:
        setting: the dialogue and its world.
        searches: whether an agent has ToolSearcher, so that the solution uses it.
    """

    setting: Setting
    searches: bool = False

    @cached_property
    def needed(self) -> tuple[RecordedCall, ...]:
        """The calls an agent has to make."""
        calls = [call for call in self.setting.dialogue.calls if call.name != SEARCHER]
        return tuple({key_of(call.name, call.arguments): call for call in calls}.values())

    def score(self, trace: Trace) -> Score:
        """Judge a trace; ``why`` names the first needed call that is missing, or what else was changed."""
        if not self.needed:
            return Score(None, NOTHING_NEEDED)
        if trace.ending == "truncated":
            return Score(False, "the decisions ran out")
        why = self._problem([call for call, result in trace.calls() if _ran(result)], trace.seed)
        return Score(not why, why)

    def solution(self) -> tuple[Action, ...]:
        """What the recorded assistant did, where that is anything."""
        if not self.needed:
            return ()
        turns = self.setting.dialogue.turns
        if not self.searches:
            turns = tuple(
                turn for turn in turns if not (isinstance(turn, RecordedCall) and turn.name == SEARCHER)
            )
        return decisions(turns)

    def _problem(self, made: Sequence[ToolCall], seed: int) -> str:
        world = self.setting.world(seed)
        results = [world.answer(call.name, call.arguments).result for call in made]
        fits = [list(self._fitting(needed, made, results)) for needed in self.needed]
        chosen, unmet = _assign(fits)
        if unmet is not None:
            needed = self.needed[unmet]
            return f"no call is right for {needed.name}{dict(needed.arguments)}"
        if len(chosen) == len(made):
            return ""
        alone = self.setting.world(seed)
        for at in sorted(chosen):
            alone.answer(made[at].name, made[at].arguments)
        return _difference(world.lasting_changes(), alone.lasting_changes())

    def _fitting(
        self, needed: RecordedCall, made: Sequence[ToolCall], results: Sequence[Mapping[str, Any] | None]
    ) -> Iterator[int]:
        """The places of the made calls that are right for a needed one."""
        rule = apis(self.setting.folder)[needed.name].mended
        for at, (call, result) in enumerate(zip(made, results, strict=True)):
            if call.name == needed.name and result is not None and is_right(rule, result, needed.result):
                yield at


def _ran(result: ToolResult) -> bool:
    """Whether the world answered, rather than somebody in front of it."""
    return result.record is not None and "source" in result.record


def _assign(fits: Sequence[Iterable[int]]) -> tuple[set[int], int | None]:
    """A made call for each needed one, no two the same, and the first needed one that gets none."""
    holder: dict[int, int] = {}  # a matching, made larger along augmenting paths

    def place(needed: int, tried: set[int]) -> bool:
        for at in fits[needed]:
            if at not in tried:
                tried.add(at)
                if at not in holder or place(holder[at], tried):
                    holder[at] = needed
                    return True
        return False

    for needed in range(len(fits)):
        if not place(needed, set()):
            return set(holder), needed
    return set(holder), None


def _difference(changed: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    tables = sorted(
        name
        for name in changed.keys() | expected.keys()
        if canonical(changed.get(name)) != canonical(expected.get(name))
    )
    return f"other calls changed {', '.join(tables)}" if tables else ""
