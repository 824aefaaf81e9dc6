"""The options of ``toolenv run`` that say how a run is conducted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from toolenv.errors import UnknownNameError, UsageError
from toolenv.model_server import Backoff
from toolenv.model_server.limits import Limits
from toolenv.runner.conduct import RETRIES, Conduct
from toolenv.runner.costs import parse_prices

Prices: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--price", metavar="MODEL=IN,OUT", help="Money per million tokens, to show costs; may be repeated."
    ),
]


@dataclass(frozen=True, slots=True)
class ConductOptions:
    """How a run is conducted."""

    retries: Annotated[
        int, typer.Option(min=0, help="How often an episode is played again that met a failed server.")
    ] = RETRIES
    deadline: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="How long one episode may take.")
    ] = None
    cache: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", file_okay=False, help="Keep servers' replies here; a run made again costs nothing."
        ),
    ] = None
    per_minute: Annotated[
        float | None, typer.Option(metavar="N", help="Requests a minute to each server, at most.")
    ] = None
    in_flight: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Requests at a time to each server, at most.")
    ] = None
    backoff: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="The wait behind a request's first failure [1]; then doubled."),
    ] = None
    price: Prices = None

    def conduct(self) -> Conduct:
        """What the options say.

        Raises:
            UsageError: a value that cannot work.
        """
        longest = Backoff().longest
        if self.backoff is not None and not 0 <= self.backoff <= longest:
            raise UsageError(f"--backoff {self.backoff:g}: give seconds from 0 to {longest:g}")
        return Conduct(
            retries=self.retries,
            deadline=self.deadline,
            cache=self.cache and self.cache.absolute(),
            limits=Limits(self.per_minute, self.in_flight),
            backoff=None if self.backoff is None else Backoff(self.backoff),
            prices=parse_prices(self.price or ()),
        )


def agent_settings(policy: object) -> Mapping[str, Any]:
    """What ``run.json`` keeps of an agent's settings; empty for one that has none."""
    settings: Mapping[str, Any] = getattr(getattr(policy, "settings", None), "to_json", dict)()
    return settings


def check_prices(prices: Iterable[str], settings: Iterable[Mapping[str, Any]]) -> None:
    """Refuse a price that none of several agents would ever pay.

    Args:
        prices: names of models.
        settings: of each agent; ``model`` and, of one made of several, ``planner.model`` and the like.

    Raises:
        UnknownNameError: no agent asks such a model; the nearest that one does are named.
    """
    values = [item for one in settings for item in one.items()]
    models = {str(value) for name, value in values if name.rpartition(".")[2] == "model" and value}
    for model in prices:
        if model not in models:
            raise UnknownNameError("model", model, models, where="--price, among the models of the agents")
