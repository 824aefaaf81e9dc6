"""Recovery witnesses as they are stored: told by the task's own solution, so that no data set is copied.

A decision is the list of its calls, or ``{"say": TEXT}``; words of the solution itself are ``{"repeat":
K}``, its ``K``-th message. A call is the number of the solution's call that it repeats, or an object with
that number under ``"call"`` and what is different: ``"tool"``, another tool; ``"names"``, other names of
parameters; ``"swap"``, two parameters that have each other's value; ``"json"``, parameters sent as JSON
text. What no call of the solution explains stands there as ``[TOOL, ARGUMENTS]``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from toolenv.errors import DataCorruptError, UnknownNameError
from toolenv.types import NO_TOKENS, Action, Message, ToolCall, ToolCalls

Stored: TypeAlias = tuple[Any, ...]
"""A witness in JSON values, one per decision."""


def stored(witness: Sequence[Action], solution: Sequence[Action]) -> Stored:
    """The stored form of a witness."""
    calls, words = _calls(solution), _words(solution)
    return tuple(_decision(action, calls, words) for action in witness)


def restored(witness: Stored, solution: Sequence[Action]) -> tuple[Action, ...]:
    """The decisions of a stored witness.

    Raises:
        DataCorruptError: it repeats what the solution does not have.
    """
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
        repeats = "repeat" in decision
        text = _nth("message", words, decision["repeat"]) if repeats else decision["say"]
        return Message(text, usage=NO_TOKENS)
    return ToolCalls(tuple(_made(told, calls) for told in decision), usage=NO_TOKENS)


def _made(told: Any, calls: Sequence[ToolCall]) -> ToolCall:
    if isinstance(told, int):
        known = _nth("call", calls, told)
        return ToolCall(known.name, known.arguments)
    if isinstance(told, list):
        return ToolCall(told[0], told[1])
    known = _nth("call", calls, told["call"])
    names, arguments = told.get("names", {}), dict(known.arguments)
    _expect_arguments((*names, *told.get("swap", ()), *told.get("json", ())), arguments, told["call"])
    for one, other in [told["swap"]] if "swap" in told else ():
        arguments[one], arguments[other] = arguments[other], arguments[one]
    for name in told.get("json", ()):
        arguments[name] = json.dumps(arguments[name])
    return ToolCall(
        told.get("tool", known.name), {names.get(name, name): item for name, item in arguments.items()}
    )


_Item = TypeVar("_Item")


def _nth(what: str, items: Sequence[_Item], number: int) -> _Item:
    if number >= len(items):
        there = f"those from 0 to {len(items) - 1}" if items else "none"
        raise DataCorruptError(f"the witness repeats {what} {number} of the solution, which has {there}")
    return items[number]


def _expect_arguments(names: Collection[str], known: Collection[str], number: int) -> None:
    for name in names:
        if name not in known:
            unknown = UnknownNameError("argument", name, known, where=f"call {number} of the solution")
            raise DataCorruptError(f"the witness: {unknown}")


# ---- the stored form ----


def check_stored(witness: Sequence[Any], where: str) -> None:
    """Refuse what is no witness in its stored form.

    Args:
        witness: what a file has for one.
        where: names file and task in errors.

    Raises:
        DataCorruptError: names the decision.
    """
    for at, decision in enumerate(witness):
        if not _is_decision(decision):
            raise DataCorruptError(
                f"{where}: witness[{at}] is {decision!r:.80}, expected a list of calls, {{'say': TEXT}} "
                "or {'repeat': NUMBER}"
            )


def _is_decision(decision: Any) -> bool:
    if isinstance(decision, list):
        return decision != [] and all(map(_is_told, decision))
    if not isinstance(decision, dict) or len(decision) != 1:
        return False
    return _is_number(decision["repeat"]) if "repeat" in decision else isinstance(decision.get("say"), str)


def _is_told(told: Any) -> bool:
    if isinstance(told, dict):
        return "call" in told and all(name in _FORMS and _FORMS[name](one) for name, one in told.items())
    if isinstance(told, list):
        return len(told) == 2 and isinstance(told[0], str) and isinstance(told[1], dict)
    return _is_number(told)


def _is_number(value: Any) -> bool:
    return type(value) is int and value >= 0


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


_FORMS: Mapping[str, Callable[[Any], bool]] = {
    "call": _is_number,
    "tool": lambda value: isinstance(value, str),
    "names": lambda value: isinstance(value, dict) and _are_texts(list(value.values())),
    "swap": lambda value: _are_texts(value) and len(value) == 2,
    "json": _are_texts,
}
