"""Output drift: the result is right, its surface form is not the documented one (paper 2, §3).

Nothing is lost: the value is extracted and brought back to the form that is asked for.
"""

from __future__ import annotations

import re
from calendar import month_name
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from toolenv.hazards.base import Instance, OutputHazard, Site, Subject, checked_mode
from toolenv.hazards.forms import (
    changed_at,
    generic,
    is_number,
    last_name,
    renamed,
)
from toolenv.hazards.settings import FIELD_PATH, NAME, NAMES, PATH, Setting
from toolenv.hazards.sites import UsedPart, used_parts
from toolenv.kernel.perturbed import Hazard
from toolenv.plan import Path

ENVELOPES = ("data", "result", "payload", "response")
STYLES = ("camel", "pascal", "upper", "dashed")

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class OutputDrift:
    """Wrapped values, added units, nested fields, aliases, non-canonical forms."""

    name = "output-drift"
    modes: Mapping[str, str] = {
        "wrapping": "the whole result stands inside an envelope",
        "units": "a number comes as text with its unit behind it",
        "nesting": "a value stands one level deeper than documented",
        "aliases": "keys are spelled in another style",
        "non-canonical": "a value is written in another form: +1,250.5, 5 March 2024, quoted text",
    }
    settings: Mapping[str, Mapping[str, Setting]] = {
        "wrapping": {},
        "units": {"path": PATH, "unit": NAME},
        "nesting": {"path": FIELD_PATH},
        "aliases": {"names": NAMES},
        "non-canonical": {"path": PATH},
    }
    needs = "no later argument and no answer depends on a part of a tool's result"

    def sites(self, subject: Subject) -> Iterator[Site]:
        """Every tool whose result something depends on, in each mode that changes what is depended on."""
        for tool, parts in used_parts(subject).items():
            yield Site("wrapping", tool, {})
            for part in parts:
                yield from _sites_of_part(tool, part)
            names = _names(subject, tool, parts)
            if names:
                yield Site("aliases", tool, {"names": names})

    def hazard(self, instance: Instance) -> Hazard:
        """The perturbation of an instance."""
        return OutputHazard(instance, _CHANGES[checked_mode(self, instance)])

    def hint(self, instance: Instance) -> str:
        """What is wrong, and how to read it."""
        return f"The results of {instance.tool} do not look as documented: {_HINTS[instance.mode]}"


KIND = OutputDrift()

_HINTS: Mapping[str, str] = {
    "wrapping": "the documented result is wrapped in an envelope. Take it out of the envelope first.",
    "units": "a number comes as text with its unit behind it. Use the number alone.",
    "nesting": "a value stands one level deeper than documented. Look for it inside the field of that name.",
    "aliases": "the keys are spelled in another style. Match them with the documented ones by their letters.",
    "non-canonical": "a value is written in another form than documented. Bring numbers back to plain "
    "digits, dates to YYYY-MM-DD, and take quotation marks and spaces off texts.",
}


def _sites_of_part(tool: str, part: UsedPart) -> Iterator[Site]:
    path = {"path": list(part.path)}
    # In closing words a number with its unit behind it misleads nobody.
    if part.unit and part.feeds_a_call and all(map(is_number, part.values)):
        yield Site("units", tool, {**path, "unit": part.unit})
    if last_name(part.path):
        yield Site("nesting", tool, path)
    if all(_has_other_form(value) for value in part.values):
        yield Site("non-canonical", tool, path)


def _names(subject: Subject, tool: str, parts: list[UsedPart]) -> list[str]:
    """The keys that aliases replace: those that something depends on, and all documented ones."""
    used = {last_name(part.path) for part in parts} - {""}
    return sorted(used | {one.name for one in subject.contract(tool).fields}) if used else []


def styled(name: str, style: str) -> str:
    """A snake-case name in another style."""
    words = name.split("_")
    if style == "upper":
        return name.upper()
    if style == "dashed":
        return "-".join(words)
    capital = "".join(word[:1].upper() + word[1:] for word in words)
    return capital if style == "pascal" else words[0] + capital[len(words[0]) :]


def _has_other_form(value: Any) -> bool:
    return isinstance(value, str | int | float) and other_form(value) != value


def other_form(value: Any) -> Any:
    """A scalar in a form that reads the same to people; anything else as it is."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if is_number(value):
        return f"({-value:,})" if value < 0 else f"{value:+,}"
    if isinstance(value, str) and value.strip():
        return _long_date(value) if _DATE.fullmatch(value) else f' "{value}" '
    return value


def _long_date(text: str) -> str:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return f' "{text}" '
    return f"{day.day} {month_name[day.month]} {day.year}"


# ---- what each mode does to a result ----


def _wrapping(instance: Instance) -> Callable[[Any], Any]:
    envelope = ENVELOPES[instance.draw("envelope") % len(ENVELOPES)]
    return lambda value: {"status": "success", envelope: value}


def _units(instance: Instance) -> Callable[[Any], Any]:
    path, unit = _path(instance), instance.parameters["unit"]
    return lambda value: changed_at(value, path, lambda part: f"{part} {unit}" if is_number(part) else part)


def _nesting(instance: Instance) -> Callable[[Any], Any]:
    path = _path(instance)
    return lambda value: changed_at(value, path, lambda part: {"value": part})


def _aliases(instance: Instance) -> Callable[[Any], Any]:
    names = aliases(instance.parameters["names"], instance.draw("style"))
    return lambda value: renamed(value, names)


def aliases(names: Sequence[str], draw: int) -> dict[str, str]:
    """Other spellings of keys, in the first style after the one drawn that changes each of them."""
    first = draw % len(STYLES)
    for style in STYLES[first:] + STYLES[:first]:
        found = {name: styled(name, style) for name in names}
        if all(name != other for name, other in found.items()):
            return found
    return {name: f"{name}_" for name in names}


def _non_canonical(instance: Instance) -> Callable[[Any], Any]:
    path = _path(instance)
    return lambda value: changed_at(value, path, other_form)


def _path(instance: Instance) -> Path:
    return generic(tuple(instance.parameters["path"]))


_CHANGES: Mapping[str, Callable[[Instance], Callable[[Any], Any]]] = {
    "wrapping": _wrapping,
    "units": _units,
    "nesting": _nesting,
    "aliases": _aliases,
    "non-canonical": _non_canonical,
}
