"""The options of ``toolenv run`` that say how a run is conducted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from toolenv.errors import UnknownNameError, UsageError
from toolenv.model_server import Backoff
from toolenv.model_server.limits import Limits
from toolenv.runner.conduct import Conduct
from toolenv.runner.costs import parse_prices

Retries: TypeAlias = Annotated[
    int, typer.Option(min=0, help="How often an episode is played again that met a failed server.")
]
Deadline: TypeAlias = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="How long one episode may take.")
]
Cache: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="DIR", file_okay=False, help="Keep replies here; a run made again costs nothing."),
]
PerMinute: TypeAlias = Annotated[
    float | None, typer.Option(metavar="N", help="Requests a minute to each server, at most.")
]
InFlight: TypeAlias = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Requests at a time to each server, at most.")
]
FirstWait: TypeAlias = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="The wait behind a request's first failure [1]; then doubled."),
]
Prices: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--price", metavar="MODEL=IN,OUT", help="Money per million tokens, to show costs; may be repeated."
    ),
]


def conduct_of(
    retries: int,
    deadline: float | None,
    cache: Path | None,
    limits: Limits,
    first_wait: float | None,
    prices: Sequence[str] | None,
) -> Conduct:
    """What the options say.

    Raises:
        UsageError: a value that cannot work.
    """
    if first_wait is not None and not 0 <= first_wait <= Backoff().longest:
        raise UsageError(f"--backoff {first_wait:g}: give seconds from 0 to {Backoff().longest:g}")
    return Conduct(
        retries=retries,
        deadline=deadline,
        cache=cache,
        limits=limits,
        backoff=None if first_wait is None else Backoff(first_wait),
        prices=parse_prices(prices or ()),
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
