"""The conditions under which a suite's tasks are played."""

from __future__ import annotations

from toolenv.suite import BringsHazards, Suite, hazard_manifests

CONDITIONS: tuple[str, ...] = ("clean", "infeasible", "mixed")
"""The conditions of every suite; see :func:`conditions_of`."""

DRAWN: tuple[str, ...] = ("mixed", "confusable")
"""The conditions whose tasks have a feasible and an infeasible form; the seed draws which is played."""


def conditions_of(suite: Suite) -> tuple[str, ...]:
    """The conditions a suite has: :data:`CONDITIONS`, one per hazard manifest, and hazards of its own."""
    own = suite.own_hazards if isinstance(suite, BringsHazards) else ()
    return (*CONDITIONS, *hazard_manifests(suite), *own)
