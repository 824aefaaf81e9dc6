"""Is a value an action, all its parts included? Whatever gives one that is not has a bug of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from toolenv.errors import RAISED, NoActionError
from toolenv.types import (
    LARGEST_COUNT,
    NO_TOKENS,
    Action,
    Malformed,
    Message,
    Stop,
    ToolCall,
    ToolCalls,
    Usage,
)

_KINDS = (ToolCalls, Message, Stop, Malformed)
_USAGES = (type(None), Usage)
_CALL_TEXTS = ("name", "id", "problem")
_ACTIONS = "ToolCalls, Message, Stop, Malformed"
_COUNTS = (
    "cached_input_tokens",
    "reasoning_tokens",
    "retried_input_tokens",
    "retried_output_tokens",
    "generations",
    "recalled_input_tokens",
    "recalled_output_tokens",
)
_SHOWN = 100
"""Characters of a value that an error shows."""

_name_of: Callable[[type], str] = type.__dict__["__name__"].__get__
"""A metaclass may have a ``__name__`` of its own."""

_ALL_COUNTS = attrgetter("input_tokens", "output_tokens", *_COUNTS)


def check_action(action: object, giver: str) -> Action:
    """``action``, if it is one; of a subclass, what it holds as the class it is made from.

    Raises:
        NoActionError: it is not.
    """
    if type(action) not in _KINDS or type(action.usage) not in _USAGES:  # type: ignore[attr-defined]
        action, problem = _as_base(action)
        if problem:
            raise NoActionError(giver, problem)
    problem = problem_of(action)
    if problem:
        raise NoActionError(giver, problem)
    return action  # type: ignore[return-value]


def _as_base(action: object) -> tuple[object, str]:
    """A value that is of a subclass, or whose usage is, as traces can hold it; else why it cannot be had."""
    try:
        kind = next((one for one in _KINDS if isinstance(action, one)), None)
        if kind is None:
            return action, ""
        given = _held(action, kind)
        if isinstance(given["usage"], Usage):
            given["usage"] = Usage(**_held(given["usage"], Usage))
        return kind(**given), ""
    except RAISED as error:  # its own methods are no better than it is
        return action, _unseen(action, error)


def _held(item: object, kind: type[Any]) -> dict[str, Any]:
    return {name: getattr(item, name) for name in kind.__slots__}


def problem_of(action: object) -> str:
    """What keeps a value from being an action; empty if nothing does."""
    try:
        return _problem_of(action)
    except Exception as error:  # its own methods are no better than it is
        return _unseen(action, error)


def _problem_of(action: object) -> str:
    if isinstance(action, ToolCalls):
        return _problem_of_calls(action) or _problem_of_usage(action.usage)
    if isinstance(action, Message):
        return _problem_of_text("Message.text", action.text) or _problem_of_usage(action.usage)
    if isinstance(action, Stop):
        return (
            _problem_of_text("Stop.reason", action.reason)
            or _problem_of_confidence(action.confidence)
            or _problem_of_usage(action.usage)
        )
    if isinstance(action, Malformed):
        texts = _problem_of_text("Malformed.raw", action.raw) or _problem_of_text("Malformed.why", action.why)
        return texts or _problem_of_usage(action.usage)
    if isinstance(action, ToolCall):
        return f"{own_words(action, _SHOWN)} is none of {_ACTIONS}; wrap it: ToolCalls((call,))"
    return f"{shown(action)} is none of {_ACTIONS}"


def _problem_of_calls(action: ToolCalls) -> str:
    if type(action.calls) is tuple and all(map(_is_plain, action.calls)):
        return _problem_of_text("ToolCalls.text", action.text)
    if not isinstance(action.calls, tuple | list):
        return f"ToolCalls.calls is {shown(action.calls)}, no tuple of ToolCall"
    for number, call in enumerate(action.calls):
        if not isinstance(call, ToolCall):
            return f"ToolCalls.calls[{number}] is {shown(call)}, no ToolCall"
        if type(call.arguments) is not dict and not isinstance(call.arguments, Mapping):
            return f"the arguments of ToolCalls.calls[{number}] are {shown(call.arguments)}, no mapping"
        if not (isinstance(call.name, str) and isinstance(call.id, str) and isinstance(call.problem, str)):
            wrong = next(name for name in _CALL_TEXTS if not isinstance(getattr(call, name), str))
            return f"ToolCalls.calls[{number}].{wrong} is {shown(getattr(call, wrong))}, no str"
    return _problem_of_text("ToolCalls.text", action.text)


def _is_plain(call: Any) -> bool:
    """Whether a call is beyond doubt; told faster than what is wrong with it."""
    return (
        type(call) is ToolCall
        and type(call.arguments) is dict
        and type(call.name) is type(call.id) is type(call.problem) is str
    )


def _problem_of_text(name: str, text: object) -> str:
    return "" if isinstance(text, str) else f"{name} is {shown(text)}, no str"


def _problem_of_confidence(confidence: object) -> str:
    if confidence is None or (isinstance(confidence, int | float) and 0 <= confidence <= 1):
        return ""
    return f"Stop.confidence is {shown(confidence)}, not in [0, 1]"


def problem_of_usage(usage: object) -> str:
    """What keeps a value from being a usage or ``None``; empty if nothing does."""
    try:
        return _problem_of_usage(usage)
    except Exception as error:
        return _unseen(usage, error)


def _problem_of_usage(usage: object) -> str:
    if usage is None or usage is NO_TOKENS:
        return ""
    if not isinstance(usage, Usage):
        return f"the usage is {shown(usage)}, no Usage"
    counts = _ALL_COUNTS(usage)
    if type(usage.estimated) is not bool:
        return f"Usage.estimated is {shown(usage.estimated)}, no bool"
    # Beyond doubt; told faster than what is wrong.
    if set(map(type, counts)) == {int} and min(counts) >= 0 and max(counts) <= LARGEST_COUNT:
        return ""
    for name in ("input_tokens", "output_tokens", *_COUNTS):
        count: Any = getattr(usage, name)
        unknown = count is None and name not in _COUNTS
        if not unknown and not (type(count) is int and 0 <= count <= LARGEST_COUNT):
            return f"Usage.{name} is {shown(count)}, no whole number from 0 to {LARGEST_COUNT:,}"
    return ""


def _unseen(value: object, error: BaseException) -> str:
    return f"{_name_of(type(value))} raises {_name_of(type(error))} when it is looked at"


def shown(value: object) -> str:
    """A value as an error shows it: its type, and the beginning of its ``repr()`` if that can be had.

    It may be of any kind: a foreign value whose own methods raise must not take the error's place.
    """
    if type(value) is int and abs(value) > LARGEST_COUNT:
        return f"int of {value.bit_length()} bits"  # longer ones cannot be written out
    told, is_its_own = _own_words(value, _SHOWN)
    name = _name_of(type(value))
    # As dataclasses and most others write themselves, ``Stop(reason=…)``, or ``<Thing at …>``.
    return f"{name} {told}" if is_its_own and not told.startswith((f"{name}(", f"<{name} ")) else told


def own_words(value: object, limit: int | None = None) -> str:
    """The beginning of a value's ``repr()``, which may be of any kind; where that raises, words that say so.

    Args:
        value: any.
        limit: characters; ``None`` for all.
    """
    return _own_words(value, limit)[0]


def _own_words(value: object, limit: int | None) -> tuple[str, bool]:
    try:
        return str.__getitem__(repr(value), slice(limit)), True
    except Exception as error:
        return f"{_name_of(type(value))} whose repr() raises {_name_of(type(error))}", False
