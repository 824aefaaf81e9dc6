"""What missing and invalid episodes do to a rate.

Neither scoring failed infrastructure as failure nor dropping it is honest once there is much of it: the first
slanders the agent, the second lets one lucky success print as 100%. Below :data:`COVERAGE_FLOOR` a point is
withheld, and the bounds say what the missing episodes could still make of it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from toolenv.episode import Episode
from toolenv.metrics.registry import Kind, Metric
from toolenv.metrics.stats import Estimate
from toolenv.types import Label

COVERAGE_FLOOR = 0.9
"""The share of planned episodes that must be valid for a point estimate to be shown."""

Unresolved: TypeAlias = Counter[frozenset[Label]]
"""Planned episodes without an outcome, by the labels they may have."""


def unresolved(episodes: Sequence[Episode], planned: int, labels: frozenset[Label]) -> Unresolved:
    """The invalid episodes (their label is known) and the missing ones.

    Args:
        episodes: those that ended.
        planned: how many there were to be.
        labels: those that a missing one may have.
    """
    counts: Unresolved = Counter(frozenset({one.label}) for one in episodes if not one.valid)
    missing = planned - len(episodes)
    if missing > 0:
        counts[labels] += missing
    return counts


def with_coverage(
    estimate: Estimate, metric: Metric, episodes: Sequence[Episode], absent: Unresolved
) -> Estimate:
    """``estimate``, or its withheld form if fewer than 90% of the episodes it should rest on are valid.

    A withheld rate has the worst-case bounds ``count / all`` and ``(count + absent) / all``; a mean has none.
    What only some suites and conditions have, and no valid episode has, is not withheld but absent.
    """
    return covered(estimate, metric, valid_labels(episodes), absent)


def valid_labels(episodes: Iterable[Episode]) -> Counter[Label]:
    """How many valid episodes have each label."""
    return Counter(one.label for one in episodes if one.valid)


def covered(estimate: Estimate, metric: Metric, labels: Mapping[Label, int], absent: Unresolved) -> Estimate:
    """:func:`with_coverage` of episodes of which ``labels`` are valid."""
    if metric.table != "main" and estimate.n == 0:
        return estimate
    valid = sum(number for label, number in labels.items() if label in metric.over)
    lost = sum(number for possible, number in absent.items() if possible & metric.over)
    return estimate if is_enough(valid, lost) else withheld(estimate, metric.kind, lost)


def is_enough(valid: int, lost: int) -> bool:
    """Whether a point may rest on ``valid`` episodes where ``lost`` others have no outcome."""
    return lost == 0 or valid / (valid + lost) >= COVERAGE_FLOOR


def withheld(estimate: Estimate, kind: Kind, lost: int) -> Estimate:
    """The form without a point: a rate has worst-case bounds, a mean has none."""
    low = high = math.nan
    if kind == "rate":
        count = estimate.count or 0
        low, high = count / (estimate.n + lost), (count + lost) / (estimate.n + lost)
    return replace(estimate, value=math.nan, low=low, high=high, method="worst case", withheld=True)
