"""The options of ``toolenv run`` that say where episodes are played; see ``toolenv.runner.select``."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

Concurrency: TypeAlias = Annotated[int, typer.Option(min=1, help="Episodes at a time.")]
Runner: TypeAlias = Annotated[
    str, typer.Option(metavar="NAME", help="Where episodes are played: local, processes or ray.")
]
RayAddress: TypeAlias = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Ray cluster; default: $RAY_ADDRESS or one started.")
]
RayActors: TypeAlias = Annotated[
    int | None, typer.Option(min=1, help="Ray actors; default: one per processor, at most --concurrency.")
]
RayGpus: TypeAlias = Annotated[float, typer.Option(min=0, help="GPUs of each Ray actor.")]
