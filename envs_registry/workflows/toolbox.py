"""All the tools of a declared world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from envs_registry.workflows.calculators import COMMON, formula_tool
from envs_registry.workflows.contracts import ToolContract
from envs_registry.workflows.declaration import Subtopic
from envs_registry.workflows.deeds import amounted_tool, dated_tool, receipt_tool
from envs_registry.workflows.derived import Derived
from envs_registry.workflows.lookups import (
    RATE_SOURCES,
    list_tool,
    rate_tool,
    record_tool,
    search_tool,
    sources,
)
from envs_registry.workflows.reading import get_subtopic, subtopic_names
from envs_registry.workflows.world import Runner

STYLES = 4
"""Ways to name tools; each world has one."""


class _Runners(dict[str, Runner]):
    """Pickled by the name of their world, since they are closures."""

    __slots__ = ("subtopic",)
    subtopic: str

    def __reduce__(self) -> tuple[Any, ...]:
        return _runners, (self.subtopic,)


def _runners(subtopic: str) -> Mapping[str, Runner]:
    return get_toolbox(subtopic).runners


@dataclass(frozen=True)
class Toolbox:
    """The tools of one world.

    Attributes:
        subtopic: the declaration they are derived from.
        tools: all of them, by name, in a fixed order.
        searches, records: by level; those of the registry of record, as are the following.
        lists: by the level of what is listed: items of a parent, parents of a group.
        rate: the exchange rates.
        formulas: the world's own calculations.
        dated, amounted, receipt: what changes the world, and what reads the change.
    """

    subtopic: Subtopic
    tools: Mapping[str, Derived]
    searches: tuple[str, ...]
    records: tuple[str, ...]
    lists: tuple[str, ...]
    rate: str
    formulas: tuple[str, ...]
    dated: str
    amounted: str
    receipt: str

    @cached_property
    def runners(self) -> Mapping[str, Runner]:
        """What each tool does."""
        runners = _Runners((name, tool.run) for name, tool in self.tools.items())
        runners.subtopic = self.subtopic.name
        return runners

    def contract(self, name: str) -> ToolContract:
        """The contract of a tool."""
        return self.tools[name].contract


@cache
def get_toolbox(subtopic_name: str) -> Toolbox:
    """The tools of a world; the same objects each time.

    Raises:
        UnknownNameError: no such subtopic.
    """
    subtopic = get_subtopic(subtopic_name)
    style = list(subtopic_names()).index(subtopic_name) % STYLES
    register, mirror = sources(subtopic.register, subtopic.mirror)
    both = (register, mirror)
    searches = [[search_tool(subtopic, level, one, style) for one in both] for level in range(3)]
    records = [[record_tool(subtopic, level, one, style) for one in both] for level in range(3)]
    lists = [[list_tool(subtopic, level, one, style) for one in both] for level in (1, 2)]
    formulas = [formula_tool(formula, style) for formula in subtopic.formulas]
    deeds = [dated_tool(subtopic), amounted_tool(subtopic), receipt_tool(subtopic, style)]
    pairs = [*searches, *records, *lists, _rates()]
    tools = [*(tool for pair in pairs for tool in pair), *formulas, *deeds, *COMMON]
    by_name = {tool.spec.name: tool for tool in tools}
    assert len(by_name) == len(tools), f"{subtopic_name}: two tools have one name"
    return Toolbox(
        subtopic=subtopic,
        tools=by_name,
        searches=_official(searches),
        records=_official(records),
        lists=_official(lists),
        rate=_rates()[0].spec.name,
        formulas=tuple(tool.spec.name for tool in formulas),
        dated=deeds[0].spec.name,
        amounted=deeds[1].spec.name,
        receipt=deeds[2].spec.name,
    )


@cache
def _rates() -> tuple[Derived, Derived]:
    register, mirror = sources(*RATE_SOURCES)
    return rate_tool(register), rate_tool(mirror)


def _official(pairs: list[list[Derived]]) -> tuple[str, ...]:
    return tuple(pair[0].spec.name for pair in pairs)
