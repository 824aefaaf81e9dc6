"""Invocation error: the right call is not what the tool receives (paper 2, §3).

Between agent and tool stands a request layer that misdelivers one parameter of one tool, the same way each
time. Its reply says what was received, and in which form the value does come through. Resending the same call
never helps; a reconstructed one does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from toolenv.arguments import check_arguments
from toolenv.hazards.base import Instance, Site, Subject, checked_mode
from toolenv.hazards.forms import is_number, shown_again, value_of
from toolenv.hazards.newer_names import newer_name
from toolenv.hazards.settings import ANY, NAME, PARAMETER, Setting
from toolenv.kernel.perturbed import Answer, Hazard, Perturbed
from toolenv.kernel.protocol import Slot
from toolenv.schema import type_names
from toolenv.types import ToolCall, ToolResult, ToolSpec

_encode = json.JSONEncoder(ensure_ascii=False).encode

CUT_AT = 4
"""Characters of a text that come through when it is truncated."""


class InvocationError:
    """Arguments dropped, renamed, coerced, defaulted, truncated or rejected at the boundary."""

    name = "invocation-error"
    modes: Mapping[str, str] = {
        "dropped": "a parameter is not forwarded",
        "renamed": "two parameters are bound to each other's names",
        "coerced": "a value is read as another type: 12.7 as 12, '007' as 7, an array as text",
        "defaulted": "a parameter arrives with a default instead of its value",
        "truncated": "a text is cut short, an array to its first item",
        "rejected": "the request layer refuses a parameter under its documented name",
    }
    settings: Mapping[str, Mapping[str, Setting]] = {
        "dropped": {"name": PARAMETER, "other": NAME},
        "renamed": {"name": PARAMETER, "other": PARAMETER},
        "coerced": {"name": PARAMETER},
        "defaulted": {"name": PARAMETER, "other": NAME, "default": ANY},
        "truncated": {"name": PARAMETER},
        "rejected": {"name": PARAMETER, "other": NAME},
    }
    needs = "no call of the solution has an argument that could be misdelivered"

    def sites(self, subject: Subject) -> Iterator[Site]:
        """Every argument of the solution, in each mode that would change what the tool receives."""
        tools = {tool.name: tool for tool in subject.task.tools}
        for tool in subject.working:
            used = dict.fromkeys(name for call, _ in subject.calls_of(tool) for name in call.arguments)
            for name in used:
                if name in tools[tool].parameters.get("properties", {}):
                    yield from _sites_of_parameter(subject, tools[tool], name)

    def hazard(self, instance: Instance) -> Hazard:
        """The perturbation of an instance."""
        checked_mode(self, instance)
        return RequestLayer(instance)

    def hint(self, instance: Instance) -> str:
        """Which parameter is misdelivered, and how to get it through."""
        name, other = instance.parameters["name"], instance.parameters.get("other", "")
        return _HINTS[instance.mode].format(tool=instance.tool, name=name, other=other)


KIND = InvocationError()

_BY_ALIAS = "The tool {tool} does not receive the parameter {name} as it was sent: {{}}. Send it as {other}."
_AS_JSON = "The tool {tool} does not receive the parameter {name} as it was sent: {{}}. Send it as JSON text."
_HINTS: Mapping[str, str] = {
    "dropped": _BY_ALIAS.replace("{{}}", "it is dropped on the way"),
    "renamed": "Between you and the tool {tool}, the parameters {name} and {other} are bound to each other's "
    "names. Send each under the other's name.",
    "coerced": _AS_JSON.replace("{{}}", "it is read as another type"),
    "defaulted": _BY_ALIAS.replace("{{}}", "a default takes its place"),
    "truncated": _AS_JSON.replace("{{}}", "it is cut short"),
    "rejected": _BY_ALIAS.replace("{{}}", "it is refused on the way"),
}


class _Delivery(NamedTuple):
    """What the layer makes of a call: the arguments it forwards, and what it says about them."""

    arguments: Mapping[str, Any]
    note: str = ""


class RequestLayer:
    """The faulty layer between agent and tool.

    Args:
        instance: ``parameters`` holds ``name``, the parameter; and ``other``, the one it is swapped with or
            the name under which it does come through; and ``default``, where one takes its place.
    """

    def __init__(self, instance: Instance) -> None:
        self.armed, self.facts = instance.armed, instance.facts
        self._mode, self._settings = instance.mode, instance.parameters
        self._deliver: Callable[[Mapping[str, Any], Mapping[str, Any]], _Delivery | None]
        self._deliver = _DELIVERIES[instance.mode]

    def tools(self, offered: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
        """The documentation stays as it was."""
        return offered

    def perturb(self, call: ToolCall, slot: Slot, answer: Answer) -> Perturbed:
        """The tool's answer to what it received, with the layer's note."""
        delivery = None if call.problem else self._deliver(call.arguments, self._settings)
        if delivery is None:
            return Perturbed(answer(call))
        arrived = ToolCall(call.name, delivery.arguments, call.id)
        if not delivery.note:
            return Perturbed(answer(arrived))
        clean = answer.aside(call)
        if self._mode == "rejected":
            return Perturbed(ToolResult(f"Error: request refused. {delivery.note}", "tool_error"), clean)
        return Perturbed(_annotated(answer(arrived), delivery), clean)


def _annotated(result: ToolResult, delivery: _Delivery) -> ToolResult:
    """A result with what was received and the layer's note; of an error, behind its text."""
    if result.kind != "ok":
        text = f"{result.content} [request received: {_encode(delivery.arguments)}; {delivery.note}]"
        return ToolResult(text, result.kind, None, result.record)
    value = value_of(result)
    told = value if isinstance(value, dict) else {"result": value}
    return shown_again({**told, "request": {"received": delivery.arguments, "note": delivery.note}}, result)


