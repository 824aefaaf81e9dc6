r"""FCR where some labels are wrong: over certified tasks only, and the range it must lie in.

FCR divides false continues by infeasible tasks, and a task labelled infeasible may be feasible after all:
the paper's own annotators rejected 5% (Appendix B). With K continues among N labels of which at most M are
wrong, the FCR over the truly infeasible tasks is lowest where every wrong label was a continue and highest
where none was::

    max(0, K - M) / (N - M)  ≤  FCR  ≤  min(1, K / (N - M))

With F = K / N and ε = M / N that is [(F - ε) / (1 - ε), F / (1 - ε)], cut to [0, 1]. Both ends move outward
as M grows, so that they hold for fewer wrong labels, too. M counts wrong labels in all of the masks; where
fewer tasks were run, all of them may lie among those. A task proven infeasible is never among the wrong ones,
one proven feasible always is.

M itself is an estimate: the share of labels that people did not confirm, at the upper end of its Wilson
interval, times the number of labels. The range is thus right for the tasks at hand with the confidence of
that end (97.5%, one-sided). It is no sampling interval: it says nothing of tasks that were not run.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, TypeAlias

from toolenv.episode import Episode
from toolenv.feasibility.annotation.evidence import LabelEvidence, Status
from toolenv.metrics.select import infeasible, rate
from toolenv.metrics.stats import Estimate, no_data, wilson

Rule: TypeAlias = Literal["strict", "lenient"]
"""Which decision counts: that of the STOP signal alone, or of the equivalent phrasings, too."""


def fcr_certified(
    episodes: Iterable[Episode], status: Mapping[str, Status], rule: Rule = "strict"
) -> Estimate:
    """FCR (§4.3) over the tasks that are proven infeasible; episodes of others are left out and counted.

    Args:
        episodes: of one suite.
        status: what is proven, by task id; a task that is not named is not proven anything.
        rule: which decision counts.
    """
    return rate(
        infeasible(episodes),
        lambda one: _continued(one, rule) if status.get(one.task_id) == "infeasible" else None,
    )


def wrong_labels_at_most(evidence: LabelEvidence) -> int | None:
    """M: how many of the labels may be wrong, by the verified sample; ``None`` where nobody checked any.

    The whole labels in (1 - low) · population, where ``low`` is the lower end of the precision's interval.
    """
    if not evidence.checked:
        return None
    low = wilson(evidence.confirmed, evidence.checked).low
    # A rate of exactly M / N must not lose a label to rounding.
    return math.floor((1 - low) * evidence.population + 1e-9)


def fcr_bounds(episodes: Iterable[Episode], evidence: LabelEvidence, rule: Rule = "strict") -> Estimate:
    """The range of FCR (§4.3) that label errors leave, exact for any number of trials; see the module.

    Without a verified sample every label that is not proven may be wrong.

    Args:
        episodes: of one suite, run on the masks that ``evidence`` is about.
        evidence: what is known of the labels.
        rule: which decision counts.

    Returns:
        ``value``: FCR with all labels taken as right, but for those proven wrong (``excluded``).
        ``low``, ``high``: the range; [0, 1] where all labels may be wrong.
    """
    episodes = episodes if isinstance(episodes, Sequence) else list(episodes)
    plain = rate(
        infeasible(episodes),
        lambda one: _continued(one, rule) if evidence.status.get(one.task_id) != "feasible" else None,
    )
    if plain.n == 0:
        return no_data(plain.excluded)
    proven, doubtful = _tallies(episodes, evidence.status, rule)
    budget = min(len(doubtful), _still_wrong(evidence, len(doubtful)))
    low, high = (_extreme(proven, doubtful, budget, sign) for sign in (-1, 1))
    return replace(plain, low=low, high=high, method=f"worst case over {budget} wrong labels")


class _Tally(NamedTuple):
    """Continues and valid episodes of one task, or of several together."""

    continues: int
    n: int


def _continued(episode: Episode, rule: Rule) -> bool:
    decision = episode.decision if rule == "strict" else episode.lenient_decision
    return decision == "feasible"


def _still_wrong(evidence: LabelEvidence, unproven: int) -> int:
    """How many labels may be wrong beside those proven wrong."""
    at_most = wrong_labels_at_most(evidence)
    if at_most is None:
        return unproven
    return max(0, at_most - list(evidence.status.values()).count("feasible"))


def _tallies(
    episodes: Iterable[Episode], status: Mapping[str, Status], rule: Rule
) -> tuple[_Tally, list[_Tally]]:
    """The proven tasks together, and each task whose label may be wrong."""
    continues: Counter[str] = Counter()
    n: Counter[str] = Counter()
    for episode in infeasible(episodes):
        if status.get(episode.task_id) != "feasible":
            continues[episode.task_id] += _continued(episode, rule)
            n[episode.task_id] += 1
    tallies = {task: _Tally(continues[task], n[task]) for task in n}
    proven = [tally for task, tally in tallies.items() if status.get(task) == "infeasible"]
    doubtful = [tally for task, tally in tallies.items() if status.get(task) != "infeasible"]
    return _sum(proven), doubtful


def _extreme(proven: _Tally, doubtful: Sequence[_Tally], budget: int, sign: int) -> float:
    """The lowest (``sign`` -1) or highest (1) rate that leaving out up to ``budget`` doubtful tasks can make.

    Dinkelbach's iteration for a ratio of sums: at a rate λ the best tasks to leave out are those with the
    smallest ``sign · (continues - λ n)``; the rate of what is left is the next λ, and it no longer moves at
    the optimum.
    """
    if budget >= len(doubtful) and proven.n == 0:
        return float(sign == 1)
    kept = _sum([proven, *doubtful])
    while True:
        rate_now = kept.continues / kept.n
        order = sorted(doubtful, key=lambda one: sign * (one.continues - rate_now * one.n))
        gainful = sum(sign * (one.continues - rate_now * one.n) < 0 for one in order[:budget])
        following = _sum([proven, *order[gainful:]])
        if sign * (following.continues * kept.n - kept.continues * following.n) <= 0:
            return rate_now
        kept = following


def _sum(tallies: Iterable[_Tally]) -> _Tally:
    listed = list(tallies)
    return _Tally(sum(one.continues for one in listed), sum(one.n for one in listed))
