"""What two sets of episodes of the same tasks differ in: agents, or conditions (degradation, paper 2, §3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from toolenv.episode import Episode
from toolenv.errors import UsageError
from toolenv.metrics.paired import PairCounts, mcnemar, mean_difference, paired_difference
from toolenv.metrics.registry import Kind
from toolenv.metrics.select import correct, rate, task_key
from toolenv.metrics.stats import Estimate, grouped_mean, mean_estimate, no_data
from toolenv.types import Label

EpisodePair: TypeAlias = tuple[Episode, Episode]


@dataclass(frozen=True, slots=True)
class Matching:
    """How two sets of episodes match; see :func:`match`.

    Attributes:
        pairs: how many pairs there are of which both are valid.
        only_first, only_second: how many valid episodes of one set have no valid partner in the other.
        other_seeds: how many pairs were played with different seeds.
    """

    pairs: int
    only_first: int
    only_second: int
    other_seeds: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """One quantity over pairs of episodes.

    Attributes:
        first, second: each side's own estimate over the pairs.
        difference: first less second, paired by task.
        p: of no difference, exact: McNemar's, which over tasks with several trials is the sign test of the
            tasks. ``None`` for means and without data.
        pairs: pairs by which side is true, for rates.
        excluded: pairs in which the quantity has no meaning, or is unknown, on either side.
    """

    first: Estimate
    second: Estimate
    difference: Estimate
    p: float | None = None
    pairs: PairCounts | None = None
    excluded: int = 0


class Quantity(NamedTuple):
    """Something to compare.

    Attributes:
        name, title: the metric's.
        kind: ``rate``, or the unit of a mean.
        over: the labels of the tasks that it has a meaning in.
        known: its value in an episode of those; ``None`` where it has none.
    """

    name: str
    title: str
    kind: Kind
    over: frozenset[Label]
    known: Callable[[Episode], bool | float | None]

    def of(self, episode: Episode) -> bool | float | None:
        """Its value in an episode; ``None`` where it has none."""
        return self.known(episode) if episode.label in self.over else None


_FEASIBLE: frozenset[Label] = frozenset({"feasible"})
_INFEASIBLE: frozenset[Label] = frozenset({"infeasible"})
_ANY = _FEASIBLE | _INFEASIBLE

QUANTITIES: tuple[Quantity, ...] = (
    Quantity("sr", "SR", "rate", _FEASIBLE, lambda one: one.success),
    Quantity("accuracy", "Accuracy", "rate", _FEASIBLE, lambda one: one.accurate),
    Quantity("fcr_strict", "FCR strict", "rate", _INFEASIBLE, lambda one: one.decision == "feasible"),
    Quantity(
        "fcr_lenient", "FCR lenient", "rate", _INFEASIBLE, lambda one: one.lenient_decision == "feasible"
    ),
    Quantity("false_stop_rate", "False stop", "rate", _FEASIBLE, lambda one: one.decision == "infeasible"),
    Quantity("fass", "FASS", "rate", _ANY, correct),
    Quantity("tokens", "Tokens", "tokens", _ANY, lambda one: one.tokens),
    Quantity("calls", "Calls", "calls", _ANY, lambda one: one.calls),
)
"""What ``toolenv compare`` compares: the metrics of these names, episode by episode."""

ACHIEVED = Quantity("achieved", "V", "rate", _FEASIBLE, lambda one: one.achieved)
"""V: accuracy where the suite tells it apart, success elsewhere."""


def match(first: Iterable[Episode], second: Iterable[Episode]) -> tuple[list[EpisodePair], Matching]:
    """The pairs of valid episodes of two sets, in the order of the first; and counts.

    Episodes are paired by task and trial, of whatever env (clean against a hazard, say); where a set holds
    several envs, by env as well.

    Args:
        first, second: each of one agent.

    Raises:
        UsageError: a set holds two episodes of one env, task and trial; there are several envs, and none
            that both sets have.
    """
    ours, theirs = list(first), list(second)
    by_env = _is_by_env(ours, theirs)
    left, right = _keyed(ours, by_env), _keyed(theirs, by_env)
    pairs = [(one, right[key]) for key, one in left.items() if key in right]
    other_seeds = sum(one.seed != other.seed for one, other in pairs)
    return pairs, Matching(len(pairs), len(left) - len(pairs), len(right) - len(pairs), other_seeds)


def _is_by_env(first: Iterable[Episode], second: Iterable[Episode]) -> bool:
    ours, theirs = ({one.env for one in side} for side in (first, second))
    several = len(ours) > 1 or len(theirs) > 1
    if several and ours and theirs and not ours & theirs:
        raise UsageError(
            "which env is to be compared with which cannot be told: the first set holds "
            f"{', '.join(sorted(ours))}, the second {', '.join(sorted(theirs))}; give sets of one env each"
        )
    return several


def _keyed(episodes: Iterable[Episode], by_env: bool) -> dict[Hashable, Episode]:
    """The valid ones by what they are paired by."""
    keyed: dict[Hashable, Episode] = {}
    for one in episodes:
        key = (one.env if by_env else "", one.task_id, one.trial)
        if one.valid and keyed.setdefault(key, one) is not one:
            raise UsageError(
                f"{one.env}, task {one.task_id!r}, trial {one.trial}: two episodes in one set, of the agents "
                f"{keyed[key].agent!r} and {one.agent!r}; give the episodes of one run of one agent"
            )
    return keyed


def compare(pairs: Sequence[EpisodePair], quantity: Quantity) -> Comparison:
    """Compare one quantity over pairs of episodes."""
    found = [(one, other, quantity.of(one), quantity.of(other)) for one, other in pairs]
    known = [(one, other, a, b) for one, other, a, b in found if a is not None and b is not None]
    excluded = len(found) - len(known)
    if not known:
        return Comparison(no_data(), no_data(), no_data(), excluded=excluded)
    if quantity.kind == "rate":
        tallied = [(task_key(one), bool(a), bool(b)) for one, _, a, b in known]
        sides = [one for one, *_ in known], [other for _, other, *_ in known]
        return replace(_rates(tallied, *sides, quantity), excluded=excluded)
    return replace(_means([(task_key(one), a, b) for one, _, a, b in known]), excluded=excluded)


def _rates(
    tallied: Sequence[tuple[Hashable, bool, bool]],
    first: Sequence[Episode],
    second: Sequence[Episode],
    quantity: Quantity,
) -> Comparison:
    outcomes = [(a, b) for _, a, b in tallied]
    counts = [outcomes.count(one) for one in ((True, True), (True, False), (False, True), (False, False))]
    by_task: defaultdict[Hashable, int] = defaultdict(int)
    for task, a, b in tallied:
        by_task[task] += a - b
    scale = len(by_task) / len(tallied)
    difference = paired_difference(PairCounts(*(scale * count for count in counts)))
    if scale < 1:
        difference = replace(difference, method=f"{difference.method}, over tasks", tasks=len(by_task))
    return Comparison(
        first=rate(first, _as_bool(quantity)),
        second=rate(second, _as_bool(quantity)),
        difference=replace(difference, n=len(tallied)),
        p=mcnemar(sum(one > 0 for one in by_task.values()), sum(one < 0 for one in by_task.values())),
        pairs=PairCounts(*counts),
    )


def _as_bool(quantity: Quantity) -> Callable[[Episode], bool | None]:
    def outcome(one: Episode) -> bool | None:
        value = quantity.of(one)
        return None if value is None else bool(value)

    return outcome


def _means(known: Sequence[tuple[Hashable, float, float]]) -> Comparison:
    return Comparison(
        first=mean_estimate(grouped_mean((task, a) for task, a, _ in known)),
        second=mean_estimate(grouped_mean((task, b) for task, _, b in known)),
        difference=mean_difference((task, a - b) for task, a, b in known),
    )
