"""The two domains: their tools, and which of these end an episode or only look."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from envs_registry.tau_bench import airline, retail

TERMINAL_TOOLS = frozenset({"transfer_to_human_agents"})
"""A call of one of these ends the episode, in both domains and whether or not it succeeds (section 3)."""


@dataclass(frozen=True)
class Domain:
    """One domain.

    Attributes:
        name: as in upstream's paths and our subsets.
        tables: the database's tables, in upstream's order; each is a file of that name.
        tools: name → function of the database and the arguments.
    """

    name: str
    tables: tuple[str, ...]
    tools: Mapping[str, Callable[..., Any]]


DOMAINS: Mapping[str, Domain] = {
    domain.name: domain
    for domain in (
        Domain("retail", ("orders", "products", "users"), {tool.__name__: tool for tool in retail.TOOLS}),
        Domain(
            "airline", ("flights", "reservations", "users"), {tool.__name__: tool for tool in airline.TOOLS}
        ),
    )
}
