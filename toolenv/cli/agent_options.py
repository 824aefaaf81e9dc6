"""Agent settings given to several agents: each gets those it reads; one that none reads is a mistake."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from toolenv.agents.planner import EXECUTOR, PLANNER
from toolenv.agents.registry import for_role, options_read
from toolenv.agents.specs import Combined, Name, Spec, parse_spec
from toolenv.cli.pairs import pairs
from toolenv.errors import UnknownNameError
from toolenv.runner.plan import without_reaching


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """The settings given to all agents of a command."""

    base_url: Annotated[str | None, typer.Option(help="Server of chat agents.")] = None
    agent_option: Annotated[
        list[str] | None,
        typer.Option("--agent-option", metavar="NAME=VALUE", help="Any other agent setting."),
    ] = None

    def of(self, specs: Iterable[str]) -> dict[str, Any]:
        """What the options say to these agents; see :func:`check_options`."""
        reached = {} if self.base_url is None else {"base_url": self.base_url}
        options = {**reached, **pairs("--agent-option", self.agent_option or ())}
        check_options(specs, options)
        return options


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


def options_for(spec: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the settings given to several agents that one of them reads.

    How a server is reached is kept in any case.
    """
    asked = _asked(parse_spec(spec), options) if without_reaching(options) else set()
    unread = without_reaching(options).keys() - asked
    return {name: value for name, value in options.items() if name not in unread}


def _asked(tree: Spec, options: Mapping[str, Any]) -> set[str]:
    """The names that the agents of a spec read, as they are given on the command line."""
    if isinstance(tree, Combined):
        return _asked(tree.inner, options)
    if isinstance(tree, Name):
        return options_read(tree.text, options)
    return {
        name
        for part, inner in ((PLANNER, tree.planner), (EXECUTOR, tree.executor))
        for read in _asked(inner, for_role(part, options))
        for name in (read, f"{part}.{read}")
    }
