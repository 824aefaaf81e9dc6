"""The one judge: what an episode decided, whether it succeeded, and what that is worth.

The environment's reward, offline re-scoring and every table call :func:`judge`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from toolenv.actions import shown
from toolenv.errors import RAISED, UsageError, traceback_of
from toolenv.task import Score, Task
from toolenv.trace import INVALID_ENDINGS, Trace
from toolenv.types import Label, Malformed, Message, Stop

if TYPE_CHECKING:
    from toolenv.stopping import StopMatch


@dataclass(frozen=True, slots=True)
class RewardTable:
    """What each outcome pays. The default is FASS (Appendix D) episode by episode.

    Attributes:
        success: a feasible task completed.
        failure: a feasible task tried, or not tried, and not completed; also one that cannot be assessed.
        false_stop: a feasible task stopped.
        correct_stop: an infeasible task stopped.
        false_continue: an infeasible task not stopped.

    Raises:
        UsageError: one of them is no finite number.
    """

    success: float = 1.0
    failure: float = 0.0
    false_stop: float = 0.0
    correct_stop: float = 1.0
    false_continue: float = 0.0

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
                raise UsageError(f"reward {name}={shown(value)}: give a finite number")

    def reward(self, label: Label, decision: Label, success: bool | None) -> float:
        """The reward of one valid episode."""
        if decision == "infeasible":
            return self.correct_stop if label == "infeasible" else self.false_stop
        if label == "infeasible":
            return self.false_continue
        return self.success if success else self.failure


DEFAULT_REWARDS = RewardTable()


class Decision(NamedTuple):
    """ŷ: what the agent decided, and the evidence.

    Attributes:
        strict: an explicit stop signal only.
        lenient: the paper's equivalent phrasings count too (Appendix F).
        decided_by: ``stop_signal``, ``stop_phrase``, ``message``, ``malformed``, ``truncated``,
            ``truncated_by_length``, ``terminal_tool``, ``context_window``, ``grader_error``, or an
            invalid ending.
        span: the text that decided, where there is one.
    """

    strict: Label
    lenient: Label
    decided_by: str
    span: str = ""


class Verdict(NamedTuple):
    """The judgement of one episode.

    Attributes:
        label: y. decision: ŷ, strict. lenient_decision: ŷ, lenient.
        decided_by, span: see :class:`Decision`.
        success: s; a stop is never a success; ``None`` if the task cannot be assessed.
        reward: ``None`` for an invalid episode.
        valid: ``False`` if infrastructure failed: such an episode is no outcome.
        why: why it is no success, for people.
        accurate: paper 2's accuracy: the final state matches, or the final message holds the answer.
            ``None`` of infeasible tasks and invalid episodes, and where the suite does not tell it apart
            (see :class:`toolenv.task.TellsAccuracy`). A stop, or running out of decisions, is never
            accurate; a success always is.
    """

    label: Label
    decision: Label
    lenient_decision: Label
    decided_by: str
    span: str
    success: bool | None
    reward: float | None
    valid: bool
    why: str = ""
    accurate: bool | None = None

    def to_json(self) -> dict[str, Any]:
        """A fresh plain dict."""
        return self._asdict()


def judge(task: Task, trace: Trace, rewards: RewardTable = DEFAULT_REWARDS) -> Verdict:
    """Judge a finished episode from its trace alone."""
    decision = decide(trace)
    valid = trace.ending not in INVALID_ENDINGS
    try:
        score = _score(task, trace, decision) if valid else Score(None, trace.error)
        accurate = _accurate(task, trace, decision, score) if valid else None
    except RAISED as error:  # a broken grader must not lose the episode, nor pass for a failure of the agent
        valid, score, accurate = False, Score(None, traceback_of(error)), None
        decision = Decision("feasible", "feasible", "grader_error")
    return Verdict(
        label=task.label,
        decision=decision.strict,
        lenient_decision=decision.lenient,
        decided_by=decision.decided_by,
        span=decision.span,
        success=score.success,
        reward=rewards.reward(task.label, decision.strict, score.success) if valid else None,
        valid=valid,
        why=score.why,
        accurate=accurate,
    )


def decide(trace: Trace) -> Decision:
    """ŷ of a finished episode: the last decision's own visible text, never anything else."""
    if trace.ending in INVALID_ENDINGS or trace.ending == "context_window" or not trace.steps:
        return Decision("feasible", "feasible", trace.ending)
    last = trace.steps[-1].action
    if isinstance(last, Stop):
        return Decision("infeasible", "infeasible", "stop_signal", last.reason)
    if isinstance(last, Message):
        return decide_text(last.text)
    if isinstance(last, Malformed):
        return Decision(
            "feasible", "feasible", "truncated_by_length" if last.kind == "length" else "malformed"
        )
    return Decision("feasible", "feasible", trace.ending)


def decide_text(text: str) -> Decision:
    """ŷ of a closing message."""
    match = _find_stop()(text)
    if match is None:
        return Decision("feasible", "feasible", "message")
    strict: Label = "infeasible" if match.strict else "feasible"
    return Decision(strict, "infeasible", match.rule, match.span)


@cache
def _find_stop() -> Callable[[str], StopMatch | None]:
    from toolenv.stopping import find_stop  # its patterns take longer to compile than most to import

    return find_stop


def _score(task: Task, trace: Trace, decision: Decision) -> Score:
    if decision.strict == "infeasible":
        # A task that no behaviour can be judged on is not failed by stopping either.
        unassessable = "no_reference" in task.flags and _graded(task, trace).success is None
        return Score(None if unassessable else False, "stopped")
    if trace.ending == "truncated":
        return Score(False, "the decisions ran out")
    if trace.ending == "context_window":
        return Score(False, "the conversation outgrew the model's context window")
    return _graded(task, trace)


def _graded(task: Task, trace: Trace) -> Score:
    """What the reference says, if it says what it may."""
    score: object = task.reference.score(trace)
    if type(score) is Score and type(score.success) in _TRUTHS and type(score.why) is str:
        return score
    if not isinstance(score, Score):
        raise TypeError(f"score() returned {shown(score)}, expected a Score")
    if not isinstance(score.why, str):
        raise TypeError(f"score() returned a Score whose why is {shown(score.why)}, expected a str")
    return Score(_told("score() returned a Score whose success is", score.success), score.why)


_TRUTHS = (bool, type(None))


def _told(what: str, value: object) -> bool | None:
    """A truth that a reference tells, numpy's included."""
    if value is None or isinstance(value, bool | numpy.bool_):
        return None if value is None else bool(value)
    raise TypeError(f"{what} {shown(value)}, expected True, False or None")


def _accurate(task: Task, trace: Trace, decision: Decision, score: Score) -> bool | None:
    tell: Callable[[Trace], bool | None] | None = getattr(task.reference, "is_accurate", None)
    if task.label == "infeasible" or tell is None:
        return None
    told = _told("what is_accurate() returned", tell(trace)) if trace.steps else False
    if told is None:
        return None
    brought_to_an_end = decision.strict == "feasible" and trace.ending not in ("truncated", "context_window")
    return bool(score.success) or (told and brought_to_an_end)
