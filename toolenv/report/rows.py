"""Episodes to rows: one per (env, agent), and one per (suite, agent) that pools what FASS needs."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

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
"""How much of an invalid episode's error a row keeps: its end, where a traceback says what happened."""

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
        settings: what else its episodes were made with (subset, max_turns, masks, …). Only runs that agree in
            all of these are pooled.
    """

    episodes: Iterable[Episode]
    planned: Mapping[Pair, int] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


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
        invalid_episodes: the first 100 of them, and the first of each kind; errors cut short.
        trials: only where a task has several.
        pooled: the env ids a pooled row is made of.
        differing: the settings in which the runs of this row, or those of the env it would be pooled with,
            differ, each with its values. Where there are any, it is not pooled.
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
    differing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def coverage(self) -> float:
        """The share of planned episodes that are valid; NaN where none was planned."""
        return self.valid / self.planned if self.planned else float("nan")


def build_rows(runs: Iterable[Run]) -> list[Row]:
    """The rows, sorted by suite, env and agent; a pooled row follows the envs it pools.

    A pooled row takes the clean and the infeasible env of one suite and version, where the agent has
    episodes in both and their runs agree in their settings: together they are what FASS is defined over.
    Episodes are streamed, and texts in them cut as they pass.

    Raises:
        UsageError: an episode stands twice in the runs, or a run holds more than it planned.
    """
    groups = _collect(runs)
    halves = _halves(groups)
    apart = {group.pair: found for members in halves if (found := _differing(members)) for group in members}
    single = [
        replace(_row(*pair, [group]), differing=apart.get(pair) or _differing([group]))
        for pair, group in groups.items()
    ]
    alike = [members for members in halves if members[0].pair not in apart]
    pooled = [_row(env, agent, members) for (env, agent), members in _pools(alike).items()]
    return sorted(single + pooled, key=_order)


@dataclass(frozen=True)
class _Group:
    pair: Pair
    planned: int
    episodes: list[Episode]
    settings: Sequence[Mapping[str, Any]]

    @property
    def env(self) -> str:
        return self.pair[0]


def _collect(runs: Iterable[Run]) -> dict[Pair, _Group]:
    planned: Counter[Pair] = Counter()
    members: dict[Pair, list[Episode]] = {}
    settings: dict[Pair, list[Mapping[str, Any]]] = {}
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
        for pair in here:
            settings.setdefault(pair, []).append(run.settings)
    return {
        pair: _Group(pair, number, members.get(pair, []), settings.get(pair, []))
        for pair, number in planned.items()
    }


def _checked_plan(planned: Mapping[Pair, int], seen: Counter[Pair]) -> dict[Pair, int]:
    for pair, number in planned.items():
        if seen[pair] > number:
            raise UsageError(f"{pair[0]} with agent {pair[1]!r}: {seen[pair]} episodes, but {number} planned")
    return {**seen, **planned}


def _without_long_text(episode: Episode) -> Episode:
    text = episode.error
    if len(text) <= ERROR_CHARACTERS:
        return episode
    last = text.rstrip().rpartition("\n")[2]
    # A last line that is long itself begins with the kind of error.
    kept = "…" + text[-ERROR_CHARACTERS:] if len(last) <= ERROR_CHARACTERS else last[:ERROR_CHARACTERS] + "…"
    return replace(episode, error=kept)


def _shown(invalid: Sequence[Episode]) -> tuple[Episode, ...]:
    firsts: dict[str, int] = {}
    for number, episode in enumerate(invalid):
        firsts.setdefault(episode.decided_by, number)
    return tuple(invalid[at] for at in sorted({*range(min(len(invalid), INVALID_SHOWN)), *firsts.values()}))


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
        invalid_episodes=_shown(invalid),
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


def _halves(groups: Mapping[Pair, _Group]) -> list[list[_Group]]:
    """The clean and the infeasible group of each suite, version and agent that has episodes in both."""
    halves: dict[tuple[str, int, str], list[_Group]] = {}
    for (env, agent), group in sorted(groups.items()):
        suite, condition, version = _parts(env)
        if condition in ("clean", "infeasible") and group.episodes:
            halves.setdefault((suite, version, agent), []).append(group)
    return [members for members in halves.values() if len(members) == 2]


def _differing(groups: Sequence[_Group]) -> dict[str, tuple[str, ...]]:
    """The settings in which the runs behind groups differ, each with its values."""
    every = [settings for group in groups for settings in group.settings]
    names = sorted({name for settings in every for name in settings})
    values = {name: tuple(dict.fromkeys(_value(settings.get(name)) for settings in every)) for name in names}
    return {name: found for name, found in values.items() if len(found) > 1}


def _value(value: Any) -> str:
    return "not set" if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _pools(halves: Sequence[list[_Group]]) -> dict[Pair, list[_Group]]:
    """What is pooled, by the pooled row's name and agent."""
    keys = [_parts(members[0].env)[::2] for members in halves]
    versions = {suite: {version for one, version in keys if one == suite} for suite, _ in keys}
    pools: dict[Pair, list[_Group]] = {}
    for (suite, version), members in zip(keys, halves, strict=True):
        mark = f", v{version}" if len(versions[suite]) > 1 else ""
        pools[f"{suite} (pooled{mark})", members[0].pair[1]] = members
    return pools


def _order(row: Row) -> tuple[str, bool, str, str]:
    return (_parts(row.pooled[0] if row.pooled else row.env)[0], bool(row.pooled), row.env, row.agent)
