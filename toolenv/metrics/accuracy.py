"""Final-task accuracy (paper 2, §4, Experimental Setup), over all episodes and over the exposed."""

from __future__ import annotations

from collections.abc import Iterable

from toolenv.episode import Episode
from toolenv.metrics.registry import metric
from toolenv.metrics.select import exposed, feasible, rate
from toolenv.metrics.stats import Estimate


@metric("Accuracy", "rate", "feasible", table="recovery")
def accuracy(episodes: Iterable[Episode]) -> Estimate:
    """Final-task accuracy (paper 2, §4): the final state matches, or the final message holds the answer.

    The answer counts as a whole token. Defined for the suites that tell it apart from success, which may ask
    for both; it is never below SR. A stop and an episode that ran out of decisions are not accurate.
    """
    return rate((one for one in feasible(episodes) if one.accurate is not None), lambda one: one.accurate)


@metric("Exposed", "rate", "feasible", table="recovery")
def exposure_rate(episodes: Iterable[Episode]) -> Estimate:
    """The share of episodes with an armed hazard whose agent saw it strike and could still react.

    An episode that never met its hazard says nothing of recovering from it (FIELD-021).
    """
    armed = (one for one in feasible(episodes) if one.exposure is not None and one.exposure.armed)
    return rate(armed, lambda one: bool(one.exposure and one.exposure.seen))


@metric("V exposed", "rate", "feasible", table="recovery")
def accuracy_exposed(episodes: Iterable[Episode]) -> Estimate:
    """Accuracy among the exposed: episodes whose agent saw the hazard strike and could still react.

    Success stands in for accuracy where the suite does not tell it apart.
    """
    return rate(exposed(feasible(episodes)), lambda one: one.achieved)
