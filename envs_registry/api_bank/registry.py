"""The APIs: one function each, registered where it stands by the decorator :func:`api`.

A function takes the :class:`~envs_registry.api_bank.state.State` of the episode and the API's arguments by
name, and returns the output. What it raises becomes the ``exception`` of the result, Python's own errors on
arguments of other types included: their texts are part of what upstream's APIs say.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, TypeVar

from envs_registry.api_bank.rules import Rule
from envs_registry.api_bank.state import Table

Folder: TypeAlias = Literal["apis", "lv3_apis"]
"""Upstream's two collections: levels 1 and 2 use the first, level 3 the other."""

Function = TypeVar("Function", bound=Callable[..., Any])

SUCCESS: Final = "success"


@dataclass(frozen=True, slots=True)
class Api:
    """One API.

    Attributes:
        name: upstream's class name.
        run: ``run(state, **arguments)``.
        rule: upstream's rule of when a call is right.
        mended: the rule an episode is judged by, where upstream's can never hold; else the same.
        names_itself: whether its results hold ``api_name``.
        from_web: whether its successes come from recordings, since upstream's come from the network.
    """

    name: str
    run: Callable[..., Any]
    rule: Rule
    mended: Rule
    names_itself: bool = True
    from_web: bool = False


_APIS: Final[dict[str, dict[str, Api]]] = {"apis": {}, "lv3_apis": {}}
_TABLES: Final[dict[str, Table]] = {}


def api(
    name: str,
    rule: Rule,
    *,
    folder: Folder = "apis",
    mended: Rule | None = None,
    names_itself: bool = True,
    from_web: bool = False,
) -> Callable[[Function], Function]:
    """Register a function as an API; the arguments are the fields of :class:`Api`."""

    def register(function: Function) -> Function:
        _APIS[folder][name] = Api(name, function, rule, mended or rule, names_itself, from_web)
        return function

    return register


def own_table(name: str, content: Table) -> None:
    """Declare a table that no file ships: upstream keeps it in the API's own instance."""
    _TABLES[name] = content


@cache
def apis(folder: Folder) -> Mapping[str, Api]:
    """The APIs of a folder, by name."""
    _import_all()
    return MappingProxyType(_APIS[folder])


@cache
def own_tables() -> Mapping[str, Table]:
    """The tables declared with :func:`own_table`."""
    _import_all()
    return MappingProxyType(_TABLES)


@cache
def _import_all() -> None:
    package = importlib.import_module("envs_registry.api_bank.apis")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
