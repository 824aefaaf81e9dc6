"""Rates over episodes: success, false continues, false stops, and both together."""

from __future__ import annotations

from collections.abc import Iterable

from toolenv.episode import Episode
from toolenv.metrics.registry import metric
from toolenv.metrics.select import correct, feasible, infeasible, rate, scored
from toolenv.metrics.stats import Estimate


@metric("SR", "rate", "feasible")
def sr(episodes: Iterable[Episode]) -> Estimate:
    """Success rate (§4.3): the share of feasible tasks done successfully, whatever was said about them."""
    return rate(feasible(episodes), lambda one: one.success)


@metric("FCR strict", "rate", "infeasible")
def fcr_strict(episodes: Iterable[Episode]) -> Estimate:
    """False continue rate (§4.3): the share of infeasible tasks that the agent did not stop on.

    Only an explicit STOP signal is a stop. Unparsable and truncated episodes are continues.
    """
    return rate(infeasible(episodes), lambda one: one.decision == "feasible")


@metric("FCR lenient", "rate", "infeasible")
def fcr_lenient(episodes: Iterable[Episode]) -> Estimate:
    """False continue rate where equivalent phrasings (Appendix F) count as a stop, too."""
    return rate(infeasible(episodes), lambda one: one.lenient_decision == "feasible")


@metric("False stop", "rate", "feasible")
def false_stop_rate(episodes: Iterable[Episode]) -> Estimate:
    """The share of feasible tasks that the agent stopped on (strict rule).

    Always stopping has an FCR of 0 and a false-stop rate of 1, so neither is read alone.
    """
    return rate(feasible(episodes), lambda one: one.decision == "infeasible")


@metric("FASS", "rate", "feasible", "infeasible")
def fass(episodes: Iterable[Episode]) -> Estimate:
    """Feasibility-aware success score (Appendix D), pooled over feasible and infeasible tasks.

    The share of tasks that are either infeasible and stopped on, or feasible, not stopped on and done
    successfully.
    """
    return rate(scored(episodes), correct)
