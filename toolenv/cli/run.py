"""``toolenv run``: episodes of one or several agents on one or several environments."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from toolenv.agents.registry import make_agent
from toolenv.cli import app
from toolenv.cli.agent_options import check_options, options_for
from toolenv.cli.arms import run_arms
from toolenv.cli.arms_report import arms_of, arms_without_outcome, show_arms
from toolenv.cli.conduct import (
    Cache,
    Deadline,
    FirstWait,
    InFlight,
    PerMinute,
    Prices,
    Retries,
    agent_settings,
    check_prices,
    conduct_of,
)
from toolenv.cli.execute import check_apart, env_name, execute, folder_name, folder_path, prepare
from toolenv.cli.output import console, rows_of, show, show_origins
from toolenv.errors import UsageError
from toolenv.model_server.limits import Limits
from toolenv.report.costs import costs_of, render_costs
from toolenv.report.rows import Row
from toolenv.report.safe import safe_line
from toolenv.runner.conduct import RETRIES
from toolenv.runner.plan import RunConfig
from toolenv.runner.ray import Cluster
from toolenv.runner.select import Workplace


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
    runner: Annotated[
        str, typer.Option(metavar="NAME", help="Where episodes are played: local, processes or ray.")
    ] = "local",
    ray_address: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Ray cluster; default: $RAY_ADDRESS or one started.")
    ] = None,
    ray_actors: Annotated[
        int | None, typer.Option(min=1, help="Ray actors; default: one per processor, at most --concurrency.")
    ] = None,
    ray_gpus: Annotated[float, typer.Option(min=0, help="GPUs of each Ray actor.")] = 0.0,
    retries: Retries = RETRIES,
    deadline: Deadline = None,
    cache: Cache = None,
    per_minute: PerMinute = None,
    in_flight: InFlight = None,
    backoff: FirstWait = None,
    price: Prices = None,
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
    hazards: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            resolve_path=True,
            help="Hazards instead of the suite's own.",
        ),
    ] = None,
    hazard_seed: Annotated[
        int | None, typer.Option(metavar="N", help="Which of a task's armed hazards: the seed it has.")
    ] = None,
    arm: Annotated[
        list[str] | None,
        typer.Option(
            "--arm",
            metavar="ARM",
            help="baseline, tts, hint or oracle; may be repeated. A run directory each, below --out.",
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            parser=folder_path,
            help="The baseline run that --arm tts and hint go on from, where it is not run here.",
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
    """Run episodes, keep them in a folder, and print the table.

    Several agents get a run directory each, below --out; with --arm, each arm of each agent in each
    environment. All is checked before the first episode. A server that fails many episodes in a row stops the
    run; --resume goes on and runs those again. Exit status 1 if no episode of a run is valid.
    """
    own = {
        "subset": subset,
        "max_turns": max_turns,
        "prior": prior,
        "masks": masks and str(masks),
        "hazards": hazards and str(hazards),
        "hazard_seed": hazard_seed,
    }
    given = {name: value for name, value in own.items() if value is not None}
    options = {**pairs("--suite-option", suite_option or []), **given}
    agent_options = {
        **({} if base_url is None else {"base_url": base_url}),
        **pairs("--agent-option", agent_option or []),
    }
    check_options(agent, agent_options)
    conduct = conduct_of(retries, deadline, cache, Limits(per_minute, in_flight), backoff, price)
    if conduct.prices:
        policies = [make_agent(spec, options_for(spec, agent_options)) for spec in agent]
        check_prices(conduct.prices, map(agent_settings, policies))
    place = Workplace(runner, concurrency, Cluster(ray_address, ray_actors, ray_gpus), conduct)
    names = tuple(dict.fromkeys(map(env_name, envs)))
    configs = [
        RunConfig(
            envs=together,
            agent=spec,
            env_options=options,
            agent_options=options_for(spec, agent_options),
            tasks=() if tasks is None else _task_ids(tasks),
            limit=limit,
            trials=trials,
            seed=seed,
        )
        for spec in dict.fromkeys(agent)
        for together in ([(name,) for name in names] if arm else [names])
    ]
    beside: list[Path] = []
    if arm:
        folders, beside = run_arms(configs, arm, out, baseline=baseline, resume=resume, place=place)
    elif baseline is not None:
        raise UsageError(f"--baseline {baseline} has no meaning without --arm tts or --arm hint")
    else:
        folders = _run_all(configs, out, resume=resume, place=place)
    rows = rows_of(folders)
    if rows:
        show(rows)
    show_arms(arms_of([*folders, *beside]))
    if conduct.prices:
        console().print(render_costs(costs_of(folders, conduct.prices)))
    show_origins(folders)
    typer.echo("Runs: " + " ".join(map(str, folders)))
    _check_any_valid(rows, arms_without_outcome(folders))


def _run_all(configs: Sequence[RunConfig], out: Path | None, *, resume: bool, place: Workplace) -> list[Path]:
    runs = [
        prepare(one, _folder(one, out, len(configs)), resume=resume, conduct=place.conduct) for one in configs
    ]
    check_apart(runs)
    return [execute(one, place) for one in runs]


def _check_any_valid(rows: Sequence[Row], arms: Sequence[str]) -> None:
    """Exit status 1 if a run, which is all rows of one agent or an arm, has no valid episode."""
    without = [one for one in dict.fromkeys(row.agent for row in rows) if not _valid(rows, one)] + [*arms]
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
