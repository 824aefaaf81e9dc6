"""Episodes to rows: one per (env, agent), and one per (suite, agent) that pools what FASS needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

from toolenv.episode import Episode
from toolenv.metrics.coverage import Unresolved, covered, unresolved, valid_labels
from toolenv.metrics.env_names import parts_of
from toolenv.metrics.outcomes import (
    NONE_ARMED,
    ExposureCounts,
    FlagCount,
    Outcome,
    TokenKnowledge,
    decided_by_counts,
    exposure_counts,
    flag_counts,
    invalid_counts,
    outcome_counts,
    token_knowledge,
)
from toolenv.metrics.refuted import NONE_REFUTED, Refuted, refuted
from toolenv.metrics.registry import catalogue
from toolenv.metrics.roles import RoleCosts, role_costs
from toolenv.metrics.stats import Estimate
from toolenv.metrics.trials import Trials, trials
from toolenv.metrics.troubles import NO_TROUBLES, Troubles, troubles
from toolenv.report.collect import ERROR_CHARACTERS, Group, Pair, Run, collect, differing
from toolenv.report.pooling import halves_of, pools_of
from toolenv.report.read_together import read_together

__all__ = ["ERROR_CHARACTERS", "INVALID_SHOWN", "Row", "Run", "build_rows", "rows_of_groups"]

INVALID_SHOWN = 100
"""How many invalid episodes a row keeps."""


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
        privileged: whether the agent was told the truth.
        exposure: valid episodes with an armed hazard, by what became of it.
        roles: token costs by role, where the policy is made of several.
        troubles: what went wrong around the episodes.
        refuted: infeasible episodes that were solved: their tasks' label is in doubt.
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
    privileged: bool = False
    exposure: ExposureCounts = NONE_ARMED
    roles: Mapping[str, RoleCosts] = field(default_factory=dict)
    troubles: Troubles = NO_TROUBLES
    refuted: Refuted = NONE_REFUTED
    differing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def coverage(self) -> float:
        """The share of planned episodes that are valid; NaN where none was planned."""
        return self.valid / self.planned if self.planned else float("nan")


def build_rows(runs: Iterable[Run]) -> list[Row]:
    """The rows, sorted by suite, env and agent; a pooled row follows the envs it pools.

    A pooled row takes the clean and the infeasible env of one suite and version, where the agent was to
    have episodes in both and their runs agree in their settings: together they are what FASS is defined
    over.
    Episodes are streamed, and texts in them cut as they pass.

    Raises:
        UsageError: an episode stands twice in the runs, or a run holds more than it planned.
    """
    return rows_of_groups(collect(runs))


def rows_of_groups(groups: Mapping[Pair, Group], settings: Mapping[str, Any] | None = None) -> list[Row]:
    """The rows of groups; see :func:`build_rows`.

    Args:
        groups: by env id and agent.
        settings: of metrics that have some, by name.
    """
    settings = settings or {}
    halves = halves_of(groups)
    apart = {group.pair: found for members in halves if (found := differing(members)) for group in members}
    single = [
        replace(_row(*pair, [group], settings), differing=apart.get(pair) or differing([group]))
        for pair, group in groups.items()
    ]
    pooled = [_row(env, agent, members, settings) for (env, agent), members in pools_of(halves).items()]
    return sorted(single + pooled, key=_order)


def measured(
    episodes: Iterable[Episode], absent: Unresolved, settings: Mapping[str, Any]
) -> tuple[dict[str, Estimate], dict[str, Estimate]]:
    """Every metric; and those withheld for want of coverage, as they are over the valid episodes alone."""
    return _covered(read_together(episodes, _metrics(settings)), absent)


def _metrics(settings: Mapping[str, Any]) -> dict[str, Callable[[Iterable[Episode]], Any]]:
    """Every metric by name, and beside them which labels the valid episodes have."""
    metrics = {name: partial(metric, **settings) for name, metric in catalogue().items()}
    return {**metrics, _LABELS: valid_labels}


def _covered(found: Mapping[str, Any], absent: Unresolved) -> tuple[dict[str, Estimate], dict[str, Estimate]]:
    shown = {name: covered(found[name], one, found[_LABELS], absent) for name, one in catalogue().items()}
    return shown, {name: found[name] for name, estimate in shown.items() if estimate.withheld}


_LABELS = "valid labels"

_FACTS: Mapping[str, Callable[[Iterable[Episode]], Any]] = {
    "outcomes": outcome_counts,
    "decided_by": decided_by_counts,
    "tokens": token_knowledge,
    "flagged": flag_counts,
    "invalid_by": invalid_counts,
    "invalid_episodes": lambda episodes: _shown(episodes),
    "exposure": exposure_counts,
    "roles": role_costs,
    "troubles": troubles,
    "refuted": refuted,
}
"""The attributes of a row that are functions of its episodes, but for its metrics and trials."""


def _shown(episodes: Iterable[Episode]) -> tuple[Episode, ...]:
    shown: list[Episode] = []
    kinds: set[str] = set()
    for number, episode in enumerate(one for one in episodes if not one.valid):
        if number < INVALID_SHOWN or episode.decided_by not in kinds:
            shown.append(episode)
            kinds.add(episode.decided_by)
    return tuple(shown)


def _row(env: str, agent: str, groups: Sequence[Group], settings: Mapping[str, Any]) -> Row:
    episodes = chain.from_iterable(group.episodes for group in groups)
    found = read_together(episodes, {**_metrics(settings), **_FACTS, **({} if groups[1:] else _TRIALS)})
    absent: Unresolved = Counter()
    for group in groups:
        absent.update(unresolved(group.episodes, group.planned, group.labels))
    shown, over_valid = _covered(found, absent)
    valid = sum(found[_LABELS].values())
    return Row(
        env=env,
        agent=agent,
        planned=sum(group.planned for group in groups),
        valid=valid,
        invalid=sum(len(group.episodes) for group in groups) - valid,
        metrics=shown,
        over_valid=over_valid,
        trials=found.get("trials"),
        pooled=tuple(group.env for group in groups) if len(groups) > 1 else (),
        privileged=any(group.privileged for group in groups),
        **{name: found[name] for name in _FACTS},
    )


def _repeated(episodes: Iterable[Episode]) -> Trials | None:
    found = trials(episodes)
    return found if len(found.pass_hat) > 1 else None


_TRIALS: Mapping[str, Callable[[Iterable[Episode]], Any]] = {"trials": _repeated}


def _order(row: Row) -> tuple[str, bool, str, str]:
    return (parts_of(row.pooled[0] if row.pooled else row.env)[0], bool(row.pooled), row.env, row.agent)
