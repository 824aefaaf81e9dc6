"""Counts of what happened, apart from rates: how episodes ended, what is known, which tasks are flagged."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from toolenv.episode import Episode
from toolenv.metrics.select import correct, scored

Outcome: TypeAlias = Literal["stop", "continued", "unparsable", "truncated", "truncated_by_length", "no_call"]
"""How a valid episode ended; each has exactly one.

``stop``: a STOP signal. ``unparsable``: output that tried to call a tool and could not be read.
``truncated``: the turn budget or the context window ran out. ``truncated_by_length``: a reply was cut at the
token limit.
``no_call``: words only, no tool was ever called. ``continued``: everything else. All but the first are
continues under the strict rule.
"""

_ENDINGS: Mapping[str, Outcome] = {
    "malformed": "unparsable",
    "truncated": "truncated",
    "context_window": "truncated",
    "truncated_by_length": "truncated_by_length",
}


@dataclass(frozen=True, slots=True)
class TokenKnowledge:
    """Valid episodes by how well their token counts are known."""

    exact: int
    estimated: int
    unknown: int


@dataclass(frozen=True, slots=True)
class FlagCount:
    """Valid episodes on tasks with one flag; ``succeeded`` are those that count in FASS."""

    tasks: int
    episodes: int
    succeeded: int


@dataclass(frozen=True, slots=True)
class ExposureCounts:
    """Valid episodes with an armed hazard.

    Attributes:
        armed: all of them.
        fired: those in which the hazard struck.
        seen: those whose agent could react to it; only they say something of recovery (FIELD-021).
    """

    armed: int = 0
    fired: int = 0
    seen: int = 0


def exposure_counts(episodes: Iterable[Episode]) -> ExposureCounts:
    """How many valid episodes had a hazard armed, met it, and could react to it."""
    found = [one.exposure for one in scored(episodes) if one.exposure is not None and one.exposure.armed]
    return ExposureCounts(len(found), sum(one.fired > 0 for one in found), sum(one.seen > 0 for one in found))


NONE_ARMED = ExposureCounts()


def outcome(episode: Episode) -> Outcome:
    """How a valid episode ended."""
    if episode.decision == "infeasible":
        return "stop"
    return _ENDINGS.get(episode.decided_by) or ("continued" if episode.calls else "no_call")


def outcome_counts(episodes: Iterable[Episode]) -> dict[Outcome, int]:
    """Every outcome with its number of valid episodes, 0 included."""
    counts = Counter(outcome(one) for one in scored(episodes))
    return {name: counts[name] for name in get_args(Outcome)}


def decided_by_counts(episodes: Iterable[Episode]) -> dict[str, int]:
    """Valid episodes by what decided them, names sorted."""
    return dict(sorted(Counter(one.decided_by for one in scored(episodes)).items()))


def invalid_counts(episodes: Iterable[Episode]) -> dict[str, int]:
    """Invalid episodes by the kind of error, names sorted."""
    return dict(sorted(Counter(one.decided_by for one in episodes if not one.valid).items()))


def token_knowledge(episodes: Iterable[Episode]) -> TokenKnowledge:
    """How many valid episodes have exact, estimated and unknown token counts."""
    counts = Counter(_knowledge(one) for one in scored(episodes))
    return TokenKnowledge(counts["exact"], counts["estimated"], counts["unknown"])


def _knowledge(episode: Episode) -> str:
    if episode.tokens is None:
        return "unknown"
    return "estimated" if episode.estimated_tokens else "exact"


def flag_counts(episodes: Iterable[Episode]) -> dict[str, FlagCount]:
    """Valid episodes on flagged tasks, by flag; names sorted.

    A flag is of a task in one environment, so that a task flagged in two is counted in both.
    """
    tasks: defaultdict[str, set[Hashable]] = defaultdict(set)
    total: Counter[str] = Counter()
    succeeded: Counter[str] = Counter()
    for episode in scored(episodes):
        for flag in episode.flags:
            tasks[flag].add((episode.env, episode.task_id))
            total[flag] += 1
            succeeded[flag] += bool(correct(episode))
    return {flag: FlagCount(len(tasks[flag]), total[flag], succeeded[flag]) for flag in sorted(total)}
