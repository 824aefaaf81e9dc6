"""Cross-source conflict: branches of evidence disagree, and evidence tells which one holds (paper 2, §3).

The tool that the solution asks goes wrong, while another that is documented to tell the same facts is right.
The right one is never a matter of votes: the wrong branch says itself that it is out of date or not all
there, or the documentation says whose word counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from toolenv.hazards.base import Instance, OutputHazard, Site, Subject, checked_mode
from toolenv.hazards.forms import changed_at, generic, is_number
from toolenv.hazards.sites import UsedPart, used_parts
from toolenv.kernel.perturbed import Hazard


class CrossSourceConflict:
    """Branches that are stale, incomplete or inconsistent."""

    name = "cross-source-conflict"
    modes: Mapping[str, str] = {
        "stale": "the branch has an old value and says from when it is",
        "incomplete": "the branch lacks a part and says so",
        "inconsistent": "the branch has another value than the documented authority",
    }
    needs = "no result that something depends on can be checked against a second documented source"

    def sites(self, subject: Subject) -> Iterator[Site]:
        """Every tool with a second source whose value can be made wrong and stay plausible."""
        for tool, parts in used_parts(subject).items():
            contract = subject.contract(tool)
            outranked = any(source.authority > contract.authority for source in contract.sources)
            for part in parts if contract.sources else ():
                yield from _sites_of_part(tool, part, outranked)

    def hazard(self, instance: Instance) -> Hazard:
        """The perturbation of an instance."""
        change = _CHANGES[checked_mode(self, instance)](instance)
        return OutputHazard(instance, lambda value: change(value) if isinstance(value, dict) else value)

    def hint(self, instance: Instance) -> str:
        """What is wrong with the branch, and what to check it against."""
        return f"What {instance.tool} tells cannot be relied on: {_HINTS[instance.mode]}"


KIND = CrossSourceConflict()

_HINTS: Mapping[str, str] = {
    "stale": "its data are out of date, as its result says. Ask another tool that tells the same.",
    "incomplete": "a part is missing, as its result says. Ask another tool that tells the same.",
    "inconsistent": "it contradicts the source that the documentation calls authoritative. Ask that one.",
}


def _sites_of_part(tool: str, part: UsedPart, outranked: bool) -> Iterator[Site]:
    if not part.path or not isinstance(part.path[0], str):
        return
    path = {"path": list(part.path)}
    numeric = all(is_number(value) and value != 0 for value in part.values)
    if numeric:
        yield Site("stale", tool, path)
        if outranked:
            yield Site("inconsistent", tool, path)
    if not any(isinstance(value, dict) for value in part.values):
        yield Site("incomplete", tool, path)


def other_number(value: int | float, draw: int) -> int | float:
    """A number near ``value`` with as many decimals, never the same."""
    percent = (-23, -17, -12, -8, 9, 13, 18, 26)[draw % 8]
    exact = Decimal(repr(value))
    exponent = exact.as_tuple().exponent
    step = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)
    moved = (exact + exact * percent / 100).quantize(step)
    if moved == exact:
        moved += step if percent > 0 else -step
    return int(moved) if isinstance(value, int) else float(moved)


def _wrong_value(instance: Instance) -> Callable[[Any], Any]:
    path, draw = generic(tuple(instance.parameters["path"])), instance.draw("value")

    def moved(part: Any) -> Any:
        return other_number(part, draw) if is_number(part) and part != 0 else part

    return lambda value: changed_at(value, path, moved)


def _stale(instance: Instance) -> Callable[[Any], Any]:
    change, draw = _wrong_value(instance), instance.draw("date")
    as_of = f"{2015 + draw % 5}-{1 + draw // 8 % 12:02d}-{1 + draw // 128 % 28:02d}"
    return lambda value: {**change(value), "as_of": as_of, "status": "superseded"}


def _inconsistent(instance: Instance) -> Callable[[Any], Any]:
    return _wrong_value(instance)


def _incomplete(instance: Instance) -> Callable[[Any], Any]:
    path = generic(tuple(instance.parameters["path"]))

    def without(part: Any) -> Any:
        return part[: len(part) // 2] if isinstance(part, list) else None

    return lambda value: {**changed_at(value, path, without), "complete": False}


_CHANGES: Mapping[str, Callable[[Instance], Callable[[Any], Any]]] = {
    "stale": _stale,
    "incomplete": _incomplete,
    "inconsistent": _inconsistent,
}
