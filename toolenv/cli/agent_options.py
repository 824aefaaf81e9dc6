"""Refusing agent settings that no agent of a command reads: a setting without effect is a mistake."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from toolenv.agents.planner import EXECUTOR, PLANNER
from toolenv.agents.registry import agent_names, for_role, make_agent
from toolenv.agents.specs import Combined, Name, Spec, parse_spec
from toolenv.errors import UnknownNameError, UsageError
from toolenv.runner.plan import without_reaching


class _Watched(dict[str, Any]):
    """Settings that note which names are asked for; whoever looks at all of them knows them all."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        super().__init__(settings)
        self.asked: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.asked.add(name)
        return super().get(name, default)

    def __getitem__(self, name: str) -> Any:
        self.asked.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.asked.add(str(name))
        return super().__contains__(name)

    def __iter__(self) -> Iterator[str]:
        self.asked |= super().keys()
        return super().__iter__()

    def keys(self) -> Any:
        self.asked |= super().keys()
        return super().keys()

    def items(self) -> Any:
        self.asked |= super().keys()
        return super().items()


def check_options(specs: Iterable[str], options: Mapping[str, Any]) -> None:
    """Refuse settings that none of several agents reads.

    How a server is reached may be told to an agent that needs none: it changes no episode.

    Args:
        specs: the agents' specs.
        options: settings given to all of them; those with ``planner.`` or ``executor.`` before the name are
            for that part of a pair.

    Raises:
        UnknownNameError: a setting that no agent reads, with the nearest that one does.
        UsageError: a spec that cannot be used.
    """
    given = without_reaching(options)
    if not given:
        return
    agents = list(dict.fromkeys(specs))
    asked = {name for spec in agents for name in _asked(parse_spec(spec), options)}
    for name in given:
        if name not in asked:
            raise UnknownNameError("agent option", name, asked, where=f"agent {' and '.join(agents)}")


def _asked(tree: Spec, options: Mapping[str, Any]) -> set[str]:
    """The names that the agents of a spec read, as they are given on the command line."""
    if isinstance(tree, Combined):
        return _asked(tree.inner, options)
    if isinstance(tree, Name):
        return _asked_by(tree.text, options)
    return {
        name
        for part, inner in ((PLANNER, tree.planner), (EXECUTOR, tree.executor))
        for read in _asked(inner, for_role(part, options))
        for name in (read, f"{part}.{read}")
    }


def _asked_by(spec: str, options: Mapping[str, Any]) -> set[str]:
    """One's own policies get no settings, so are not built here. What is wrong is said where they are."""
    if spec.partition(":")[0] not in agent_names():
        return set()
    watched = _Watched(options)
    try:
        make_agent(spec, watched)
    except UsageError:
        return set(options)
    return watched.asked
