"""Specification drift: the documentation describes a contract that no longer holds (paper 2, §3).

The runtime is consistent with itself; what it does is mapped back to what is documented.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolenv.hazards.base import Instance, OutputHazard, Site, Subject, checked_mode
from toolenv.hazards.forms import changed_at, generic, is_number, last_name, renamed
from toolenv.hazards.newer_names import newer_name
from toolenv.hazards.settings import FIELD_PATH, NAME, OTHER_NAMES, PARAMETER, PATH, Setting
from toolenv.hazards.sites import UsedPart, used_parts
from toolenv.kernel.perturbed import Answer, Hazard, Perturbed
from toolenv.kernel.protocol import Slot
from toolenv.plan import EACH, Path
from toolenv.types import ToolCall, ToolResult, ToolSpec
from toolenv.units import MULTIPLES, convert

_UNIT = NAME._replace(known=lambda given: MULTIPLES)
_TARGET = NAME._replace(known=lambda given: MULTIPLES[given["unit"]])


class SpecificationDrift:
    """Renamed fields, changed types, altered output shapes, shifted units."""

    name = "specification-drift"
    modes: Mapping[str, str] = {
        "renamed-field": "a field comes under another name",
        "changed-type": "a single value comes as an array of one, an array as an object",
        "output-shape": "an object comes as pairs of field and value, a table as columns and rows",
        "shifted-units": "a number counts another unit than documented, which the result names",
        "renamed-parameter": "the documentation has an old name of a parameter",
    }
    settings: Mapping[str, Mapping[str, Setting]] = {
        "renamed-field": {"names": OTHER_NAMES},
        "changed-type": {"path": PATH},
        "output-shape": {},
        "shifted-units": {"path": FIELD_PATH, "unit": _UNIT, "target": _TARGET},
        "renamed-parameter": {"name": PARAMETER, "documented": NAME},
    }
    needs = "no result that something depends on is documented, and no call has an argument to rename"

    def sites(self, subject: Subject) -> Iterator[Site]:
        """Every tool with documented fields that something depends on; or with parameters, failing those."""
        documented = False
        for tool, parts in used_parts(subject).items():
            if subject.contract(tool).fields and subject.contract(tool).complete:
                for site in _output_sites(subject, tool, parts):
                    documented = True
                    yield site
        if not documented:
            yield from _parameter_sites(subject)

    def hazard(self, instance: Instance) -> Hazard:
        """The perturbation of an instance."""
        if checked_mode(self, instance) == "renamed-parameter":
            return StaleParameter(instance)
        return OutputHazard(instance, _CHANGES[instance.mode])

    def hint(self, instance: Instance) -> str:
        """What is outdated, and how to work with what the tool does now."""
        return f"The documentation of {instance.tool} is outdated: {_HINTS[instance.mode]}"


KIND = SpecificationDrift()

_HINTS: Mapping[str, str] = {
    "renamed-field": "a field now has another name. The documented field that is missing is the one that is "
    "not documented.",
    "changed-type": "a field changed its type. A single value stands in an array of one, an array in an "
    "object whose keys are positions.",
    "output-shape": "the shape of its output changed. Put pairs of field and value, or columns and rows, "
    "together again.",
    "shifted-units": "a number now counts another unit, which the result names. Convert it back to the "
    "documented unit.",
    "renamed-parameter": "a parameter is called otherwise now. The error message lists the names it takes.",
}


class StaleParameter:
    """Documentation with an old parameter name; the tool takes the name it always took.

    Args:
        instance: ``parameters`` holds ``name``, the tool's own, and ``documented``, the old one.
    """

    def __init__(self, instance: Instance) -> None:
        self.armed, self.facts, self._tool = instance.armed, instance.facts, instance.tool
        self._name, self._documented = instance.parameters["name"], instance.parameters["documented"]

    def tools(self, offered: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
        """The armed tool with its old documentation."""
        return tuple(self._outdated(tool) if tool.name == self._tool else tool for tool in offered)

    def perturb(self, call: ToolCall, slot: Slot, answer: Answer) -> Perturbed:
        """A refusal where the documented name is used; it lists the names that the tool takes."""
        if self._documented not in call.arguments:
            return Perturbed(answer(call))
        names = {self._documented: self._name}
        meant = {names.get(name, name): value for name, value in call.arguments.items()}
        text = f"Error: {self._tool} does not take {self._documented!r}; it takes {self._name!r}"
        return Perturbed(ToolResult(text, "invalid_arguments"), answer.aside(replace(call, arguments=meant)))

    def _outdated(self, tool: ToolSpec) -> ToolSpec:
        schema, names = dict(tool.parameters), {self._name: self._documented}
        schema["properties"] = {names.get(key, key): one for key, one in schema["properties"].items()}
        if "required" in schema:
            schema["required"] = [names.get(key, key) for key in schema["required"]]
        return replace(tool, parameters=schema)


def _parameter_sites(subject: Subject) -> Iterator[Site]:
    tools = {tool.name: tool for tool in subject.task.tools}
    for planned in dict.fromkeys((call.name, name) for call, _ in subject.calls for name in call.arguments):
        tool, name = planned
        known = tools[tool].parameters.get("properties", {}) if tool in tools else {}
        if name in known:
            yield Site("renamed-parameter", tool, {"name": name, "documented": newer_name(name, known)})


def _output_sites(subject: Subject, tool: str, parts: Sequence[UsedPart]) -> Iterator[Site]:
    fields = {one.name for one in subject.contract(tool).fields}
    for part in parts:
        name, path = last_name(part.path), {"path": list(part.path)}
        if name in fields:
            yield Site("renamed-field", tool, {"names": {name: newer_name(name, fields)}})
        if part.path and all(value is not None and not isinstance(value, dict) for value in part.values):
            yield Site("changed-type", tool, path)
        if part.path and isinstance(part.path[0], str):
            yield Site("output-shape", tool, {})
        if part.unit and all(map(is_number, part.values)):
            for target in MULTIPLES.get(part.unit, {}):
                if all(_survives(value, part.unit, target) for value in part.values):
                    yield Site("shifted-units", tool, {**path, "unit": part.unit, "target": target})


def _survives(value: int | float, unit: str, target: str) -> bool:
    """Whether a number changes in another unit and comes back the same, written as people write numbers."""
    there = convert(value, unit, target)
    if there is None or there == value or "e" in repr(there) or (0 < abs(there) < 0.001):
        return False
    return repr(convert(there, target, unit)) == repr(value)


# ---- what each mode does to a result ----


def _renamed_field(instance: Instance) -> Callable[[Any], Any]:
    names = instance.parameters["names"]
    return lambda value: renamed(value, names)


def _changed_type(instance: Instance) -> Callable[[Any], Any]:
    path = generic(tuple(instance.parameters["path"]))
    return lambda value: changed_at(value, path, _other_type)


def _other_type(part: Any) -> Any:
    if isinstance(part, list):
        return {str(number): item for number, item in enumerate(part)}
    return part if part is None or isinstance(part, dict) else [part]


def _output_shape(instance: Instance) -> Callable[[Any], Any]:
    return other_shape


def other_shape(value: Any) -> Any:
    """An object as pairs, an array of like objects as a table; anything else as it is."""
    if isinstance(value, dict):
        return [{"field": key, "value": item} for key, item in value.items()]
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        columns = list(value[0])
        if all(list(item) == columns for item in value):
            return {"columns": columns, "rows": [list(item.values()) for item in value]}
    return value


def _shifted_units(instance: Instance) -> Callable[[Any], Any]:
    parameters = instance.parameters
    path = generic(tuple(parameters["path"]))
    unit, target = parameters["unit"], parameters["target"]
    name, holder = last_name(path), path[: _place_of_name(path)]
    return lambda value: changed_at(value, holder, lambda owner: _shifted(owner, name, path, unit, target))


def _place_of_name(path: Path) -> int:
    return max(number for number, step in enumerate(path) if isinstance(step, str) and step != EACH)


def _shifted(owner: Any, name: str, path: Path, unit: str, target: str) -> Any:
    """The object that holds the field, with its numbers and the unit it names changed."""
    if not isinstance(owner, dict) or name not in owner:
        return owner
    inner = path[_place_of_name(path) :]
    shifted = changed_at(owner, inner, lambda part: _converted(part, unit, target))
    places = [key for key in (f"{name}_unit", "unit", "currency") if owner.get(key) == unit]
    return {**shifted, places[0] if places else f"{name}_unit": target}


def _converted(part: Any, unit: str, target: str) -> Any:
    found = convert(part, unit, target) if is_number(part) else None
    return part if found is None else found


_CHANGES: Mapping[str, Callable[[Instance], Callable[[Any], Any]]] = {
    "renamed-field": _renamed_field,
    "changed-type": _changed_type,
    "output-shape": _output_shape,
    "shifted-units": _shifted_units,
}
