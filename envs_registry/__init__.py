"""Suites, one module or package each, and the registration of their environment ids.

A module here that holds ``SUITE`` (see :class:`toolenv.suite.Suite`) is a suite: it needs no entry in any
list. Importing this package registers ``ToolFeas/<Suite>-<condition>-v0`` with Gymnasium; it loads no data.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import gymnasium
from gymnasium.envs.registration import WrapperSpec

from toolenv.env import ToolEnv
from toolenv.errors import UnknownNameError, UsageError, nearest
from toolenv.plugged_in import plugged_in
from toolenv.source import TaskIds, conditions_of, make_source
from toolenv.suite import Derived, configured

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from toolenv.data import DataStore
    from toolenv.suite import Suite

NAMESPACE = "ToolFeas"
DATA_FOLDER = Path(__file__).parent / "data"
"""The definitions of the data sets: where they come from, their licences and hashes."""

PLACE_FORM = "MODULE:ATTRIBUTE, e.g. library_suite:SUITE"
"""How a suite of one's own is named."""

_WRAPPERS = tuple(
    WrapperSpec(name, f"toolenv.wrappers.{module}:{name}", {})
    for module, name in (("record", "RecordTrace"), ("tokens", "RecordTokens"), ("reward", "RecordReward"))
)


@cache
def suites() -> Mapping[str, Suite]:
    """Every suite by name."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        suite = getattr(importlib.import_module(f"{__name__}.{module.name}"), "SUITE", None)
        if suite is not None:
            found[suite.name] = suite
    return MappingProxyType(dict(sorted(found.items())))


def get_suite(name: str) -> Suite:
    """The suite of that name, or at ``module:attribute``.

    Raises:
        UnknownNameError: there is none.
        UsageError: what is there is no suite, or its module cannot be imported.
    """
    if ":" in name:
        return _own_suite(name)
    if name not in suites():
        known = [*suites(), *_registered_places()]
        raise UnknownNameError("suite", name, known, more=f"one of your own is {PLACE_FORM}")
    return suites()[name]


def _own_suite(name: str) -> Suite:
    """The suite at ``module:attribute``."""
    module, _, attribute = name.partition(":")
    try:
        found = plugged_in("suite", module, attribute, suites())
    except UnknownNameError as error:
        if error.kind != "attribute":
            raise
        more = f"give a suite as {PLACE_FORM}"
        places = {*_places_in(module), *_registered_places()}
        if places:
            raise UnknownNameError("suite", name, places, more=more) from error
        raise UnknownNameError("attribute", attribute, error.known, f"module {module}", more) from error
    if not _is_suite(found):
        raise UsageError(f"{name} is no suite: it is {type(found).__name__} {found!r:.80}, without tasks")
    return cast("Suite", found)


def _is_suite(thing: object) -> bool:
    return callable(getattr(thing, "tasks", None))


def _places_in(module: str) -> list[str]:
    """Where in a module, which is imported, suites are."""
    held = vars(sys.modules.get(module, object)).items()
    return [f"{module}:{name}" for name, one in held if _is_suite(one) and not isinstance(one, type)]


def _registered_places() -> set[str]:
    """Where the suites of one's own are whose ids are registered by now."""
    return {str(gymnasium.registry[one].kwargs["suite"]) for one in own_ids()}


def data_store() -> DataStore:
    """The data sets on this machine, with what the suites bring to read upstream's sources as data."""
    from toolenv.data import DataStore

    readers = {suite.data: suite.derive for suite in suites().values() if isinstance(suite, Derived)}
    return DataStore(DATA_FOLDER, derivations=readers)


def env_id(suite: str, condition: str, version: int = 0) -> str:
    """``ToolFeas/<Suite>-<condition>-v<version>``."""
    return f"{NAMESPACE}/{suite}-{condition}-v{version}"


def env_ids() -> tuple[str, ...]:
    """Every id this package registers, sorted."""
    return tuple(
        sorted(
            env_id(name, condition) for name, suite in suites().items() for condition in conditions_of(suite)
        )
    )


def make_env(
    suite: str,
    condition: str,
    *,
    subset: str | None = None,
    tasks: TaskIds = None,
    prior: float | None = None,
    max_turns: int | None = None,
    masks: str | None = None,
    hazards: str | None = None,
    hazard_seed: int | None = None,
    decoys: bool = False,
    render_mode: str | None = None,
    **suite_options: Any,
) -> ToolEnv:
    """The environment behind an id; ``gymnasium.make(id, …)`` passes the keywords on.

    See :func:`toolenv.source.make_source` for their meaning; any other is a setting of the suite's own.

    Raises:
        UsageError: a value that cannot be used, or a keyword that neither we nor the suite know.
    """
    source = make_source(
        configured(get_suite(suite), suite_options, beside=make_env.__kwdefaults__ or ()),
        condition,
        subset=subset,
        tasks=tasks,
        prior=prior,
        max_turns=max_turns,
        masks=masks,
        hazards=hazards,
        hazard_seed=hazard_seed,
        decoys=decoys,
    )
    return ToolEnv(source, render_mode=render_mode)


def register_suite(location: str) -> tuple[str, ...]:
    """Register the ids of a suite of one's own, and return them.

    Args:
        location: ``module:attribute``, importable wherever environments are made, workers included.
    """
    return _register(location, get_suite(location))


def _register(location: str, suite: Suite) -> tuple[str, ...]:
    conditions = conditions_of(suite)
    ids = tuple(env_id(suite.name, condition) for condition in conditions)
    for condition, identifier in zip(conditions, ids, strict=True):
        if identifier not in gymnasium.registry:
            gymnasium.register(
                identifier,
                entry_point=f"{__name__}:make_env",
                kwargs={"suite": location, "condition": condition},
                additional_wrappers=_WRAPPERS,
            )
    return ids


def parse_env_id(name: str) -> dict[str, Any]:
    """The ``suite`` and ``condition`` of an id.

    Args:
        name: an id; a module in front of it (``module:ToolFeas/…``) is not imported here.

    Raises:
        UnknownNameError: no such id; the nearest are named.
    """
    plain = name.rpartition(":")[2]
    spec = gymnasium.registry.get(plain)
    if spec is None or spec.namespace != NAMESPACE:
        raise unknown_id(name)
    return dict(spec.kwargs)


def unknown_id(name: str, known: Iterable[str] | None = None, more: Iterable[str] = ()) -> UnknownNameError:
    """The error for an id, or a pattern of ids, that is not there.

    Args:
        name: as it was given; behind a module, ids of one's own are meant where there are any.
        known: those ids of one's own that could be meant; ``None`` for all that are registered.
        more: what else could be meant.
    """
    module = name.rpartition(":")[0]
    own = own_ids() if known is None else known
    if not module:
        return UnknownNameError("environment id", name, {*more, *env_ids(), *own})
    if own:
        return UnknownNameError("environment id", name, [f"{module}:{one}" for one in own])
    told = f"module {module} registers no id"
    places = _places_in(module)
    if places:
        told += f"; envs_registry.register_suite({places[0]!r}) in it would"
    return UnknownNameError("environment id", name, nearest(name, {*more, *env_ids()}), more=told)


def own_ids() -> tuple[str, ...]:
    """The ids of suites of one's own that are registered by now; sorted."""
    registered = {name for name, spec in gymnasium.registry.items() if spec.namespace == NAMESPACE}
    return tuple(sorted(registered.difference(env_ids())))


for _name, _suite in suites().items():
    _register(_name, _suite)
