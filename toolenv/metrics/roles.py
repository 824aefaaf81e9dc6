"""Tokens by role in policies made of several, e.g. of the planner and the executor in Table 11."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace

from toolenv.episode import Episode, RoleTokens
from toolenv.facts.roles import role_usage
from toolenv.metrics.select import scored, task_key
from toolenv.metrics.stats import Estimate, GroupedSums, mean_estimate, no_data
from toolenv.rollout import Rollout

__all__ = [
    "RoleCosts",
    "cost_by_role",
    "early_stops",
    "role_costs",
    "role_usage",
    "task_failures",
    "tc_early_stop_by_role",
]


@dataclass(frozen=True, slots=True)
class RoleCosts:
    """Mean tokens that one role spends.

    Attributes:
        early_stop: on an infeasible task rightly stopped on: its part of TC early-stop (Table 11).
        task_failure: on an infeasible task not stopped on: its part of TC task-failure.
        episode: on any valid episode.
    """

    early_stop: Estimate
    task_failure: Estimate
    episode: Estimate


def role_costs(episodes: Iterable[Episode]) -> dict[str, RoleCosts]:
    """What each role spends; empty for policies that are not made of several."""
    spent = {of: _Spent() for of in (early_stops, task_failures, scored)}
    for one in episodes:
        if one.roles:
            for of, sums in spent.items():
                sums.extend(of((one,)))
    parts = [sums.means() for sums in spent.values()]
    names = dict.fromkeys(role for part in parts for role in part)
    return {role: RoleCosts(*(part.get(role, no_data()) for part in parts)) for role in names}


def early_stops(episodes: Iterable[Episode]) -> Iterator[Episode]:
    """The episodes that token cost to early stop (§4.3) is about: infeasible tasks rightly stopped on."""
    return (one for one in scored(episodes) if one.label == one.decision == "infeasible")


def task_failures(episodes: Iterable[Episode]) -> Iterator[Episode]:
    """Those of token cost to task failure (§4.3): infeasible tasks not stopped on."""
    return (one for one in scored(episodes) if (one.label, one.decision) == ("infeasible", "feasible"))


def cost_by_role(episodes: Iterable[Episode]) -> dict[str, Estimate]:
    """The mean tokens that each role spends on one of ``episodes``.

    A role that took no part in an episode spent 0 there (an executor, where the planner stopped). The values
    add up to the mean tokens of the episodes: one with an unknown count is left out for every role.

    Args:
        episodes: of policies made of several; those without roles are left out.
    """
    spent = _Spent()
    spent.extend(episodes)
    return spent.means()


class _Spent:
    """What roles spent, summed by task: no episode is kept."""

    def __init__(self) -> None:
        self._episodes: Counter[Hashable] = Counter()
        self._totals: dict[str, Counter[Hashable]] = {}
        self._estimated: Counter[str] = Counter()
        self._excluded = 0

    def extend(self, episodes: Iterable[Episode]) -> None:
        """Take episodes in; see :func:`cost_by_role`."""
        for one in episodes:
            if not one.roles:
                continue
            if one.tokens is None:
                self._excluded += 1
                continue
            task = task_key(one)
            self._episodes[task] += 1
            for role, tokens in one.roles.items():
                self._totals.setdefault(role, Counter())[task] += tokens.total or 0
                self._estimated[role] += tokens.estimated

    def means(self) -> dict[str, Estimate]:
        """The mean of each role over all episodes, also those it took no part in."""
        return {role: self._mean(role, totals) for role, totals in self._totals.items()}

    def _mean(self, role: str, totals: Counter[Hashable]) -> Estimate:
        sums = GroupedSums()
        for task, count in self._episodes.items():
            sums.add(task, totals[task], count)
        found = mean_estimate(sums.mean())
        return replace(found, excluded=self._excluded, estimated=self._estimated[role])


def tc_early_stop_by_role(rollouts: Iterable[Rollout]) -> dict[str, Estimate]:
    """Token cost to early stop (§4.3), split by role: what each role spends on a task rightly stopped on.

    The values add up to :func:`toolenv.metrics.tokens.tc_early_stop` of the same episodes. A policy that is
    not made of several has the one role ``agent``.

    Args:
        rollouts: read once; only counts are kept.
    """
    return cost_by_role(early_stops(_with_roles(one) for one in rollouts))


def _with_roles(one: Rollout) -> Episode:
    usages = role_usage(one.trace).items()
    tokens = {role: RoleTokens(use.input_tokens, use.output_tokens, use.estimated) for role, use in usages}
    return replace(one.episode, roles=tokens)
