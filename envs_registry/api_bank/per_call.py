"""Upstream's own protocol: each call by itself, after the recorded history (APIS.md 7).

For every recorded call the policy sees the dialogue up to it, as it was recorded, and decides once. Its
first call is made on a fresh world and compared with the recorded one by upstream's rule for that API. The
figure is the share of calls that are right. It says nothing of episodes: no state is carried on, and no
mistake has consequences. ::

    report = per_call_accuracy(policy, level=1)
    report.accuracy            # right calls of all calls, an Estimate
    report.kinds               # what went wrong, counted

Upstream scores ten calls of level 1 and sixteen of level 2 twice; here each counts once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

from envs_registry.api_bank.call_text import find_call
from envs_registry.api_bank.conversation import messages
from envs_registry.api_bank.dialogues import RecordedCall
from envs_registry.api_bank.registry import apis
from envs_registry.api_bank.rules import is_right
from envs_registry.api_bank.settings import SEARCHER, Setting, data_folder, settings
from envs_registry.api_bank.subsets import Level
from envs_registry.api_bank.tasks import YEAR, specs
from envs_registry.api_bank.tool_search import names_in
from envs_registry.api_bank.world import Answer
from toolenv.errors import ContextWindowError, ServerError
from toolenv.metrics.stats import Estimate, wilson
from toolenv.policy import Policy, PolicyFunction, as_policy
from toolenv.types import Action, Message, Observation, ToolCall, ToolCalls, ToolSpec

Kind: TypeAlias = Literal[
    "right",
    "no_call",
    "wrong_api",
    "refused",
    "exception",
    "wrong_output",
    "wrong_input",
    "context_window",
    "invalid",
]
"""What became of a sample: upstream's kinds of error in their order, the last two apart.

``refused``: the call reached no API (an unknown parameter, a missing one, no number). ``exception``: the API
failed. ``invalid``: the model server failed, so there is no outcome.
"""


@dataclass(frozen=True)
class CallSample:
    """One recorded call and what a policy knows before it.

    Attributes:
        setting: the dialogue and its world.
        place: which of the dialogue's turns it is.
        gold: the recorded call.
    """

    setting: Setting = field(repr=False)
    place: int
    gold: RecordedCall

    @cached_property
    def observation(self) -> Observation:
        """The recorded conversation so far and the tools upstream shows.

        Level 1: those of the dialogue. Levels 2 and 3: ToolSearcher and those it has found so far.
        """
        dialogue = self.setting.dialogue
        before = dialogue.turns[: self.place]
        context = () if dialogue.level == 3 else (YEAR,)
        return Observation((*context, *messages(before)), self._tools(), 1)

    def _tools(self) -> tuple[ToolSpec, ...]:
        dialogue = self.setting.dialogue
        if dialogue.level == 1:
            shown = {call.name for call in dialogue.calls}
        else:
            before = (turn for turn in dialogue.turns[: self.place] if isinstance(turn, RecordedCall))
            found = [names_in(call.result["output"]) for call in before if call.name == SEARCHER]
            shown = {SEARCHER}.union(*found)
        return tuple(
            tool for name, tool in specs(self.setting.data, self.setting.folder).items() if name in shown
        )

    def judge(self, action: Action, *, replay: bool = True, mended: bool = False) -> Kind:
        """What became of a decision.

        Args:
            action: its first call counts; a message may hold one in upstream's text form.
            replay: whether a call with recorded arguments gets the recorded result, as a live call after
                this history would. Without, only the implementations answer, as upstream's do: calls that
                depend on an earlier one are then wrong whoever makes them.
            mended: whether rules of upstream that can never hold are mended.
        """
        call = _first_call(action)
        if call is None:
            return "no_call"
        if call.name != self.gold.name:
            return "wrong_api"
        return self._compare(self._answer(call, replay), mended)

    def _answer(self, call: ToolCall, replay: bool) -> Answer:
        everything = frozenset(self.setting.documents) - {SEARCHER}
        world = self.setting.world(replay="always" if replay else "never", found_among=everything)
        return world.answer(call.name, call.arguments)

    def _compare(self, answer: Answer, mended: bool) -> Kind:
        if answer.result is None:
            return "refused"
        api = apis(self.setting.folder)[self.gold.name]
        if is_right(api.mended if mended else api.rule, answer.result, self.gold.result):
            return "right"
        if answer.failure is not None:
            return "exception"
        return "wrong_output" if answer.result["output"] != self.gold.result["output"] else "wrong_input"


@dataclass(frozen=True)
class PerCallReport:
    """What a policy made of the samples.

    Attributes:
        outcomes: each sample with what became of it, in order.
    """

    outcomes: tuple[tuple[CallSample, Kind], ...]

    @property
    def kinds(self) -> Counter[str]:
        """How often each outcome came up."""
        return Counter(kind for _, kind in self.outcomes)

    @property
    def accuracy(self) -> Estimate:
        """Right calls of all valid ones."""
        kinds = self.kinds
        return wilson(kinds["right"], len(self.outcomes) - kinds["invalid"])

    @property
    def dialogue_accuracy(self) -> Estimate:
        """Dialogues all of whose calls are right, of those whose calls are all valid."""
        of_dialogue: dict[str, list[Kind]] = {}
        for sample, kind in self.outcomes:
            of_dialogue.setdefault(sample.setting.dialogue.id, []).append(kind)
        valid = [kinds for kinds in of_dialogue.values() if "invalid" not in kinds]
        return wilson(sum(set(kinds) == {"right"} for kinds in valid), len(valid))


def call_samples(level: Level) -> Iterator[CallSample]:
    """Every recorded call of a level: 389, 119 and 245.

    Raises:
        DataMissingError: with the command that fetches the data.
    """
    for setting in settings(data_folder(level), level):
        for place, turn in enumerate(setting.dialogue.turns):
            if isinstance(turn, RecordedCall):
                yield CallSample(setting, place, turn)


def per_call_accuracy(
    policy: Policy | PolicyFunction,
    level: Level = 1,
    *,
    samples: Iterable[CallSample] | None = None,
    replay: bool = True,
    mended: bool = False,
) -> PerCallReport:
    """Evaluate a policy call by call.

    Args:
        policy: decides once per sample; see :class:`CallSample` for what it sees.
        level: which of upstream's levels.
        samples: evaluate these instead of all of the level.
        replay: see :meth:`CallSample.judge`.
        mended: see :meth:`CallSample.judge`.
    """
    chosen = call_samples(level) if samples is None else samples
    deciding = as_policy(policy)
    return PerCallReport(tuple((sample, _outcome(deciding, sample, replay, mended)) for sample in chosen))


def _outcome(policy: Policy, sample: CallSample, replay: bool, mended: bool) -> Kind:
    try:
        action, _ = policy.act(sample.observation, None)
    except ServerError:
        return "invalid"
    except ContextWindowError:
        return "context_window"
    return sample.judge(action, replay=replay, mended=mended)


def _first_call(action: Action) -> ToolCall | None:
    if isinstance(action, ToolCalls):
        return next((call for call in action.calls if not call.problem), None)
    return find_call(action.text) if isinstance(action, Message) else None
