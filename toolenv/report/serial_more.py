"""The rest of a report, and comparisons, as JSON; names and meanings are in ``docs/metrics.md``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from toolenv.metrics.comparison import Comparison, Matching
from toolenv.metrics.failures import MEDIANS
from toolenv.report.build import Report
from toolenv.report.degradation import Degradation
from toolenv.report.groups import GroupRow
from toolenv.report.serial import estimate_to_json, rows_to_json


def report_to_json(report: Report) -> dict[str, Any]:
    """``{"rows": […]}``, and ``by``, ``degradation`` and ``thresholds`` where there is something to say.

    JSON values only; NaN and infinity are ``None``.
    """
    by = {name: [_group_row(row) for row in rows] for name, rows in report.by.items()}
    return {
        **rows_to_json(report.rows),
        **({"by": by} if by else {}),
        **({"degradation": list(map(_degradation, report.degradation))} if report.degradation else {}),
        **({"thresholds": asdict(report.thresholds)} if report.thresholds != MEDIANS else {}),
    }


def comparison_to_json(comparison: Comparison) -> dict[str, Any]:
    """``{"first": {…}, "second": {…}, "difference": {…}, "p": …, "pairs": {…}, "excluded": …}``."""
    return {
        "first": estimate_to_json(comparison.first),
        "second": estimate_to_json(comparison.second),
        "difference": estimate_to_json(comparison.difference),
        "p": comparison.p,
        "pairs": None if comparison.pairs is None else asdict(comparison.pairs),
        "excluded": comparison.excluded,
    }


def matching_to_json(matching: Matching) -> dict[str, Any]:
    """``{"matched": …, "unpaired": {"first": …, "second": …}, "other_seeds": …}``."""
    return {
        "matched": matching.pairs,
        "unpaired": {"first": matching.only_first, "second": matching.only_second},
        "other_seeds": matching.other_seeds,
    }


def _group_row(row: GroupRow) -> dict[str, Any]:
    return {
        "env": row.env,
        "agent": row.agent,
        "value": row.value,
        "planned": row.planned,
        "valid": row.valid,
        "invalid": row.invalid,
        "metrics": {name: estimate_to_json(one) for name, one in row.metrics.items()},
        "over_valid": {name: estimate_to_json(one) for name, one in row.over_valid.items()},
    }


def _degradation(row: Degradation) -> dict[str, Any]:
    return {
        "agent": row.agent,
        "clean": row.clean,
        "hazard": row.hazard,
        "metric": row.metric,
        **comparison_to_json(row.comparison),
        **matching_to_json(row.matching),
        "differing": {name: list(values) for name, values in row.differing.items()},
    }
