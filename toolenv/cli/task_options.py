"""The options that say which tasks an environment has, and how it is set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from toolenv.cli.pairs import pairs
from toolenv.errors import UsageError

Subset: TypeAlias = Annotated[str | None, typer.Option(help="Subset of the suite.")]
Tasks: TypeAlias = Annotated[str | None, typer.Option(metavar="ID,…", help="Only these tasks.")]
Limit: TypeAlias = Annotated[
    int | None,
    typer.Option(metavar="N", help="Only N tasks of each environment; in a run, first those that all have."),
]
SuiteOptions: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--suite-option", metavar="NAME=VALUE", help="A setting of the suite's own."),
]


_MANIFEST = partial(typer.Option, metavar="FILE", exists=True, dir_okay=False, resolve_path=True)


@dataclass(frozen=True, slots=True)
class EnvOptions:
    """How the environments of a run are set."""

    subset: Subset = None
    max_turns: Annotated[int | None, typer.Option(help="Decisions per user turn.")] = None
    prior: Annotated[float | None, typer.Option(help="Share of infeasible episodes in mixed ids.")] = None
    masks: Annotated[Path | None, _MANIFEST(help="Masks instead of the suite's own.")] = None
    hazards: Annotated[Path | None, _MANIFEST(help="Hazards instead of the suite's own.")] = None
    hazard_seed: Annotated[
        int | None, typer.Option(metavar="N", help="Which of a task's armed hazards: the seed it has.")
    ] = None
    suite_option: SuiteOptions = None

    def keywords(self) -> dict[str, Any]:
        """The keywords of ``gymnasium.make``; see :func:`env_options`."""
        given = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "suite_option"}
        return env_options(self.suite_option, **given)


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
