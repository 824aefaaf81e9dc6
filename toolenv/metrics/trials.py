"""Repeated trials of the same tasks: per-task rates, flips and pass^k.

A server at temperature 0 with a fixed seed still varies with batching: one trial says little about one task.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from toolenv.episode import Episode
from toolenv.metrics.select import correct, scored
from toolenv.metrics.stats import Estimate, wilson, wilson_of_mean

TaskCounts: TypeAlias = Mapping[str, tuple[int, int]]
"""Task id to (correct trials, trials)."""


@dataclass(frozen=True)
class Trials:
    """What several trials of one env's tasks say.

    Attributes:
        counts: (correct, all) assessed valid trials of each task.
        flipping: the share of tasks, of those with at least two trials, whose trials disagree.
        pass_hat: pass^k for k from 1 to the largest number of trials.
    """

    counts: TaskCounts
    flipping: Estimate
    pass_hat: Mapping[int, Estimate]


def trials(episodes: Iterable[Episode]) -> Trials:
    """All of the above from one env's episodes; a trial counts as correct if it counts in FASS."""
    counts = task_counts(episodes)
    most = max((n for _, n in counts.values()), default=0)
    return Trials(counts, flipping(counts), {k: pass_hat(counts, k) for k in range(1, most + 1)})


def task_counts(episodes: Iterable[Episode]) -> dict[str, tuple[int, int]]:
    """(correct trials, trials) of each task; invalid and unassessed episodes are left out."""
    counts: dict[str, tuple[int, int]] = {}
    for episode in scored(episodes):
        right = correct(episode)
        if right is not None:
            before, n = counts.get(episode.task_id, (0, 0))
            counts[episode.task_id] = before + right, n + 1
    return counts


def flipping(counts: TaskCounts) -> Estimate:
    """The share of tasks whose trials disagree, of those with at least two."""
    repeated = [(right, n) for right, n in counts.values() if n > 1]
    return wilson(sum(0 < right < n for right, n in repeated), len(repeated))


def pass_hat(counts: TaskCounts, k: int) -> Estimate:
    """pass^k: the chance that k trials of a task are all correct (τ-bench), over tasks with k trials or more.

    Per task the unbiased estimator C(c, k) / C(n, k) for c correct trials of n.

    Raises:
        ValueError: ``k`` is less than 1.
    """
    if k < 1:
        raise ValueError(f"pass^k needs k >= 1, got {k}")
    chances = [math.comb(right, k) / math.comb(n, k) for right, n in counts.values() if n >= k]
    return wilson_of_mean(math.fsum(chances), len(chances))
