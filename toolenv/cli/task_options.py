"""The options that say which tasks an environment has, and how it is set."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from toolenv.cli.pairs import pairs
from toolenv.errors import UsageError

Subset: TypeAlias = Annotated[str | None, typer.Option(help="Subset of the suite.")]
Tasks: TypeAlias = Annotated[str | None, typer.Option(metavar="ID,…", help="Only these tasks.")]
MaxTurns: TypeAlias = Annotated[int | None, typer.Option(help="Decisions per user turn.")]
Prior: TypeAlias = Annotated[float | None, typer.Option(help="Share of infeasible episodes in mixed ids.")]
Masks: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        exists=True,
        dir_okay=False,
        resolve_path=True,
        help="Masks instead of the suite's own.",
    ),
]
Hazards: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        exists=True,
        dir_okay=False,
        resolve_path=True,
        help="Hazards instead of the suite's own.",
    ),
]
HazardSeed: TypeAlias = Annotated[
    int | None, typer.Option(metavar="N", help="Which of a task's armed hazards: the seed it has.")
]
SuiteOptions: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--suite-option", metavar="NAME=VALUE", help="A setting of the suite's own."),
]


def env_options(suite_options: Iterable[str] | None, **given: Any) -> dict[str, Any]:
    """The keywords of ``gymnasium.make``: the suite's settings, and those options that were given.

    Raises:
        UsageError: a setting that is not ``NAME=VALUE``.
    """
    told = {name: value for name, value in given.items() if value is not None}
    plain = {name: str(value) if isinstance(value, Path) else value for name, value in told.items()}
    return {**pairs("--suite-option", suite_options or ()), **plain}


def task_ids(text: str | None) -> tuple[str, ...]:
    """The ids in ``--tasks``, each once; none if the option was not given.

    Raises:
        UsageError: it was given, and names none.
    """
    if text is None:
        return ()
    ids = tuple(dict.fromkeys(one.strip() for one in text.split(",") if one.strip()))
    if not ids:
        raise UsageError(f"--tasks {text!r} names no task: give ids, with commas between them")
    return ids
