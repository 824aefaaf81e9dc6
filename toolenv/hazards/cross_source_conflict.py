"""Cross-source conflict: branches of evidence disagree, and evidence tells which one holds (paper 2, §3).

The tool that the solution asks goes wrong, while another that is documented to tell the same facts is right.
Which of them holds is never a matter of votes: the wrong branch says itself that it is out of date or not all
there, answers about something else than it was asked, or contradicts the documented authority.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolenv.hazards.base import Instance, OutputHazard, Site, Subject, checked_mode
from toolenv.hazards.forms import changed_at, generic, last_name, value_of
from toolenv.hazards.other_values import other_value
from toolenv.hazards.settings import FIELD_PATH, NAME, Setting
from toolenv.hazards.sites import UsedPart, used_parts
from toolenv.kernel.perturbed import Hazard


class CrossSourceConflict:
    """Branches that are stale, incomplete or inconsistent."""

    name = "cross-source-conflict"
    modes: Mapping[str, str] = {
        "stale": "the branch has an old value and says that it is",
        "incomplete": "the branch lacks a part and says so",
        "inconsistent": "the branch answers about something else, or against the documented authority",
    }
    settings: Mapping[str, Mapping[str, Setting]] = {
        "stale": {"path": FIELD_PATH},
        "incomplete": {"path": FIELD_PATH},
        "inconsistent": {"path": FIELD_PATH, "echo": NAME._replace(optional=True)},
    }
    needs = "no result that something depends on can be checked against a second documented source"

    def sites(self, subject: Subject) -> Iterator[Site]:
        """Every tool with a second source, for each part of its results that something depends on."""
        for tool, parts in used_parts(subject).items():
            contract = subject.contract(tool)
            if not contract.sources:
                continue
            outranked = any(source.authority > contract.authority for source in contract.sources)
            for part in parts:
                if part.path and isinstance(part.path[0], str):
                    yield from _sites_of_part(subject, tool, part, outranked)

    def hazard(self, instance: Instance) -> Hazard:
        """The perturbation of an instance."""
        checked_mode(self, instance)
        return OutputHazard(instance, _change)

    def hint(self, instance: Instance) -> str:
        """What is wrong with the branch, and what to check it against."""
        return f"What {instance.tool} tells cannot be relied on: {_HINTS[instance.mode]}"


KIND = CrossSourceConflict()

_HINTS: Mapping[str, str] = {
    "stale": "its data are out of date, as its result says. Ask another tool that tells the same.",
    "incomplete": "a part is missing, as its result says. Ask another tool that tells the same.",
    "inconsistent": "it does not answer about what it was asked, or contradicts the authoritative source. "
    "Check it against another tool that tells the same.",
}


def _sites_of_part(subject: Subject, tool: str, part: UsedPart, outranked: bool) -> Iterator[Site]:
    path = {"path": list(part.path)}
    yield Site("incomplete", tool, path)
    if any(isinstance(value, dict | bool) or value is None for value in part.values):
        return
    yield Site("stale", tool, path)
    if outranked:
        yield Site("inconsistent", tool, path)
    for name in _echoes(subject, tool):
        if name != last_name(part.path):
            yield Site("inconsistent", tool, {**path, "echo": name})


def _echoes(subject: Subject, tool: str) -> list[str]:
    """The parameters whose value stands in every result under the same name, as text."""
    calls = [(call.arguments, value_of(result)) for call, result in subject.calls_of(tool)]
    return [
        name
        for name, value in calls[0][0].items()
        if isinstance(value, str)
        and all(isinstance(told, dict) and told.get(name) == arguments.get(name) for arguments, told in calls)
    ]


def _change(instance: Instance) -> Callable[[Any], Any]:
    """What the instance's mode does to an object; anything else stays as it is."""
    change = _CHANGES[instance.mode](instance)
    return lambda value: change(value) if isinstance(value, dict) else value


def _wrong(instance: Instance) -> Callable[[Any], Any]:
    """The change that makes the part in question another, plausible one."""
    path, draw = generic(tuple(instance.parameters["path"])), instance.draw("value")
    return lambda value: changed_at(value, path, lambda part: other_value(part, draw))


def _stale(instance: Instance) -> Callable[[Any], Any]:
    change, draw = _wrong(instance), instance.draw("date")
    as_of = f"{2011 + draw % 9}-{1 + draw // 16 % 12:02d}-{1 + draw // 256 % 28:02d}"
    remark = {
        "as_of": as_of,
        "status": "superseded",
        "note": "A newer entry exists; it is not available here.",
    }
    return lambda value: {**change(value), **remark}


def _inconsistent(instance: Instance) -> Callable[[Any], Any]:
    change, echo, draw = _wrong(instance), instance.parameters.get("echo"), instance.draw("echo")
    if echo is None:
        return change
    return lambda value: changed_at(change(value), (echo,), lambda told: other_value(told, draw))


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
