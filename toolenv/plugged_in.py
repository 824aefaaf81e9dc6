"""What a user brings by its place, ``module:attribute``: an agent, a suite."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from toolenv.errors import UnknownNameError, UsageError


def plugged_in(kind: str, module_name: str, attribute: str, known: Iterable[str] = ()) -> Any:
    """The object at ``module_name:attribute``.

    Args:
        kind: what it is to be, e.g. ``"agent"``.
        module_name: a module that can be imported.
        attribute: a name in it.
        known: what goes by a name of its own, which the module's may be meant for.

    Raises:
        UnknownNameError: no such module, or no such attribute in it; the nearest are named.
        UsageError: the module cannot be imported; the line of it that fails is named.
    """
    module = imported(kind, module_name, known)
    if not hasattr(module, attribute):
        public = [name for name in vars(module) if not name.startswith("_")]
        raise UnknownNameError("attribute", attribute, public, where=f"module {module_name}")
    return getattr(module, attribute)


def place_of(thing: Any) -> str:
    """Where a suite is found by the command line: ``module:attribute``, or its name if it needs no place."""
    module = sys.modules.get(type(thing).__module__)
    same = (type(thing), thing.name)  # a copy with other settings, too
    own = [
        name
        for name, value in (vars(module).items() if module else ())
        if (type(value), getattr(value, "name", "")) == same
    ]
    return f"{type(thing).__module__}:{own[0]}" if own else str(thing.name)


def imported(kind: str, name: str, known: Iterable[str] = ()) -> ModuleType:
    """A module of the user's, by its name; the errors are those of :func:`plugged_in`."""
    meant = [name.removesuffix(".py")] if name.endswith(".py") else []
    unknown = UnknownNameError(f"{kind} or module", name, [*known, *meant])
    if not all(part.isidentifier() for part in name.split(".")):
        raise unknown
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # a script that ends by sys.exit, too
        if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
            raise unknown from error
        told = f"module {name!r} cannot be imported: {type(error).__name__}: {error}"
        if not isinstance(error, SyntaxError):  # which names its line itself
            last = traceback.extract_tb(error.__traceback__)[-1]
            told += f" ({last.filename}, line {last.lineno})"
        raise UsageError(told) from error
