"""What the requests before the first episodes of runs cost: beside all other numbers, part of none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolenv.ledger import Ledger, add_ledgers, ledger_to_json
from toolenv.report.costs import money_text
from toolenv.report.format import counted
from toolenv.report.safe import safe_line
from toolenv.runner.costs import Money, Price, Tariff
from toolenv.runner.preflights import ENVIRONMENT, read_preflights
from toolenv.runner.reading import find_runs, read_header
from toolenv.types import Usage

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class PreflightCosts:
    """What one run spent before its first episode, all its starts together.

    Attributes:
        agent: whose run.
        envs: of the run.
        times: how often something was tried: once a start, and once by each worker with a model of its own.
        known: tokens (input, output) of those whose tokens are known.
        unknown: of how many they are not.
        by_role: tokens by role; ``environment/user`` and ``environment/suite`` are no part of the agent.
        money: at the user's prices; ``None`` without prices. Those of models beside the agent's are not
            known.
    """

    agent: str
    envs: tuple[str, ...]
    times: int
    known: tuple[int, int]
    unknown: int
    by_role: Mapping[str, Usage]
    money: Money | None = None


def preflights_of(folders: Iterable[Path], prices: Mapping[str, Price] | None = None) -> list[PreflightCosts]:
    """The costs of each run that kept some.

    Args:
        folders: run directories, or folders of them.
        prices: by model.

    Raises:
        StoreError: a folder or a record that cannot be read.
    """
    kept = ((read_header(folder), read_preflights(folder)) for folder in find_runs(list(folders)))
    return [_costs(header, ledgers, prices) for header, ledgers in kept if ledgers]


def _costs(
    header: Mapping[str, Any], ledgers: Sequence[Ledger], prices: Mapping[str, Price] | None
) -> PreflightCosts:
    money = None
    if prices:
        tariff, money = Tariff(prices, header["agent_settings"]), Money()
        for ledger in ledgers:
            money = money.plus(_paid(tariff, ledger))
    usages = [usage for ledger in ledgers for usage in ledger.values()]
    return PreflightCosts(
        agent=header["agent"],
        envs=tuple(header["planned"]),
        times=len(ledgers),
        known=(sum(one.input_tokens or 0 for one in usages), sum(one.output_tokens or 0 for one in usages)),
        unknown=sum(not all(one.known for one in ledger.values()) for ledger in ledgers),
        by_role=add_ledgers(ledgers),
        money=money,
    )


def _paid(tariff: Tariff, ledger: Ledger) -> float | None:
    """What one start cost; ``None`` where any part of it is not known."""
    costs = [
        None if role.startswith(ENVIRONMENT) else tariff.cost(role, usage) for role, usage in ledger.items()
    ]
    return None if None in costs else sum(cost for cost in costs if cost is not None)


def preflights_to_json(found: Iterable[PreflightCosts]) -> list[dict[str, Any]]:
    """``[{"agent", "envs", "times", "input_tokens", "output_tokens", "unknown", "roles", "cost"}, …]``.

    ``roles`` holds the fields of a :class:`toolenv.types.Usage` each; ``cost`` is ``None`` without prices.
    """
    return [
        {
            "agent": one.agent,
            "envs": list(one.envs),
            "times": one.times,
            "input_tokens": one.known[0],
            "output_tokens": one.known[1],
            "unknown": one.unknown,
            "roles": ledger_to_json(one.by_role),
            "cost": None if one.money is None else {"cost": one.money.amount, "unknown": one.money.unknown},
        }
        for one in found
    ]


def preflights_facts(found: Iterable[PreflightCosts]) -> dict[str, str]:
    """The same as facts for a page."""
    return {f"preflight of {one.agent}, {', '.join(one.envs)}": _told(one) for one in found}


def _told(one: PreflightCosts) -> str:
    spent = f"{one.known[0]:,} input and {one.known[1]:,} output tokens in {counted(one.times, 'preflight')}"
    unknown = f", {one.unknown:,} of them unknown" if one.unknown else ""
    return f"{spent}{unknown}; part of no episode{f'; cost {money_text(one.money)}' if one.money else ''}"


def render_preflights(found: Sequence[PreflightCosts]) -> Table:
    """A table for a terminal."""
    from rich.text import Text

    from toolenv.report.terminal import plain_table

    table = plain_table("Preflight: what was asked before the first episode, part of no number above")
    table.add_column("environments\nagent")
    priced = any(one.money is not None for one in found)
    heads = ("preflights", "input\ntokens", "output\ntokens", "of unknown\ntokens")
    for head in (*heads, *(("cost", "of unknown\ncost") if priced else ())):
        table.add_column(head, justify="right")
    for one in found:
        name = Text("\n".join(map(safe_line, (*one.envs, one.agent))))
        spent = (f"{one.times:,}", *(f"{number:,}" for number in one.known), f"{one.unknown:,}")
        money = () if one.money is None else (money_text(one.money), f"{one.money.unknown:,}")
        table.add_row(name, *spent, *money)
    return table
