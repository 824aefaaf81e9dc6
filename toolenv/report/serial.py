"""Rows as JSON: the stable form other programs read."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from toolenv.metrics.roles import RoleCosts
from toolenv.metrics.stats import Estimate
from toolenv.metrics.trials import Trials
from toolenv.report.rows import Row
from toolenv.report.troubles import troubles_to_json


def rows_to_json(rows: Iterable[Row]) -> dict[str, Any]:
    """``{"rows": [{"env", "agent", "planned", "valid", "invalid", "metrics": {NAME: {"value", …}}, …}]}``.

    JSON values only; NaN and infinity are ``None``.
    """
    return {"rows": [_row(row) for row in rows]}


def estimate_to_json(estimate: Estimate) -> dict[str, Any]:
    """Every field, with ``value``, ``low`` and ``high`` ``None`` where they are not finite."""
    return {name: _finite(value) for name, value in asdict(estimate).items()}


def _row(row: Row) -> dict[str, Any]:
    return {
        "env": row.env,
        "agent": row.agent,
        "planned": row.planned,
        "valid": row.valid,
        "invalid": row.invalid,
        "coverage": _finite(row.coverage),
        "metrics": {name: estimate_to_json(one) for name, one in row.metrics.items()},
        "over_valid": {name: estimate_to_json(one) for name, one in row.over_valid.items()},
        "outcomes": dict(row.outcomes),
        "decided_by": dict(row.decided_by),
        "invalid_by": dict(row.invalid_by),
        "tokens": asdict(row.tokens),
        "flagged": {flag: asdict(count) for flag, count in row.flagged.items()},
        "trials": None if row.trials is None else _trials(row.trials),
        "pooled": list(row.pooled),
        "privileged": row.privileged,
        "exposure": asdict(row.exposure),
        "roles": {role: _role(costs) for role, costs in row.roles.items()},
        "troubles": troubles_to_json(row.troubles),
        "refuted": asdict(row.refuted),
    }


def _role(costs: RoleCosts) -> dict[str, Any]:
    return {name: estimate_to_json(getattr(costs, name)) for name in costs.__slots__}


def _trials(trials: Trials) -> dict[str, Any]:
    return {
        "rates": {task: right / n for task, (right, n) in trials.counts.items()},
        "flipping": estimate_to_json(trials.flipping),
        "pass_hat": {str(k): estimate_to_json(one) for k, one in trials.pass_hat.items()},
    }


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
