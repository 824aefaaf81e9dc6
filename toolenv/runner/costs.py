"""What tokens cost, by role: prices are the user's, the project knows none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from toolenv.errors import UsageError
from toolenv.facts.roles import role_usage
from toolenv.ledger import AGENT
from toolenv.trace import Trace
from toolenv.types import Usage

_MILLION = 1e6


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, per million tokens, in whatever money.

    Attributes:
        input, output: of new tokens.
        cached: of input tokens that the provider had cached.
    """

    input: float
    output: float
    cached: float

    def of(self, usage: Usage) -> float | None:
        """What the generations behind ``usage`` cost; ``None`` if their tokens are not known.

        What came out of the response cache costs nothing.
        """
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        new = max(usage.input_tokens - usage.recalled_input_tokens, 0)
        cached = min(usage.cached_input_tokens, new)
        written = max(usage.output_tokens - usage.recalled_output_tokens, 0)
        return ((new - cached) * self.input + cached * self.cached + written * self.output) / _MILLION


MOST_DECIMALS = 12


def amount_text(amount: float, decimals: int) -> str:
    """Money with ``decimals`` decimals, or as many more as its first two digits that are not 0 take."""
    if 0 < amount < 1:
        decimals = max(decimals, min(1 - math.floor(math.log10(amount)), MOST_DECIMALS))
    return f"{amount:,.{decimals}f}"


def parse_prices(given: Iterable[str]) -> dict[str, Price]:
    """Prices by model from ``MODEL=IN,OUT`` or ``MODEL=IN,OUT,CACHED`` each.

    Raises:
        UsageError: anything else.
    """
    prices: dict[str, Price] = {}
    for text in given:
        model, _, numbers = text.rpartition("=")
        try:
            parts = [float(one) for one in numbers.split(",")]
        except ValueError:
            parts = []
        if not model or len(parts) not in (2, 3) or not all(math.isfinite(one) and one >= 0 for one in parts):
            raise UsageError(f"--price {text!r}: give MODEL=IN,OUT in money per million tokens")
        prices[model] = Price(parts[0], parts[1], parts[2] if len(parts) == 3 else parts[0])
    return prices


class Money(NamedTuple):
    """An amount, and of how many episodes it is not known.

    Attributes:
        amount: of those that are known.
        unknown: episodes with tokens or a price that is not known.
    """

    amount: float = 0.0
    unknown: int = 0

    def plus(self, cost: float | None) -> Money:
        """With one more episode."""
        return (
            Money(self.amount, self.unknown + 1) if cost is None else Money(self.amount + cost, self.unknown)
        )


class Tariff:
    """Prices for the roles of one agent.

    Args:
        prices: by model.
        settings: the agent's; ``model`` and, of one made of several, ``planner.model`` and the like. What a
            model without a price costs is not known.
    """

    def __init__(self, prices: Mapping[str, Price], settings: Mapping[str, Any]) -> None:
        models = {name: value for name, value in settings.items() if _is_model(name) and value}
        self._by_role = {_role_of(name): prices.get(str(model)) for name, model in models.items()}
        self._only = next(iter(self._by_role.values())) if len(set(map(str, models.values()))) == 1 else None

    def by_role(self, trace: Trace) -> dict[str, float | None]:
        """What an episode cost each role; ``None`` where its tokens or its price are not known.

        What a recorded episode had cost before this one went on was paid there.
        """
        return {role: self.cost(role, usage) for role, usage in role_usage(trace.own).items()}

    def of(self, trace: Trace) -> float | None:
        """What an episode cost; ``None`` where any part of it is not known."""
        costs = self.by_role(trace).values()
        return None if None in costs else sum(cost for cost in costs if cost is not None)

    def cost(self, role: str, usage: Usage) -> float | None:
        """What a role's tokens cost; ``None`` where they or their price are not known."""
        if usage.generations == 0:
            return 0.0
        price = self._by_role.get(role, self._only)
        return None if price is None else price.of(usage)


def _is_model(name: str) -> bool:
    return name == "model" or name.endswith(".model")


def _role_of(name: str) -> str:
    """The role whose model a setting names: ``planner.model`` → ``planner``, ``model`` → ``agent``."""
    return name.rpartition(".")[0].replace(".", "/") or AGENT
