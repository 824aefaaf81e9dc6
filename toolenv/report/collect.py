"""Runs to groups: the episodes of each (env, agent), what was planned, and how they were made."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from toolenv.episode import Episode
from toolenv.errors import UsageError
from toolenv.metrics.env_names import parts_of
from toolenv.metrics.paired_coverage import Played
from toolenv.report.episode_table import EpisodeTable
from toolenv.report.raised_at import up_to_raised
from toolenv.source.conditions import DRAWN
from toolenv.types import Label

ERROR_CHARACTERS = 300
"""How much of an invalid episode's error a row keeps: its end, where a traceback says what happened."""

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
        privileged: whether its agent is told the truth.
    """

    episodes: Iterable[Episode]
    planned: Mapping[Pair, int] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    privileged: bool = False


@dataclass(frozen=True)
class Group:
    """The episodes of one env and agent.

    Attributes:
        pair: the env id and the agent.
        planned: how many episodes there were to be.
        episodes: those that ended; errors in them are cut short.
        settings: those of each run it comes from.
        privileged: whether the agent was told the truth in any of them.
    """

    pair: Pair
    planned: int
    episodes: Sequence[Episode]
    settings: Sequence[Mapping[str, Any]]
    privileged: bool = False

    @property
    def env(self) -> str:
        """The env id."""
        return self.pair[0]

    @property
    def labels(self) -> frozenset[Label]:
        """Those that its episodes may have."""
        return labels_of(self.env)

    @property
    def played(self) -> Played:
        """What a comparison takes of it."""
        return Played(self.episodes, self.planned, self.labels)


def collect(runs: Iterable[Run]) -> dict[Pair, Group]:
    """Every group, by env id and agent. Episodes are streamed, and texts in them cut as they pass.

    Raises:
        UsageError: an episode stands twice in the runs, or a run holds more than it planned.
    """
    planned: Counter[Pair] = Counter()
    members: dict[Pair, EpisodeTable] = {}
    settings: dict[Pair, list[Mapping[str, Any]]] = {}
    told: set[Pair] = set()
    for run in runs:
        here: Counter[Pair] = Counter()
        for episode in run.episodes:
            pair = (episode.env, episode.agent)
            here[pair] += 1
            members.setdefault(pair, EpisodeTable()).append(_without_long_text(episode))
        checked = _checked_plan(run.planned, here)
        planned.update(checked)
        told.update(checked if run.privileged else ())
        for pair in here:
            settings.setdefault(pair, []).append(run.settings)
    for table in members.values():
        if (twice := table.repeated()) is not None:
            raise UsageError(f"an episode stands twice (env, agent, task, trial, seed): {twice}")
    return {
        pair: Group(pair, number, members.get(pair, []), settings.get(pair, []), pair in told)
        for pair, number in planned.items()
    }


def differing(
    groups: Iterable[Group], apart_from: frozenset[str] = frozenset()
) -> dict[str, tuple[str, ...]]:
    """The settings in which the runs behind groups differ, each with its values.

    Args:
        groups: whose runs.
        apart_from: settings that may differ.
    """
    every = [settings for group in groups for settings in group.settings]
    names = sorted({name for settings in every for name in settings} - apart_from)
    values = {name: tuple(dict.fromkeys(_value(settings.get(name)) for settings in every)) for name in names}
    return {name: found for name, found in values.items() if len(found) > 1}


def labels_of(env: str) -> frozenset[Label]:
    """The labels that episodes of an id may have."""
    condition = parts_of(env)[1]
    if condition in DRAWN or not condition:
        return frozenset({"feasible", "infeasible"})
    return frozenset({"infeasible" if condition == "infeasible" else "feasible"})


def _checked_plan(planned: Mapping[Pair, int], seen: Counter[Pair]) -> dict[Pair, int]:
    for pair, number in planned.items():
        if seen[pair] > number:
            raise UsageError(f"{pair[0]} with agent {pair[1]!r}: {seen[pair]} episodes, but {number} planned")
    return {**seen, **planned}


def _without_long_text(episode: Episode) -> Episode:
    if len(episode.error) <= ERROR_CHARACTERS:
        return episode
    text = up_to_raised(episode.error)
    if len(text) <= ERROR_CHARACTERS:
        return replace(episode, error=text)
    last = text.rstrip().rpartition("\n")[2]
    # A last line that is long itself begins with the kind of error.
    kept = "…" + text[-ERROR_CHARACTERS:] if len(last) <= ERROR_CHARACTERS else last[:ERROR_CHARACTERS] + "…"
    return replace(episode, error=kept)


def _value(value: Any) -> str:
    return "not set" if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
