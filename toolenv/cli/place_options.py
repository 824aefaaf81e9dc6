"""The options of ``toolenv run`` that say where episodes are played; see ``toolenv.runner.select``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from toolenv.runner.conduct import Conduct
from toolenv.runner.ray import Cluster
from toolenv.runner.select import Workplace


@dataclass(frozen=True, slots=True)
class PlaceOptions:
    """Where episodes are played, and how many at a time."""

    concurrency: Annotated[int, typer.Option(min=1, help="Episodes at a time.")] = 1
    runner: Annotated[
        str, typer.Option(metavar="NAME", help="Where episodes are played: local, processes or ray.")
    ] = "local"
    ray_address: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Ray cluster; default: $RAY_ADDRESS or one started."),
    ] = None
    ray_actors: Annotated[
        int | None,
        typer.Option(min=1, help="Ray actors; default: one per processor, at most --concurrency."),
    ] = None
    ray_gpus: Annotated[float, typer.Option(min=0, help="GPUs of each Ray actor.")] = 0.0

    def with_conduct(self, conduct: Conduct) -> Workplace:
        """The place, with how episodes are played there.

        Raises:
            UsageError: see :class:`toolenv.runner.select.Workplace`.
        """
        cluster = Cluster(self.ray_address, self.ray_actors, self.ray_gpus)
        return Workplace(self.runner, self.concurrency, cluster, conduct)
