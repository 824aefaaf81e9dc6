"""Can a policy's methods be called as they will be? Found out before an episode, from their signatures.

Methods are found by name, so that one of a reserved name is called whatever it was meant for.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import FunctionType
from typing import Any

from toolenv.actions import shown
from toolenv.errors import UsageError

HOOKS: Mapping[str, tuple[str, ...]] = {
    "act": ("observation", "memory"),
    "act_batch": ("observations", "memories"),
    "submit": ("observation", "memory"),
    "deciding": ("observation", "memory"),
    "deliberate": ("observation", "memory"),
    "begin": ("task", "seed"),
    "brief": ("task",),
    "start": ("seed",),
    "preflight": (),
    "preflight_by_role": (),
}
"""The methods that a policy may have, and what each is given, by place."""

_MAY_BE_NONE = frozenset({"brief", "preflight", "preflight_by_role"})
"""Where ``None`` says that there is no such method."""
_FUNCTION = ("observation",)


def check_methods(policy: object) -> None:
    """Refuse a policy of which a method could not be called as it will be, or decides in a coroutine.

    Looked at once for each class, since all episodes ask; each time, where methods are an object's own.

    Raises:
        UsageError: names the method, its signature and the one expected.
    """
    kind: Any = type(policy)
    own = getattr(policy, "__dict__", {})
    if hasattr(kind, "act") and HOOKS.keys().isdisjoint(own):
        _check_class(kind)
        return
    for hook in _hooks_of(policy):
        _check(f"{kind.__qualname__}.{hook}", hook, getattr(policy, hook), HOOKS[hook])


def check_function(function: Callable[..., Any]) -> None:
    """Refuse what cannot be called with an observation alone, or is a coroutine function.

    Raises:
        UsageError: names it, its signature and the one expected.
    """
    name = getattr(function, "__qualname__", type(function).__qualname__)
    if _is_async(function) or _is_async(type(function).__call__):
        raise _async_error(name)
    if not _plainly_takes_one(function) and (signature := _unfit(function, _FUNCTION)):
        raise UsageError(
            f"policy {name}: its signature is {name}{signature}, expected {name}(observation) -> action; one "
            "that keeps a memory is an object with `name` and `act(observation, memory) -> (action, memory)`"
        )


@lru_cache(maxsize=1024)
def _check_class(kind: type) -> None:
    for hook in _hooks_of(kind):
        found = inspect.getattr_static(kind, hook)
        expected = HOOKS[hook]
        if isinstance(found, staticmethod | classmethod):
            found = getattr(kind, hook)
        elif isinstance(found, FunctionType):
            expected = ("self", *expected)
        elif hasattr(type(found), "__get__"):  # made into something else by the object that has it
            continue
        _check(f"{kind.__qualname__}.{hook}", hook, found, expected)


def _hooks_of(policy: object) -> list[str]:
    """Those that will be called: a policy made of others is begun, any other one briefed or started."""
    unused = ("brief", "start") if hasattr(policy, "deliberate") else ("begin",)
    return [hook for hook in HOOKS if hook not in unused and hasattr(policy, hook)]


def _check(where: str, hook: str, found: Any, expected: tuple[str, ...]) -> None:
    if found is None and hook in _MAY_BE_NONE:
        return
    if _is_async(found):
        raise _async_error(where)
    if not callable(found):
        wrong = f"policy: {where} is {shown(found)}, no method"
    elif signature := _unfit(found, expected):
        wrong = f"policy: the signature of {where} is {hook}{signature}"
    else:
        return
    given = ("self", *HOOKS[hook]) if expected[:1] == ("self",) else HOOKS[hook]
    reserved = (
        ""
        if hook == "act"
        else f"; the name {hook!r} is reserved: toolenv calls a method of that name by itself"
    )
    raise UsageError(f"{wrong}, expected {hook}({', '.join(given)}){reserved}")


def _unfit(function: Callable[..., Any], expected: tuple[str, ...]) -> str:
    """The signature of what cannot be called with so many values; empty if it can, or tells none."""
    try:
        signature = inspect.signature(function, follow_wrapped=False)
    except (ValueError, TypeError):
        return ""
    try:
        signature.bind(*expected)
    except TypeError:
        names = signature.replace(
            parameters=[one.replace(annotation=one.empty) for one in signature.parameters.values()],
            return_annotation=signature.empty,
        )
        return str(names)
    return ""


def _plainly_takes_one(function: object) -> bool:
    """Whether that is beyond doubt; told faster than a signature."""
    if type(function) is not FunctionType or function.__kwdefaults__:
        return False
    code, defaults = function.__code__, len(function.__defaults__ or ())
    return not code.co_kwonlyargcount and code.co_argcount - defaults <= 1 <= code.co_argcount


def _is_async(function: object) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


def _async_error(name: str) -> UsageError:
    return UsageError(
        f"{name} is a coroutine function (async def), and nobody would await it; give a plain function:"
        " episodes run side by side all the same (--concurrency), and asyncio.run(…) inside it runs code that"
        " is async"
    )
