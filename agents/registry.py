"""Agent specs: ``oracle``, ``chat:MODEL``, ``my_module:my_agent``.

A module here that has ``make(argument, options) -> Policy`` is an agent: its file name, with ``-`` for
``_``, is its spec. It needs no entry in any list.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from toolenv.errors import UnknownNameError, UsageError
from toolenv.policy import Policy, as_policy


@cache
def agent_names() -> tuple[str, ...]:
    """The specs that need no module of the user's own."""
    modules = pkgutil.iter_modules([str(Path(__file__).parent)])
    names = (module.name.replace("_", "-") for module in modules)
    return tuple(sorted(name for name in names if _maker(name) is not None))


def _maker(name: str) -> Callable[[str, Mapping[str, Any]], Policy] | None:
    """``make`` of the module that a spec names; only that module is imported."""
    module = name.replace("-", "_")
    if not module.isidentifier() or not (Path(__file__).parent / f"{module}.py").exists():
        return None
    return getattr(importlib.import_module(f".{module}", __package__), "make", None)


def make_agent(spec: str, options: Mapping[str, Any] | None = None) -> Policy:
    """The policy that a spec names.

    Args:
        spec: ``NAME``, ``NAME:ARGUMENT``, or ``module:attribute`` for one's own policy, policy class or
            function ``observation -> action``.
        options: settings for agents that have some, e.g. ``base_url``.

    Raises:
        UnknownNameError: neither an agent nor an importable module; the nearest are named.
        UsageError: the spec's argument cannot be used.
    """
    name, _, argument = spec.partition(":")
    maker = _maker(name)
    if maker is not None:
        return maker(argument, options or {})
    if not argument:
        raise UnknownNameError("agent", spec, [*agent_names(), "module:attribute"])
    return _own(name, argument)


def _own(module_name: str, attribute: str) -> Policy:
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not module_name.startswith(error.name):
            raise
        raise UnknownNameError("agent or module", module_name, agent_names()) from error
    if not hasattr(module, attribute):
        public = [name for name in vars(module) if not name.startswith("_")]
        raise UnknownNameError("attribute", attribute, public, where=f"module {module_name}")
    found = getattr(module, attribute)
    if not isinstance(found, type):
        return as_policy(found)
    try:
        return as_policy(found())
    except TypeError as error:
        raise UsageError(
            f"agent {module_name}:{attribute}: cannot be built without arguments: {error}"
        ) from error
