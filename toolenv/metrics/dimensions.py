"""What episodes are grouped by (paper 2: workflow, hazard, domain, number of tools)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from toolenv.episode import Episode

Dimension: TypeAlias = Callable[[Episode], str]

UNKNOWN = "unknown"
"""The group of episodes whose record does not tell: an earlier version's, or a suite that does not say."""

TOOL_BUCKETS = ("≤3", "4", "≥5")
"""The paper's buckets by the number of tools that a task takes (Table 3): low, medium, high."""


def _workflow(one: Episode) -> str:
    return one.task.workflow or UNKNOWN


def _domain(one: Episode) -> str:
    return one.task.domain or UNKNOWN


def _tools(one: Episode) -> str:
    tools = one.task.tools
    if tools is None:
        return UNKNOWN
    return TOOL_BUCKETS[0] if tools <= 3 else TOOL_BUCKETS[1] if tools == 4 else TOOL_BUCKETS[2]


def _hazard(one: Episode) -> str:
    return _of_hazard(one, one.exposure.hazard if one.exposure else "")


def _mode(one: Episode) -> str:
    return _of_hazard(one, f"{one.exposure.hazard} {one.exposure.mode}".strip() if one.exposure else "")


def _of_hazard(one: Episode, name: str) -> str:
    if one.exposure is None:
        return UNKNOWN
    return (name or UNKNOWN) if one.exposure.armed else "none"


def _exposure(one: Episode) -> str:
    if one.exposure is None:
        return UNKNOWN
    if not one.exposure.armed:
        return "not armed"
    return "seen" if one.exposure.seen else "fired" if one.exposure.fired else "armed"


DIMENSIONS: Mapping[str, Dimension] = MappingProxyType(
    {
        "workflow": _workflow,
        "hazard": _hazard,
        "mode": _mode,
        "domain": _domain,
        "tools": _tools,
        "exposure": _exposure,
        "label": lambda one: one.label,
    }
)
"""By the name that ``toolenv report --by`` takes."""

_ORDER = (
    *("sequential", "parallel", "mixture"),
    *TOOL_BUCKETS,
    *("not armed", "armed", "fired", "seen"),
    *("feasible", "infeasible"),
)


def in_order(values: Iterable[str]) -> list[str]:
    """The values of a dimension as tables show them: in the paper's order, by name, unknown ones last."""
    ranks = {value: at for at, value in enumerate(_ORDER)}
    return sorted(values, key=lambda value: (value == UNKNOWN, ranks.get(value, len(ranks)), value))