# ---- what each mode delivers; None where the call comes through as it is ----


def _by_alias(name: str, alias: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments with the value that was sent under the alias; ``None`` if none was."""
    if alias not in arguments:
        return None
    return {name if key == alias else key: value for key, value in arguments.items() if key != name}


def _without(arguments: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in arguments.items() if key != name}


def _dropped(arguments: Mapping[str, Any], settings: Mapping[str, Any]) -> _Delivery | None:
    name, alias = settings["name"], settings["other"]
    through = _by_alias(name, alias, arguments)
    if through is not None or name not in arguments:
        return _Delivery(through) if through is not None else None
    return _Delivery(_without(arguments, name), f"{name!r} is not forwarded by this version; {alias!r} is")


def _rejected(arguments: Mapping[str, Any], settings: Mapping[str, Any]) -> _Delivery | None:
    name, alias = settings["name"], settings["other"]
    through = _by_alias(name, alias, arguments)
    if through is not None or name not in arguments:
        return _Delivery(through) if through is not None else None
    return _Delivery({}, f"{name!r} is not accepted here; it is accepted as {alias!r}")


def _defaulted(arguments: Mapping[str, Any], settings: Mapping[str, Any]) -> _Delivery | None:
    name, alias = settings["name"], settings["other"]
    through = _by_alias(name, alias, arguments)
    if through is not None or name not in arguments:
        return _Delivery(through) if through is not None else None
    note = f"{name!r} was not bound and has its default; values are bound from {alias!r}"
    return _Delivery({**arguments, name: settings["default"]}, note)


def _renamed(arguments: Mapping[str, Any], settings: Mapping[str, Any]) -> _Delivery | None:
    one, other = settings["name"], settings["other"]
    if one not in arguments and other not in arguments:
        return None
    names = {one: other, other: one}
    swapped = {names.get(name, name): value for name, value in arguments.items()}
    return _Delivery(swapped, "arguments are shown as they were bound")


def _coerced(arguments: Mapping[str, Any], settings: Mapping[str, Any]) -> _Delivery | None:
    return _loosely_read(arguments, settings["name"], coerced, "is read loosely unless sent as JSON text")


def _truncated(arguments: Mapping[str, Any], settings: Mapping[str, Any]) -> _Delivery | None:
    return _loosely_read(arguments, settings["name"], truncated, "is cut short unless sent as JSON text")


def _loosely_read(
    arguments: Mapping[str, Any], name: str, change: Callable[[Any], Any], complaint: str
) -> _Delivery | None:
    if name not in arguments:
        return None
    decoded = from_json_text(arguments[name])
    if decoded is not None:
        return _Delivery({**arguments, name: decoded})
    received = change(arguments[name])
    if received == arguments[name] and type(received) is type(arguments[name]):
        return None
    return _Delivery({**arguments, name: received}, f"{name!r} {complaint}")


def from_json_text(value: Any) -> Any:
    """What a text holds that is JSON: a quoted text, an array, a number with a point; else ``None``."""
    if not isinstance(value, str) or value[:1] not in '"[-0123456789' or (value.isdigit()):
        return None
    try:
        decoded = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return decoded if isinstance(decoded, str | list | float) else None


def coerced(value: Any) -> Any:
    """A value as a careless layer reads it."""
    if isinstance(value, float):
        return int(value)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value


def truncated(value: Any) -> Any:
    """A value cut short."""
    if isinstance(value, str):
        return value[:CUT_AT]
    return value[:1] if isinstance(value, list) else value


_DELIVERIES: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], _Delivery | None]] = {
    "dropped": _dropped,
    "renamed": _renamed,
    "coerced": _coerced,
    "defaulted": _defaulted,
    "truncated": _truncated,
    "rejected": _rejected,
}


# ---- sites ----


def _sites_of_parameter(subject: Subject, tool: ToolSpec, name: str) -> Iterator[Site]:
    properties = tool.parameters["properties"]
    values = [call.arguments[name] for call, _ in subject.calls_of(tool.name) if name in call.arguments]
    by_alias = {"name": name, "other": newer_name(name, properties)}
    alone = not subject.is_replaceable(tool.name)
    if alone:
        yield Site("dropped", tool.name, by_alias)
        yield Site("rejected", tool.name, by_alias)
    default = _default(properties[name])
    if all(default != value for value in values) and (alone or _is_accepted(subject, tool, name, default)):
        yield Site("defaulted", tool.name, {**by_alias, "default": default})
    for mode, change in (("coerced", coerced), ("truncated", truncated)):
        if all(change(value) != value for value in values):
            yield Site(mode, tool.name, {"name": name})
    for other in properties:
        if name < other and _always_differ(subject, tool.name, name, other):
            yield Site("renamed", tool.name, {"name": name, "other": other})


def _is_accepted(subject: Subject, tool: ToolSpec, name: str, default: Any) -> bool:
    """Whether the tool takes a default for a value, so that nothing shows as an error."""
    return not any(
        check_arguments(tool, {**call.arguments, name: default}, "strict").problem
        for call, _ in subject.calls_of(tool.name)
    )


def _always_differ(subject: Subject, tool: str, name: str, other: str) -> bool:
    """Whether every call has both arguments, of one type and with different values."""
    calls = [call.arguments for call, _ in subject.calls_of(tool)]
    return all(
        name in arguments
        and other in arguments
        and _same_type(arguments[name], arguments[other])
        and arguments[name] != arguments[other]
        for arguments in calls
    )


def _same_type(one: Any, other: Any) -> bool:
    return type(one) is type(other) or (is_number(one) and is_number(other))


def _default(schema: Any) -> Any:
    """What takes a value's place: the declared default, the first option, or nothing of the type."""
    if isinstance(schema, Mapping):
        if "default" in schema:
            return schema["default"]
        if schema.get("enum"):
            return schema["enum"][0]
    names = type_names(schema) if isinstance(schema, Mapping) else ()
    empty: Mapping[str, Any] = {"integer": 0, "number": 0, "boolean": False, "array": [], "object": {}}
    return next((empty[name] for name in names if name in empty), "")
