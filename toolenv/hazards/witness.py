"""Recovery witnesses as they are stored: told by the task's own solution, so that no data set is copied.

A decision is the list of its calls, or ``{"say": TEXT}``; words of the solution itself are ``{"repeat":
K}``, its ``K``-th message. A call is the number of the solution's call that it repeats, or an object with
that number under ``"call"`` and what is different: ``"tool"``, another tool; ``"names"``, other names of
parameters; ``"swap"``, two parameters that have each other's value; ``"json"``, parameters sent as JSON
text. What no call of the solution explains stands there as ``[TOOL, ARGUMENTS]``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from toolenv.types import NO_TOKENS, Action, Message, ToolCall, ToolCalls

Stored: TypeAlias = tuple[Any, ...]
"""A witness in JSON values, one per decision."""


def stored(witness: Sequence[Action], solution: Sequence[Action]) -> Stored:
    """The stored form of a witness."""
    calls, words = _calls(solution), _words(solution)
    return tuple(_decision(action, calls, words) for action in witness)


def restored(witness: Stored, solution: Sequence[Action]) -> tuple[Action, ...]:
    """The decisions of a stored witness."""
    calls, words = _calls(solution), _words(solution)
    return tuple(_action(decision, calls, words) for decision in witness)


def _calls(solution: Sequence[Action]) -> list[ToolCall]:
    return [call for action in solution if isinstance(action, ToolCalls) for call in action.calls]


def _words(solution: Sequence[Action]) -> list[str]:
    return [action.text for action in solution if isinstance(action, Message)]


# ---- storing ----


def _decision(action: Action, calls: Sequence[ToolCall], words: Sequence[str]) -> Any:
    if isinstance(action, ToolCalls):
        return [_told(call, calls) for call in action.calls]
    assert isinstance(action, Message), "a witness calls tools and speaks"
    return {"repeat": words.index(action.text)} if action.text in words else {"say": action.text}


def _told(call: ToolCall, calls: Sequence[ToolCall]) -> Any:
    """A call in terms of the solution's; the plainest terms are tried first."""
    for number, known in enumerate(calls):
        if known.name == call.name and _same(call.arguments, known.arguments):
            return number
    for number, known in enumerate(calls):
        for change in _changes(call, known):
            told = {"call": number, **change}
            made = _made(told, calls)
            if made.name == call.name and _same(made.arguments, call.arguments):
                return told
    return [call.name, dict(call.arguments)]


def _changes(call: ToolCall, known: ToolCall) -> Iterator[dict[str, Any]]:
    """The changes that might make ``known`` into ``call``."""
    tool = {} if call.name == known.name else {"tool": call.name}
    names = _other_names(call.arguments, known.arguments)
    if names is not None:
        yield {**tool, "names": names} if names else tool
    if call.name != known.name or list(call.arguments) != list(known.arguments):
        return
    differing = [name for name in known.arguments if not _same(call.arguments[name], known.arguments[name])]
    if len(differing) == 2:
        yield {"swap": differing}
    yield {"json": differing}


def _other_names(arguments: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, str] | None:
    """How parameters are called instead, told by their order; ``None`` if their values differ."""
    if len(arguments) != len(known):
        return None
    pairs = list(zip(known, arguments, strict=True))
    if not all(_same(known[old], arguments[new]) for old, new in pairs):
        return None
    return {old: new for old, new in pairs if old != new}


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: ``1`` is no ``true`` and no ``1.0``."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


# ---- restoring ----


def _action(decision: Any, calls: Sequence[ToolCall], words: Sequence[str]) -> Action:
    if isinstance(decision, Mapping):
        text = words[decision["repeat"]] if "repeat" in decision else decision["say"]
        return Message(text, usage=NO_TOKENS)
    return ToolCalls(tuple(_made(told, calls) for told in decision), usage=NO_TOKENS)


def _made(told: Any, calls: Sequence[ToolCall]) -> ToolCall:
    if isinstance(told, int):
        return ToolCall(calls[told].name, calls[told].arguments)
    if isinstance(told, list):
        return ToolCall(told[0], told[1])
    known = calls[told["call"]]
    names, arguments = told.get("names", {}), dict(known.arguments)
    for one, other in [told["swap"]] if "swap" in told else ():
        arguments[one], arguments[other] = arguments[other], arguments[one]
    for name in told.get("json", ()):
        arguments[name] = json.dumps(arguments[name])
    return ToolCall(
        told.get("tool", known.name), {names.get(name, name): item for name, item in arguments.items()}
    )
