"""Agent specs: ``oracle``, ``chat:MODEL``, ``my_module:my_agent``, ``planner(chat:A)->executor(chat:B)``.

A module here that has ``make(argument, options) -> Policy`` is an agent: its file name, with ``-`` for
``_``, is its spec. One that has ``compose(arguments, inner) -> Policy`` makes an agent of another one, and
its spec is ``NAME(ARGUMENT,…,SPEC)``. Neither needs an entry in any list.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from toolenv.errors import UnknownNameError, UsageError
from toolenv.plugged_in import plugged_in
from toolenv.policy import Policy, as_policy

from .planner import EXECUTOR, PLANNER, PlannerExecutor
from .settings import SERVER_OPTIONS
from .specs import Combined, Name, Pair, Spec, misplaced, parse_spec
from .watched import Watched

PAIR = f"{PLANNER}(SPEC)->{EXECUTOR}(SPEC)"


@cache
def agent_names() -> tuple[str, ...]:
    """The specs that need no module of the user's own."""
    return _names_with("make")


@cache
def combinator_names() -> tuple[str, ...]:
    """The names of agents that are made of another one."""
    return _names_with("compose")


def _names_with(function: str) -> tuple[str, ...]:
    modules = pkgutil.iter_modules([str(Path(__file__).parent)])
    names = (module.name.replace("_", "-") for module in modules)
    return tuple(sorted(name for name in names if _function(name, function) is not None))


def _function(name: str, function: str) -> Callable[..., Policy] | None:
    """``make`` or ``compose`` of the module that a spec names; only that module is imported."""
    module = name.replace("-", "_")
    if not module.isidentifier() or not os.path.exists(Path(__file__).parent / f"{module}.py"):
        return None
    return getattr(importlib.import_module(f".{module}", __package__), function, None)


def make_agent(spec: str, options: Mapping[str, Any] | None = None) -> Policy:
    """The policy that a spec names.

    Args:
        spec: ``NAME``, ``NAME:ARGUMENT``, or ``module:attribute`` for one's own policy, policy class or
            function ``observation -> action``; and agents made of these, see :mod:`toolenv.agents.specs`.
        options: settings for agents that have some, e.g. ``temperature``. Those that begin with ``planner.``
            or ``executor.`` are for that part of a pair alone, and go before the others there. How a server
            is reached (``base_url``, …) may be told to an agent that needs none: it changes no episode.

    Raises:
        UnknownNameError: neither an agent nor an importable module, or an option that no agent of the spec
            reads; the nearest are named.
        UsageError: the spec, or an argument in it, cannot be used; where that stands is named.
    """
    options, read, tree = dict(options or {}), set[str](), parse_spec(spec)
    if isinstance(tree, Name):
        policy = _named(spec, Watched(options, read.add))
    else:
        policy = _build(tree, options, read.add, spec)
    for name in options:
        if name not in read and name.rpartition(".")[2] not in SERVER_OPTIONS:
            raise UnknownNameError("agent option", name, read, where=f"agent {spec}")
    return policy


def options_read(name: str, options: Mapping[str, Any]) -> set[str]:
    """Which options an agent that needs no other reads; all of them where it cannot be built.

    One's own policies get none, so are not built here.
    """
    if name.partition(":")[0] not in agent_names():
        return set()
    read = set[str]()
    try:
        _named(name, Watched(options, read.add))
    except UsageError:
        return set(options)
    return read


Note: TypeAlias = Callable[[str], object]
"""Told the name of an option that is read, as it stands before the spec's own parts."""


def _build(tree: Spec, options: Mapping[str, Any], note: Note, whole: str) -> Policy:
    """The policy of a part of the spec ``whole``."""
    if isinstance(tree, Pair):
        return PlannerExecutor(
            _build(tree.planner, for_role(PLANNER, options), _noting(PLANNER, note), whole),
            _build(tree.executor, for_role(EXECUTOR, options), _noting(EXECUTOR, note), whole),
        )
    if isinstance(tree, Name):
        with _placed(whole, tree.at):
            return _named(tree.text, Watched(options, note))
    inner = _build(tree.inner, options, note, whole)
    with _placed(whole, tree.at):
        return _combined(tree, inner)


def _noting(role: str, note: Note) -> Note:
    """An option that one part of a pair reads may have been given to both, or to that part alone."""

    def both(name: str) -> None:
        note(name)
        note(f"{role}.{name}")

    return both


@contextmanager
def _placed(whole: str, at: int) -> Iterator[None]:
    """Say of a mistake where in the spec it is."""
    try:
        yield
    except UsageError as error:
        error.args = (misplaced(whole, at, str(error)),)
        raise


def for_role(role: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of one part of a pair: the shared ones, and before them its own."""
    roles = (f"{PLANNER}.", f"{EXECUTOR}.")
    shared = {name: value for name, value in options.items() if not name.startswith(roles)}
    own = {name.partition(".")[2]: value for name, value in options.items() if name.startswith(f"{role}.")}
    return {**shared, **own}


def _combined(tree: Combined, inner: Policy) -> Policy:
    compose = _function(tree.name, "compose")
    if compose is None:
        raise UnknownNameError("agent made of others", tree.name, [*combinator_names(), PLANNER])
    return compose(tree.arguments, inner)


def _named(spec: str, options: Mapping[str, Any]) -> Policy:
    name, _, argument = spec.partition(":")
    maker = _function(name, "make")
    if maker is not None:
        return maker(argument, options)
    if name in (PLANNER, EXECUTOR) or name in combinator_names():
        form = PAIR if name in (PLANNER, EXECUTOR) else f"{name}(…,SPEC)"
        raise UsageError(f"agent {spec!r} is made of others: write {form}")
    known = [*agent_names(), *combinator_names(), PLANNER, "module:attribute"]
    if not argument:
        raise UnknownNameError("agent", spec, known)
    return _own(name, argument, known)


def _own(module_name: str, attribute: str, known: Iterable[str]) -> Policy:
    found = plugged_in("agent", module_name, attribute, known)
    if not isinstance(found, type):
        return as_policy(found)
    try:
        return as_policy(found())
    except TypeError as error:
        raise UsageError(
            f"agent {module_name}:{attribute}: cannot be built without arguments: {error}"
        ) from error
