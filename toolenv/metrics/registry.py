"""What a metric is, and how metrics are found: a decorated function in any module of this package."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import toolenv.metrics
from toolenv.episode import Episode
from toolenv.metrics.stats import Estimate
from toolenv.types import Label

Kind: TypeAlias = Literal["rate", "tokens", "ratio", "calls"]
TableName: TypeAlias = Literal["main", "recovery", "failures"]
MetricFunction: TypeAlias = Callable[..., Estimate]
"""``function(episodes, **settings)``; ``episodes`` is an iterable of :class:`~toolenv.episode.Episode`."""


@dataclass(frozen=True)
class Metric:
    """A metric: call it with episodes.

    Attributes:
        function: episodes, read once, to estimate. It leaves invalid episodes out. Its keyword parameters are
            settings of a report, with their defaults.
        title: its column's head.
        kind: the unit of its value.
        over: the labels (§4.3) its denominator is made of; tells which missing episodes put it in doubt.
        table: the table it has its column in.
    """

    function: MetricFunction
    title: str
    kind: Kind
    over: frozenset[Label]
    table: TableName = "main"

    def __call__(self, episodes: Iterable[Episode], **settings: Any) -> Estimate:
        """The estimate over ``episodes``; settings that it does not have are not for it."""
        return self.function(episodes, **{name: settings[name] for name in self.settings if name in settings})

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """The names of its settings."""
        parameters = inspect.signature(self.function).parameters.values()
        return tuple(one.name for one in parameters if one.kind is one.KEYWORD_ONLY)

    @property
    def name(self) -> str:
        """Its name in JSON."""
        return self.function.__name__

    @property
    def definition(self) -> str:
        """How it is defined, for readers: its docstring as one paragraph."""
        return " ".join(inspect.cleandoc(self.function.__doc__ or "").split())


def metric(
    title: str, kind: Kind, *over: Label, table: TableName = "main"
) -> Callable[[MetricFunction], Metric]:
    """Make a function a metric; a module of ``toolenv.metrics`` needs nothing more to add one.

    Args:
        title: its column's head.
        kind: the unit of its value.
        *over: the labels of its denominator.
        table: the table it has its column in.
    """
    return lambda function: Metric(function, title, kind, frozenset(over), table)


@cache
def catalogue() -> Mapping[str, Metric]:
    """Every metric of this package by name, in the order of modules and, within one, of definition.

    Raises:
        ValueError: two metrics have one name.
    """
    path, prefix = toolenv.metrics.__path__, toolenv.metrics.__name__
    modules = [importlib.import_module(f"{prefix}.{info.name}") for info in pkgutil.iter_modules(path)]
    found = [item for module in modules for item in vars(module).values() if isinstance(item, Metric)]
    metrics: dict[str, Metric] = {}
    for one in found:
        if metrics.setdefault(one.name, one) is not one:
            raise ValueError(f"two metrics are named {one.name!r}")
    return MappingProxyType(metrics)
