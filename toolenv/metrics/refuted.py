"""Infeasible episodes that were solved all the same: each is a counterexample to its task's label."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from toolenv.episode import Episode
from toolenv.metrics.select import infeasible


@dataclass(frozen=True, slots=True)
class Refuted:
    """Valid infeasible episodes that went on and were judged successful, without the masked tools.

    In FCR they count as false continues, as their label says; they show that the label is wrong, or that
    the suite's judge accepts too much.

    Attributes:
        episodes: how many.
        tasks: of how many tasks.
    """

    episodes: int
    tasks: int


NONE_REFUTED = Refuted(0, 0)


def refuted(episodes: Iterable[Episode]) -> Refuted:
    """Count them."""
    solved = [one.task_id for one in infeasible(episodes) if one.success and one.decision == "feasible"]
    return Refuted(len(solved), len(set(solved)))
