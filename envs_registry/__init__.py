"""Suites, one module or package each, and the registration of their environment ids.

A module here that holds ``SUITE`` (see :class:`toolenv.suite.Suite`) is a suite: it needs no entry in any
list. Importing this package registers ``ToolFeas/<Suite>-<condition>-v0`` with Gymnasium; it loads no data.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import gymnasium
from gymnasium.envs.registration import WrapperSpec

from toolenv.env import ToolEnv
from toolenv.errors import UnknownNameError, UsageError
from toolenv.plugged_in import plugged_in
from toolenv.source import TaskIds, conditions_of, make_source
from toolenv.suite import Derived, configured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolenv.data import DataStore
    from toolenv.suite import Suite

NAMESPACE = "ToolFeas"
DATA_FOLDER = Path(__file__).parent / "data"
"""The definitions of the data sets: where they come from, their licences and hashes."""

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
    module, separator, attribute = name.partition(":")
    if separator:
        found = plugged_in("suite", module, attribute, suites())
        if not callable(getattr(found, "tasks", None)):
            raise UsageError(f"{name} is no suite: it is {type(found).__name__} {found!r:.80}, without tasks")
        return cast("Suite", found)
    if name not in suites():
        raise UnknownNameError("suite", name, suites())
    return suites()[name]


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
    spec = gymnasium.registry.get(name.rpartition(":")[2])
    if spec is None or spec.namespace != NAMESPACE:
        raise UnknownNameError("environment id", name, registered_ids())
    return dict(spec.kwargs)


def registered_ids() -> tuple[str, ...]:
    """Every id of :func:`env_ids`, and of suites of one's own that are registered by now; sorted."""
    own = (name for name, spec in gymnasium.registry.items() if spec.namespace == NAMESPACE)
    return tuple(sorted({*env_ids(), *own}))


for _name, _suite in suites().items():
    _register(_name, _suite)
