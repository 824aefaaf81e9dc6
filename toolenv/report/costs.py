"""What runs cost at the user's prices, by role; traces are read for it, one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolenv.report.safe import safe_line
from toolenv.runner.costs import Money, Price, Tariff, amount_text
from toolenv.runner.reading import find_runs, read_header, read_rollouts

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class RunCosts:
    """What the episodes of one agent in one env cost, invalid ones included.

    Attributes:
        env, agent: whose.
        total: all of it.
        by_role: the same by role; one entry, ``agent``, where there are no roles.
    """

    env: str
    agent: str
    total: Money
    by_role: Mapping[str, Money] = field(default_factory=dict)


def costs_of(folders: Iterable[Path], prices: Mapping[str, Price]) -> list[RunCosts]:
    """The costs of runs, sorted by env and agent.

    Args:
        folders: run directories, or folders of them.
        prices: by model.

    Raises:
        StoreError: a folder that cannot be read.
    """
    totals: dict[tuple[str, str], Money] = {}
    roles: dict[tuple[str, str], dict[str, Money]] = {}
    for folder in find_runs(list(folders)):
        tariff = Tariff(prices, read_header(folder)["agent_settings"])
        for one in read_rollouts(folder):
            key = (one.episode.env, one.episode.agent)
            costs = tariff.by_role(one.trace)
            known = [cost for cost in costs.values() if cost is not None]
            totals[key] = totals.get(key, Money()).plus(sum(known) if len(known) == len(costs) else None)
            own = roles.setdefault(key, {})
            for role, cost in costs.items():
                own[role] = own.get(role, Money()).plus(cost)
    return [RunCosts(*key, totals[key], roles[key]) for key in sorted(totals)]


def costs_to_json(costs: Iterable[RunCosts]) -> list[dict[str, Any]]:
    """``[{"env", "agent", "cost", "unknown", "roles": {ROLE: {"cost", "unknown"}}}, …]``."""
    return [
        {
            "env": one.env,
            "agent": one.agent,
            "cost": one.total.amount,
            "unknown": one.total.unknown,
            "roles": {role: {"cost": m.amount, "unknown": m.unknown} for role, m in one.by_role.items()},
        }
        for one in costs
    ]


def costs_facts(costs: Iterable[RunCosts]) -> dict[str, str]:
    """The same as facts for a page."""
    facts = {}
    for one in costs:
        parts = [("all", one.total), *(one.by_role.items() if len(one.by_role) > 1 else ())]
        told = (f"{role} {money_text(money)} ({money.unknown:,} unknown)" for role, money in parts)
        facts[f"cost of {one.env}, {one.agent}"] = "; ".join(told)
    return facts


def render_costs(costs: Sequence[RunCosts]) -> Table:
    """A table for a terminal."""
    from rich.text import Text

    from toolenv.report.terminal import plain_table

    table = plain_table("What the episodes cost; replies out of the response cache cost nothing")
    table.add_column("environment\nagent")
    table.add_column("role")
    for head in ("cost", "episodes of\nunknown cost"):
        table.add_column(head, justify="right")
    for one in costs:
        name = Text(f"{safe_line(one.env)}\n{safe_line(one.agent)}")
        entries = [("all", one.total), *(one.by_role.items() if len(one.by_role) > 1 else ())]
        for number, (role, money) in enumerate(entries):
            shown = (Text(safe_line(role)), money_text(money), f"{money.unknown:,}")
            table.add_row(name if number == 0 else Text(""), *shown)
    return table


def money_text(money: Money) -> str:
    """An amount; of which nothing is known it is not 0."""
    return "–" if money.unknown and not money.amount else amount_text(money.amount, 4)
