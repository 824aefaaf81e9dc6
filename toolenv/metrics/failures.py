"""The four failure behaviours (paper 2, Error Analysis, Figure 6 and Table 6).

The paper names four signals and the thresholds at their medians, and says that each failed episode is in
exactly one category; the order of its rules is not printed. Here the signals decide in the order in which the
paper lists them, each failed episode at the first rule that fits:

1. *early abandonment*: it gave no usable answer of its own accord (a stop, a blank or unreadable closing), or
   made no call after its first failed call;
2. *ineffective continuation*: it made at least A_t = 3 calls after the first failed call;
3. *under-utilization*: it made fewer calls than R_t = 1.00 times the reference solution's;
4. *answer synthesis failure*: everything else: it used the tools, and the answer was wrong.

The paper's harness makes every agent answer in the end. An episode that ran out of decisions or context here
was not abandoned, so that only the calls decide in which category it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from toolenv.episode import Episode
from toolenv.metrics.recovery import expansion
from toolenv.metrics.registry import metric
from toolenv.metrics.select import feasible, rate
from toolenv.metrics.stats import Estimate

Behaviour: TypeAlias = Literal[
    "early_abandonment", "ineffective_continuation", "under_utilization", "answer_synthesis_failure"
]

_OUT_OF_BUDGET = frozenset({"truncated", "context_window"})


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where the behaviours part; by default the paper's medians.

    Attributes:
        post_error_calls: A_t from which an episode is an ineffective continuation.
        call_expansion: R_t below which tools are under-utilized.
    """

    post_error_calls: float = 3
    call_expansion: float = 1.0


MEDIANS = Thresholds()


def failure_behaviour(episode: Episode, thresholds: Thresholds = MEDIANS) -> Behaviour | None:
    """The category of a failed episode; ``None`` if its record does not tell."""
    reaction = episode.reaction
    if reaction is None:
        return None
    abandoned = bool(reaction.failure) and reaction.calls_after == 0
    if abandoned or not (_has_answer(episode) or episode.decided_by in _OUT_OF_BUDGET):
        return "early_abandonment"
    if reaction.calls_after >= thresholds.post_error_calls:
        return "ineffective_continuation"
    ratio = expansion(episode)
    if ratio is None:
        return None
    return "under_utilization" if ratio < thresholds.call_expansion else "answer_synthesis_failure"


@metric("Ineffective continuation", "rate", "feasible", table="failures")
def ineffective_continuation(episodes: Iterable[Episode], *, thresholds: Thresholds = MEDIANS) -> Estimate:
    """The share of failed episodes with at least A_t = 3 calls after the first failed call (Table 6).

    Of those that are no early abandonment.
    """
    return _share(episodes, "ineffective_continuation", thresholds)


@metric("Early abandonment", "rate", "feasible", table="failures")
def early_abandonment(episodes: Iterable[Episode], *, thresholds: Thresholds = MEDIANS) -> Estimate:
    """The share of failed episodes without a usable answer, or without a call after the first failed one."""
    return _share(episodes, "early_abandonment", thresholds)


@metric("Under-utilization", "rate", "feasible", table="failures")
def under_utilization(episodes: Iterable[Episode], *, thresholds: Thresholds = MEDIANS) -> Estimate:
    """The share of failed episodes that made fewer calls than R_t = 1.00 times the reference solution's.

    Of those that are neither early abandonment nor ineffective continuation.
    """
    return _share(episodes, "under_utilization", thresholds)


@metric("Answer synthesis failure", "rate", "feasible", table="failures")
def answer_synthesis_failure(episodes: Iterable[Episode], *, thresholds: Thresholds = MEDIANS) -> Estimate:
    """The share of failed episodes in none of the other categories: tools were used, the answer is wrong."""
    return _share(episodes, "answer_synthesis_failure", thresholds)


def _has_answer(episode: Episode) -> bool:
    return episode.reaction is not None and episode.reaction.answered and episode.decision == "feasible"


def _failed(episodes: Iterable[Episode]) -> Iterator[Episode]:
    return (one for one in feasible(episodes) if one.achieved is False)


def _share(episodes: Iterable[Episode], behaviour: Behaviour, thresholds: Thresholds) -> Estimate:
    def outcome(one: Episode) -> bool | None:
        found = failure_behaviour(one, thresholds)
        return None if found is None else found == behaviour

    return rate(_failed(episodes), outcome)
