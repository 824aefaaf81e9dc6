"""Tokens by role in policies made of several, e.g. of the planner and the executor in Table 11.

They need traces, which episodes do not hold: see :func:`toolenv.runner.reading.read_rollouts`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace

from toolenv.ledger import AGENT, Ledger, add_ledgers, read_ledger
from toolenv.metrics.select import task_key
from toolenv.metrics.stats import Estimate, grouped_mean, mean_estimate
from toolenv.rollout import Rollout
from toolenv.trace import Trace
from toolenv.types import Usage


def role_usage(trace: Trace) -> dict[str, Usage]:
    """The tokens of an episode by role; together they are ``trace.usage``.

    A policy that is not made of several has one role, ``agent``; tokens of generations that led to no
    decision (``trace.lost_usage``) count there, too. A role inside a role is named ``outer/inner``.
    """
    ledgers: list[Ledger] = [read_ledger(step.action) for step in trace.steps]
    if trace.lost_usage is not None:
        ledgers.append({AGENT: trace.lost_usage})
    return add_ledgers(ledgers)


def tc_early_stop_by_role(rollouts: Iterable[Rollout]) -> dict[str, Estimate]:
    """Token cost to early stop (§4.3), split by role: what each role spends on a task rightly stopped on.

    A role that took no part in an episode spent 0 there (an executor, where the planner stopped). The values
    add up to :func:`toolenv.metrics.tokens.tc_early_stop` of the same episodes: one with an unknown count is
    left out for every role.

    Args:
        rollouts: read once; only counts are kept.
    """
    spent: list[tuple[Hashable, dict[str, Usage]]] = []
    excluded = 0
    for one in rollouts:
        episode = one.episode
        if not (episode.valid and episode.label == episode.decision == "infeasible"):
            continue
        if episode.tokens is None:
            excluded += 1
        else:
            spent.append((task_key(episode), role_usage(one.trace)))
    roles = dict.fromkeys(role for _, usages in spent for role in usages)
    return {role: _mean(role, spent, excluded) for role in roles}


def _mean(role: str, spent: list[tuple[Hashable, dict[str, Usage]]], excluded: int) -> Estimate:
    usages = [(task, usages.get(role)) for task, usages in spent]
    counts = [(task, (usage and usage.total_tokens) or 0) for task, usage in usages]
    estimated = sum(usage is not None and usage.estimated for _, usage in usages)
    return replace(mean_estimate(grouped_mean(counts)), excluded=excluded, estimated=estimated)
