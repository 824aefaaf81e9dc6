"""What agents do after the first failed call (paper 2, Figs. 3 and 5); see :mod:`toolenv.facts.reaction`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolenv.episode import Episode
from toolenv.facts.reaction import FirstAction
from toolenv.metrics.registry import metric
from toolenv.metrics.select import feasible, rate, task_key
from toolenv.metrics.stats import Estimate, grouped_mean, mean_estimate


@metric("First: retry", "rate", "feasible", table="recovery")
def first_action_retry(episodes: Iterable[Episode]) -> Estimate:
    """The share of first actions after the first failed call that call a failed tool again (paper 2, Fig. 3).

    Of feasible tasks with a failed call. Episodes cut off before a next decision are left out and counted.
    """
    return _first(episodes, "retry")


@metric("First: switch", "rate", "feasible", table="recovery")
def first_action_switch(episodes: Iterable[Episode]) -> Estimate:
    """The share of first actions after the first failed call that call other tools only."""
    return _first(episodes, "switch")


@metric("First: other", "rate", "feasible", table="recovery")
def first_action_other(episodes: Iterable[Episode]) -> Estimate:
    """The share of first actions after the first failed call that neither call nor end the episode."""
    return _first(episodes, "other")


@metric("First: end", "rate", "feasible", table="recovery")
def first_action_stop(episodes: Iterable[Episode]) -> Estimate:
    """The share of first actions after the first failed call that end the episode, in a stop or an answer.

    Direct termination in the paper's words; not how often an agent said that it stops.
    """
    return _first(episodes, "stop")


@metric("Calls after", "calls", "feasible", table="recovery")
def post_error_calls(episodes: Iterable[Episode]) -> Estimate:
    """Post-error calls A_t (paper 2, §4): mean calls in the decisions after the first failed call.

    Over episodes of feasible tasks in which a call failed.
    """
    counts = ((task_key(one), one.reaction.calls_after) for one in _failed(episodes) if one.reaction)
    return mean_estimate(grouped_mean(counts))


@metric("Call expansion", "ratio", "feasible", table="recovery")
def call_expansion(episodes: Iterable[Episode]) -> Estimate:
    """Call expansion ratio R_t (paper 2, Fig. 5): mean of calls made over calls of the reference solution.

    The reference solution is the clean task's own. Over feasible tasks that have one with at least one call.
    """
    found = ((task_key(one), expansion(one)) for one in feasible(episodes))
    return mean_estimate(grouped_mean((task, ratio) for task, ratio in found if ratio is not None))


def expansion(episode: Episode) -> float | None:
    """R_t of an episode; ``None`` if no reference calls are known."""
    calls = episode.task.reference_calls
    return episode.calls / calls if calls else None


def _failed(episodes: Iterable[Episode]) -> Iterator[Episode]:
    """The episodes of feasible tasks in which a call failed."""
    return (one for one in feasible(episodes) if one.reaction is not None and one.reaction.failure)


def _first(episodes: Iterable[Episode], action: FirstAction) -> Estimate:
    def outcome(one: Episode) -> bool | None:
        if one.reaction is None or one.reaction.first_action == "none":
            return None
        return one.reaction.first_action == action

    return rate(_failed(episodes), outcome)
