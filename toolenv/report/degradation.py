"""Degradation V(P0) - V(Ph): what a hazard costs, over the tasks that both conditions have (paper 2, §3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from toolenv.facts.exposure import UNARMED
from toolenv.metrics.comparison import ACHIEVED, Comparison, Matching, compare, match
from toolenv.metrics.env_names import parts_of
from toolenv.metrics.paired_coverage import WITHHELD, covered_comparison
from toolenv.report.collect import Group, Pair, differing

OF_HAZARDS_ALONE = frozenset({"hazards", "hazard_seed"})
"""Settings that a clean run cannot have."""


@dataclass(frozen=True)
class Degradation:
    """The clean env against one hazard env of the same suite, version and agent.

    Attributes:
        clean, hazard, agent: the env ids, and the agent.
        metric: what V is: ``accuracy``, or ``sr`` where the suite does not tell accuracy apart.
        matching: how many pairs there are, and what has no partner.
        comparison: V of the clean condition, of the hazard condition, and their difference; withheld below
            90% of the pairs.
        privileged: whether the agent was told the truth.
        differing: the settings in which the runs differ; where there are any, nothing is compared.
    """

    clean: str
    hazard: str
    agent: str
    metric: str
    matching: Matching
    comparison: Comparison
    privileged: bool = False
    differing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def degradations(groups: Mapping[Pair, Group]) -> list[Degradation]:
    """A row for each hazard env whose clean env the same agent has episodes in, sorted by env and agent."""
    return [
        _degradation(clean, hazard)
        for (env, agent), hazard in sorted(groups.items())
        if (clean := groups.get((clean_of(env), agent))) and clean.episodes and hazard.episodes
    ]


def clean_of(env: str) -> str:
    """The clean id beside a hazard id; empty for what is no hazard id."""
    suite, condition, version = parts_of(env)
    return "" if condition in UNARMED or not condition else f"{suite}-clean-v{version}"


def _degradation(clean: Group, hazard: Group) -> Degradation:
    unlike = differing((clean, hazard), OF_HAZARDS_ALONE)
    pairs, matching = match(() if unlike else clean.episodes, () if unlike else hazard.episodes)
    accurate = any(side.accurate is not None for pair in pairs for side in pair)
    return Degradation(
        clean=clean.env,
        hazard=hazard.env,
        agent=hazard.pair[1],
        metric="accuracy" if accurate else "sr",
        matching=matching,
        comparison=covered_comparison(
            compare(pairs, ACHIEVED),
            ACHIEVED,
            (clean.played, hazard.played),
        ),
        privileged=hazard.privileged,
        differing=unlike,
    )


def degradation_notes(rows: Iterable[Degradation]) -> Iterator[str]:
    """What a reader must know beside the numbers."""
    for row in rows:
        if row.differing:
            settings = ", ".join(f"{name} ({'; '.join(values)})" for name, values in row.differing.items())
            yield f"{row.hazard}, {row.agent}: not compared with {row.clean}: the runs differ in {settings}."
        elif row.matching.only_second:
            yield (
                f"{row.hazard}, {row.agent}: {row.matching.only_second:,} of its valid episodes have no "
                "partner in the clean condition and are left out of the degradation."
            )
        if row.comparison.difference.withheld:
            yield f"{row.hazard}, {row.agent}: {WITHHELD}."
