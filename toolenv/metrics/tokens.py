"""Token costs of infeasible tasks (§4.3): what stopping costs, and what not stopping costs.

tok(i) is all tokens, input (cached included) and output (reasoning included), up to and including the
terminating decision. Episodes with an unknown count are left out and counted, never averaged as 0.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import get_args

from toolenv.episode import Episode
from toolenv.metrics.registry import metric
from toolenv.metrics.select import infeasible, task_key
from toolenv.metrics.stats import Estimate, GroupedSums, Mean, mean_estimate, ratio_estimate
from toolenv.types import Label


@metric("TC early-stop", "tokens", "infeasible")
def tc_early_stop(episodes: Iterable[Episode]) -> Estimate:
    """Token cost to early stop (§4.3): mean tokens of infeasible tasks that the agent stopped on."""
    return _cost(_arms(episodes)["infeasible"])


@metric("TC task-failure", "tokens", "infeasible")
def tc_task_failure(episodes: Iterable[Episode]) -> Estimate:
    """Token cost to task failure (§4.3): mean tokens of infeasible tasks that the agent did not stop on.

    Every false continue counts, truncated ones too: the paper's two sets together hold all infeasible tasks.
    """
    return _cost(_arms(episodes)["feasible"])


@metric("TC ratio", "ratio", "infeasible")
def tc_ratio(episodes: Iterable[Episode]) -> Estimate:
    """Token cost to task failure over token cost to early stop (§4.3, Table 3); undefined if either is."""
    arms = _arms(episodes)
    estimate = ratio_estimate(arms["feasible"].mean, arms["infeasible"].mean)
    tasks = {*arms["feasible"].tasks, *arms["infeasible"].tasks}
    return replace(
        estimate,
        tasks=len(tasks) if len(tasks) < estimate.n else None,
        excluded=sum(arm.unknown for arm in arms.values()),
        estimated=sum(arm.estimated for arm in arms.values()) if estimate.n else 0,
    )


@dataclass(frozen=True, slots=True)
class _Arm:
    """Infeasible episodes with one decision: their token counts, whose they are, and how well known."""

    mean: Mean
    tasks: Collection[Hashable]
    unknown: int
    estimated: int


def _cost(arm: _Arm) -> Estimate:
    return replace(mean_estimate(arm.mean), excluded=arm.unknown, estimated=arm.estimated)


def _arms(episodes: Iterable[Episode]) -> dict[Label, _Arm]:
    """Infeasible episodes by decision; ``"infeasible"`` is a stop."""
    arms = {decision: _Tally() for decision in get_args(Label)}
    for episode in infeasible(episodes):
        arms[episode.decision].add(episode)
    return {
        decision: _Arm(one.sums.mean(), one.sums.groups, one.unknown, one.estimated)
        for decision, one in arms.items()
    }


class _Tally:
    """What an arm has seen so far: a sum for each task, so that it does not grow with the trials."""

    def __init__(self) -> None:
        self.sums, self.unknown, self.estimated = GroupedSums(), 0, 0

    def add(self, episode: Episode) -> None:
        tokens = episode.tokens
        if tokens is None:
            self.unknown += 1
            return
        self.sums.add(task_key(episode), tokens)
        self.estimated += episode.estimated_tokens
