"""``toolenv run``: episodes of one or several agents on one or several environments."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from toolenv.cli import app
from toolenv.cli.agent_options import check_options
from toolenv.cli.execute import check_apart, env_name, execute, folder_name, folder_path, prepare
from toolenv.cli.output import rows_of, show, show_origins
from toolenv.errors import UsageError
from toolenv.report.rows import Row
from toolenv.report.safe import safe_line
from toolenv.runner.plan import RunConfig


@app.command()
def run(
    envs: Annotated[list[str], typer.Argument(metavar="ENV…", help="Environment ids; see: toolenv envs")],
    agent: Annotated[list[str], typer.Option("--agent", metavar="SPEC", help="Agent spec; may be repeated.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", parser=folder_path, help="Run directory.")
    ] = None,
    tasks: Annotated[str | None, typer.Option(metavar="ID,…", help="Only these tasks.")] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first N tasks of each environment.")] = None,
    trials: Annotated[int, typer.Option(help="Repetitions of each task.")] = 1,
    seed: Annotated[int, typer.Option(help="Seed of the run.")] = 0,
    concurrency: Annotated[int, typer.Option(min=1, help="Episodes at a time.")] = 1,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted run.")] = False,
    subset: Annotated[str | None, typer.Option(help="Subset of the suite.")] = None,
    max_turns: Annotated[int | None, typer.Option(help="Decisions per user turn.")] = None,
    prior: Annotated[float | None, typer.Option(help="Share of infeasible episodes in mixed ids.")] = None,
    masks: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            resolve_path=True,
            help="Masks instead of the suite's own.",
        ),
    ] = None,
    suite_option: Annotated[
        list[str] | None,
        typer.Option("--suite-option", metavar="NAME=VALUE", help="A setting of the suite's own."),
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="Server of chat agents.")] = None,
    agent_option: Annotated[
        list[str] | None,
        typer.Option("--agent-option", metavar="NAME=VALUE", help="Any other agent setting."),
    ] = None,
) -> None:
    """Run episodes, keep them in a run directory, and print the table.

    Several agents get a run directory each, below --out. All is checked before the first episode. A server
    that fails many episodes in a row stops the run; --resume goes on and runs those again. Exit status 1 if
    no episode of a run is valid.
    """
    options = {
        **pairs("--suite-option", suite_option or []),
        "subset": subset,
        "max_turns": max_turns,
        "prior": prior,
        "masks": masks and str(masks),
    }
    agent_options = {
        **({} if base_url is None else {"base_url": base_url}),
        **pairs("--agent-option", agent_option or []),
    }
    check_options(agent, agent_options)
    configs = [
        RunConfig(
            envs=tuple(dict.fromkeys(map(env_name, envs))),
            agent=spec,
            env_options={name: value for name, value in options.items() if value is not None},
            agent_options=agent_options,
            tasks=() if tasks is None else _task_ids(tasks),
            limit=limit,
            trials=trials,
            seed=seed,
        )
        for spec in dict.fromkeys(agent)
    ]
    runs = [prepare(one, _folder(one, out, len(configs)), resume=resume) for one in configs]
    check_apart(runs)
    folders = [execute(one, concurrency) for one in runs]
    rows = rows_of(folders)
    show(rows)
    show_origins(folders)
    typer.echo("Runs: " + " ".join(map(str, folders)))
    _check_any_valid(rows)


def _check_any_valid(rows: Sequence[Row]) -> None:
    """Exit status 1 if a run, which is all rows of one agent, has no valid episode."""
    without = [one for one in dict.fromkeys(row.agent for row in rows) if not _valid(rows, one)]
    for agent in without:
        typer.echo(f"toolenv: no episode of {safe_line(agent)} is valid", err=True)
    if without:
        raise typer.Exit(1)


def _valid(rows: Sequence[Row], agent: str) -> int:
    return sum(row.valid for row in rows if row.agent == agent)


def _task_ids(text: str) -> tuple[str, ...]:
    ids = tuple(dict.fromkeys(one.strip() for one in text.split(",") if one.strip()))
    if not ids:
        raise UsageError(f"--tasks {text!r} names no task: give ids, with commas between them")
    return ids


def _folder(config: RunConfig, out: Path | None, agents: int) -> Path:
    """Where a run goes: without ``--out``, a name made of its configuration, so that resuming finds it."""
    if out is None:
        return Path("runs") / f"{folder_name(config.agent)}-{config.hash}"
    return out if agents == 1 else out / folder_name(config.agent)


def pairs(option: str, given: list[str]) -> dict[str, Any]:
    """Settings given as ``NAME=VALUE``; a value is JSON, or else text."""
    options: dict[str, Any] = {}
    for pair in given:
        name, separator, value = pair.partition("=")
        if not separator:
            raise UsageError(f"{option} {pair!r}: give NAME=VALUE")
        try:
            options[name] = json.loads(value, parse_constant=str)
        except ValueError:
            options[name] = value
    return options
