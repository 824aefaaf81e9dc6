"""A whole report: the rows, what was asked for beside them, and what follows from several envs together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolenv.errors import UnknownNameError
from toolenv.metrics.dimensions import DIMENSIONS
from toolenv.metrics.failures import MEDIANS, Thresholds
from toolenv.report.collect import Run, collect
from toolenv.report.degradation import Degradation, degradations
from toolenv.report.groups import GroupRow, group_rows
from toolenv.report.rows import Row, rows_of_groups


@dataclass(frozen=True)
class Report:
    """What there is to show.

    Attributes:
        rows: see :func:`toolenv.report.rows.build_rows`.
        by: the rows of each dimension asked for.
        degradation: clean against each hazard, where an agent has both.
        thresholds: where failure behaviours part.
    """

    rows: Sequence[Row]
    by: Mapping[str, Sequence[GroupRow]] = field(default_factory=dict)
    degradation: Sequence[Degradation] = ()
    thresholds: Thresholds = MEDIANS


def check_dimensions(names: Iterable[str]) -> tuple[str, ...]:
    """The names, each once.

    Raises:
        UnknownNameError: nothing that episodes can be grouped by.
    """
    wanted = tuple(dict.fromkeys(names))
    for name in wanted:
        if name not in DIMENSIONS:
            raise UnknownNameError("grouping", name, DIMENSIONS, where="--by")
    return wanted


def build_report(runs: Iterable[Run], by: Iterable[str] = (), thresholds: Thresholds = MEDIANS) -> Report:
    """A report of runs, each read once.

    Args:
        runs: what to report.
        by: what to group episodes by, see :data:`toolenv.metrics.dimensions.DIMENSIONS`.
        thresholds: where failure behaviours part.

    Raises:
        UnknownNameError: nothing that episodes can be grouped by.
        UsageError: an episode stands twice in the runs, or a run holds more than it planned.
    """
    dimensions = check_dimensions(by)
    groups, settings = collect(runs), dict[str, Any](thresholds=thresholds)
    return Report(
        rows=rows_of_groups(groups, settings),
        by={name: group_rows(groups, name, settings) for name in dimensions},
        degradation=degradations(groups),
        thresholds=thresholds,
    )
