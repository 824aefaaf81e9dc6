"""Which episodes a metric is about, and a rate over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace

from toolenv.episode import Episode
from toolenv.metrics.env_names import parts_of
from toolenv.metrics.stats import Estimate, no_data, wilson, wilson_of_mean


def scored(episodes: Iterable[Episode]) -> Iterator[Episode]:
    """The valid ones: an infrastructure failure is no outcome and never scored."""
    return (one for one in episodes if one.valid)


def feasible(episodes: Iterable[Episode]) -> Iterator[Episode]:
    """The valid ones with y = feasible."""
    return (one for one in scored(episodes) if one.label == "feasible")


def infeasible(episodes: Iterable[Episode]) -> Iterator[Episode]:
    """The valid ones with y = infeasible."""
    return (one for one in scored(episodes) if one.label == "infeasible")


def exposed(episodes: Iterable[Episode]) -> Iterator[Episode]:
    """Those whose agent saw a hazard strike and could still react."""
    return (one for one in episodes if one.exposure is not None and one.exposure.seen > 0)


def task_key(episode: Episode) -> Hashable:
    """What all episodes of one task have in common: its trials, and its twins under other conditions.

    Of a suite's clean, infeasible and hazard environments, in whatever version, tasks of one id are one task:
    an agent that is right in one of them is so more often in another.
    """
    return (parts_of(episode.env)[0], episode.task_id)


def correct(episode: Episode) -> bool | None:
    """Whether an episode counts in FASS (Appendix D); ``None`` where its success cannot be assessed."""
    if episode.label == "infeasible":
        return episode.decision == "infeasible"
    return None if episode.success is None else episode.decision == "feasible" and episode.success


def rate(episodes: Iterable[Episode], outcome: Callable[[Episode], bool | None]) -> Estimate:
    """The share of episodes whose outcome is true; those without one (``None``) are left out and counted.

    Episodes of one task (:func:`task_key`) are not independent: where there are several, the interval is that
    of as many observations as there are tasks, which is right if they always agree and too wide otherwise.
    Of tasks with unlike numbers of episodes m it is that of n² / Σm² observations (Kish, Survey Sampling).
    """
    count = n = excluded = 0
    tasks: Counter[Hashable] = Counter()
    for episode in episodes:
        true = outcome(episode)
        if true is None:
            excluded += 1
            continue
        count, n = count + true, n + 1
        tasks[task_key(episode)] += 1
    if n == 0:
        return no_data(excluded)
    if len(tasks) == n:
        return replace(wilson(count, n), excluded=excluded)
    worth = round(n**2 / sum(episodes_of**2 for episodes_of in tasks.values()))
    spread = wilson_of_mean(count / n * worth, worth)
    return replace(
        spread,
        value=count / n,
        n=n,
        method="wilson over tasks",
        count=count,
        excluded=excluded,
        tasks=len(tasks),
    )
