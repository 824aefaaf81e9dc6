"""Tables by workflow, hazard, domain and so on: a row for each env, agent and value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolenv.episode import Episode
from toolenv.metrics.coverage import COVERAGE_FLOOR, Unresolved, unresolved
from toolenv.metrics.dimensions import DIMENSIONS, in_order
from toolenv.metrics.stats import Estimate
from toolenv.report.collect import Group, Pair
from toolenv.report.episode_table import EpisodeTable
from toolenv.report.rows import measured

NOT_FINISHED = "not finished"
"""The value of planned episodes that never ended: which tasks they were of is not on record."""


@dataclass(frozen=True)
class GroupRow:
    """The episodes of one env and agent with one value of a dimension.

    Attributes:
        env, agent: whose.
        value: of the dimension, e.g. ``"sequential"``.
        planned, valid, invalid: episodes. Those that never ended are a row of their own.
        metrics: every metric; withheld below 90% coverage, of the value or of the whole env.
        over_valid: the withheld ones as they are over the valid episodes alone.
    """

    env: str
    agent: str
    value: str
    planned: int
    valid: int
    invalid: int
    metrics: Mapping[str, Estimate]
    over_valid: Mapping[str, Estimate]


def group_rows(
    groups: Mapping[Pair, Group], dimension: str, settings: Mapping[str, Any] | None = None
) -> list[GroupRow]:
    """The rows of one dimension, sorted by env, agent and value.

    Args:
        groups: by env id and agent.
        dimension: one of :data:`toolenv.metrics.dimensions.DIMENSIONS`.
        settings: of metrics that have some, by name.
    """
    return [row for _, group in sorted(groups.items()) for row in _rows(group, dimension, settings or {})]


def _rows(group: Group, dimension: str, settings: Mapping[str, Any]) -> Iterator[GroupRow]:
    members: dict[str, EpisodeTable] = {}
    for episode in group.episodes:
        members.setdefault(DIMENSIONS[dimension](episode), EpisodeTable()).append(episode)
    missing = group.planned - len(group.episodes)
    for value in in_order(members):
        yield _row(
            group, value, members[value], _absent(group, members[value]), len(members[value]), settings
        )
    if missing:
        yield _row(group, NOT_FINISHED, [], Counter(), missing, settings)


def _absent(group: Group, members: Sequence[Episode]) -> Unresolved:
    """What is in doubt of a value: its invalid episodes; any that never ended, where those are many."""
    valid = sum(one.valid for one in group.episodes)
    doubtful = group.planned > 0 and valid / group.planned < COVERAGE_FLOOR
    missing = group.planned - len(group.episodes) if doubtful else 0
    return unresolved(members, len(members) + missing, group.labels)


def _row(
    group: Group,
    value: str,
    members: Sequence[Episode],
    absent: Unresolved,
    planned: int,
    settings: Mapping[str, Any],
) -> GroupRow:
    shown, over_valid = measured(members, absent, settings)
    valid = sum(one.valid for one in members)
    return GroupRow(*group.pair, value, planned, valid, len(members) - valid, shown, over_valid)
