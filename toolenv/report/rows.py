"""Episodes to rows: one per (env, agent), and one per (suite, agent) that pools what FASS needs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from toolenv.episode import Episode
from toolenv.errors import UsageError
from toolenv.metrics.coverage import Unresolved, unresolved, with_coverage
from toolenv.metrics.outcomes import (
    FlagCount,
    Outcome,
    TokenKnowledge,
    decided_by_counts,
    flag_counts,
    invalid_counts,
    outcome_counts,
    token_knowledge,
)
from toolenv.metrics.registry import catalogue
from toolenv.metrics.stats import Estimate
from toolenv.metrics.trials import Trials, trials

ERROR_CHARACTERS = 300
"""How much of an invalid episode's error a row keeps."""

INVALID_SHOWN = 100
"""How many invalid episodes a row keeps."""

Pair: TypeAlias = tuple[str, str]
"""(env id, agent)."""


@dataclass(frozen=True)
class Run:
    """What a report is made from.

    Attributes:
        episodes: read once.
        planned: how many episodes each (env, agent) was to have; for a pair not named, as many as there are.
    """

    episodes: Iterable[Episode]
    planned: Mapping[Pair, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        env: the env id, or ``"ToolFeas/BFCL (pooled)"``.
        agent: the policy's name.
        planned, valid, invalid: episodes; what is neither valid nor invalid was never finished.
        metrics: every metric; withheld below 90% coverage.
        over_valid: the withheld ones as they are over the valid episodes alone.
        outcomes: valid episodes by how they ended.
        decided_by: valid episodes by what decided them.
        tokens: valid episodes by how well their tokens are known.
        flagged: what happened on flagged tasks. They count in the metrics, too.
        invalid_by: invalid episodes by kind of error.
        invalid_episodes: the first 100 of them, errors cut short.
        trials: only where a task has several.
        pooled: the env ids a pooled row is made of.
    """

    env: str
    agent: str
    planned: int
    valid: int
    invalid: int
    metrics: Mapping[str, Estimate]
    over_valid: Mapping[str, Estimate]
    outcomes: Mapping[Outcome, int]
    decided_by: Mapping[str, int]
    tokens: TokenKnowledge
    flagged: Mapping[str, FlagCount]
    invalid_by: Mapping[str, int]
    invalid_episodes: tuple[Episode, ...]
    trials: Trials | None = None
    pooled: tuple[str, ...] = ()

    @property
    def coverage(self) -> float:
        """The share of planned episodes that are valid; NaN where none was planned."""
        return self.valid / self.planned if self.planned else float("nan")


def build_rows(runs: Iterable[Run]) -> list[Row]:
    """The rows, sorted by suite, env and agent; a pooled row follows the envs it pools.

    A pooled row takes the clean and the infeasible env of one suite and version, where the agent has
    episodes in both: together they are what FASS is defined over. Episodes are streamed, and texts in them
    cut as they pass.

    Raises:
        UsageError: an episode stands twice in the runs, or a run holds more than it planned.
    """
    groups = _collect(runs)
    single = [_row(env, agent, [group]) for (env, agent), group in groups.items()]
    pooled = [_row(env, agent, members) for (env, agent), members in _pools(groups).items()]
    return sorted(single + pooled, key=_order)


@dataclass(frozen=True)
class _Group:
    env: str
    planned: int
    episodes: list[Episode]


def _collect(runs: Iterable[Run]) -> dict[Pair, _Group]:
    planned: Counter[Pair] = Counter()
    members: dict[Pair, list[Episode]] = {}
    seen: set[tuple[str, str, str, int, int]] = set()
    for run in runs:
        here: Counter[Pair] = Counter()
        for episode in run.episodes:
            pair = (episode.env, episode.agent)
            identity = (*pair, episode.task_id, episode.trial, episode.seed)
            if identity in seen:
                raise UsageError(f"an episode stands twice (env, agent, task, trial, seed): {identity}")
            seen.add(identity)
            here[pair] += 1
            members.setdefault(pair, []).append(_without_long_text(episode))
        planned.update(_checked_plan(run.planned, here))
    return {pair: _Group(pair[0], number, members.get(pair, [])) for pair, number in planned.items()}


def _checked_plan(planned: Mapping[Pair, int], seen: Counter[Pair]) -> dict[Pair, int]:
    for pair, number in planned.items():
        if seen[pair] > number:
            raise UsageError(f"{pair[0]} with agent {pair[1]!r}: {seen[pair]} episodes, but {number} planned")
    return {**seen, **planned}


def _without_long_text(episode: Episode) -> Episode:
    if len(episode.error) <= ERROR_CHARACTERS:
        return episode
    return replace(episode, error=episode.error[:ERROR_CHARACTERS] + "…")


def _row(env: str, agent: str, groups: Sequence[_Group]) -> Row:
    episodes = [episode for group in groups for episode in group.episodes]
    absent: Unresolved = Counter()
    for group in groups:
        absent.update(unresolved(group.episodes, group.planned))
    plain = {name: metric(episodes) for name, metric in catalogue().items()}
    shown = {name: with_coverage(plain[name], catalogue()[name], episodes, absent) for name in plain}
    invalid = [one for one in episodes if not one.valid]
    return Row(
        env=env,
        agent=agent,
        planned=sum(group.planned for group in groups),
        valid=len(episodes) - len(invalid),
        invalid=len(invalid),
        metrics=shown,
        over_valid={name: plain[name] for name, estimate in shown.items() if estimate.withheld},
        outcomes=outcome_counts(episodes),
        decided_by=decided_by_counts(episodes),
        tokens=token_knowledge(episodes),
        flagged=flag_counts(episodes),
        invalid_by=invalid_counts(episodes),
        invalid_episodes=tuple(invalid[:INVALID_SHOWN]),
        trials=_repeated(episodes) if len(groups) == 1 else None,
        pooled=tuple(group.env for group in groups) if len(groups) > 1 else (),
    )


def _repeated(episodes: Sequence[Episode]) -> Trials | None:
    found = trials(episodes)
    return found if len(found.pass_hat) > 1 else None


_ID = re.compile(r"(?P<suite>[^-]+)-(?P<condition>.+)-v(?P<version>\d+)")


def _parts(env: str) -> tuple[str, str, int]:
    """(suite with its namespace, condition, version) of an id; other names are a suite of their own."""
    match = _ID.fullmatch(env)
    return (match["suite"], match["condition"], int(match["version"])) if match else (env, "", 0)


def _pools(groups: Mapping[Pair, _Group]) -> dict[Pair, list[_Group]]:
    """The clean and infeasible groups of each (pooled row's name, agent) that has episodes in both."""
    halves: dict[tuple[str, int, str], list[_Group]] = {}
    for (env, agent), group in sorted(groups.items()):
        suite, condition, version = _parts(env)
        if condition in ("clean", "infeasible") and group.episodes:
            halves.setdefault((suite, version, agent), []).append(group)
    both = {key: members for key, members in halves.items() if len(members) == 2}
    versions = {suite: {version for one, version, _ in both if one == suite} for suite, _, _ in both}
    return {
        (f"{suite} (pooled{f', v{version}' if len(versions[suite]) > 1 else ''})", agent): members
        for (suite, version, agent), members in both.items()
    }


def _order(row: Row) -> tuple[str, bool, str, str]:
    return (_parts(row.pooled[0] if row.pooled else row.env)[0], bool(row.pooled), row.env, row.agent)
