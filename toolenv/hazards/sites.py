"""Where hazards can sit: the parts of results that a plan depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolenv.hazards.base import Subject
from toolenv.hazards.forms import generic, last_name, parts_at, value_of
from toolenv.plan import Path


@dataclass(frozen=True, slots=True)
class UsedPart:
    """A part of a tool's results that something depends on.

    Attributes:
        path: where it is documented to stand, for every item of an array.
        values: what stands there in the clean solution; never empty.
        unit: its documented unit.
        feeds_a_call: whether an argument depends on it, and not the closing words alone.
    """

    path: Path
    values: tuple[Any, ...]
    unit: str
    feeds_a_call: bool


def used_parts(subject: Subject) -> dict[str, list[UsedPart]]:
    """By tool: the parts of its results that the plan takes and the clean solution found there."""
    found: dict[str, list[UsedPart]] = {}
    for tool, uses in subject.uses_by_tool().items():
        results = [value_of(result) for _, result in subject.calls_of(tool) if result.kind == "ok"]
        feeding: dict[Path, bool] = {}
        for use in uses:
            path = generic(use.taken.path)
            feeding[path] = feeding.get(path, False) or use.consumer is not None
        for path, feeds in feeding.items():
            values = tuple(part for result in results for part in parts_at(result, path))
            if values:
                unit = subject.contract(tool).unit_of(last_name(path))
                found.setdefault(tool, []).append(UsedPart(path, values, unit, feeds))
    return found
