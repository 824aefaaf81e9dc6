"""``toolenv run``: episodes of one or several agents on one or several environments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from toolenv.agents.registry import make_agent
from toolenv.cli import app
from toolenv.cli.agent_options import AgentOptions, BaseUrl, agent_options_of, options_for
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
from toolenv.cli.place_options import Concurrency, RayActors, RayAddress, RayGpus, Runner
from toolenv.cli.task_options import (
    Hazards,
    HazardSeed,
    Masks,
    MaxTurns,
    Prior,
    Subset,
    SuiteOptions,
    Tasks,
    env_options,
    task_ids,
)
from toolenv.errors import UsageError
from toolenv.model_server.limits import Limits
from toolenv.report.costs import costs_of, render_costs
from toolenv.report.rows import Row
from toolenv.report.safe import safe_line
from toolenv.runner.conduct import RETRIES
from toolenv.runner.costs import Price
from toolenv.runner.plan import RunConfig
from toolenv.runner.ray import Cluster
from toolenv.runner.select import Workplace

Envs: TypeAlias = Annotated[
    list[str], typer.Argument(metavar="ENV…", help="Environment ids; see: toolenv envs")
]
Agents: TypeAlias = Annotated[
    list[str],
    typer.Option("--agent", metavar="SPEC", help="oracle, chat:MODEL, module:attribute, …; may be repeated."),
]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", parser=folder_path, help="Run directory; by default runs/AGENT-HASH."
    ),
]
Limit: TypeAlias = Annotated[int | None, typer.Option(help="Only the first N tasks of each environment.")]
Arms: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--arm",
        metavar="ARM",
        help="baseline, tts, hint or oracle; may be repeated. A run directory each, below --out.",
    ),
]
BaselineFolder: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        parser=folder_path,
        help="The baseline run that --arm tts and hint go on from, where it is not run here.",
    ),
]


@app.command()
def run(
    envs: Envs,
    agent: Agents,
    out: Out = None,
    tasks: Tasks = None,
    limit: Limit = None,
    trials: Annotated[int, typer.Option(help="Repetitions of each task.")] = 1,
    seed: Annotated[int, typer.Option(help="Seed of the run.")] = 0,
    concurrency: Concurrency = 1,
    runner: Runner = "local",
    ray_address: RayAddress = None,
    ray_actors: RayActors = None,
    ray_gpus: RayGpus = 0.0,
    retries: Retries = RETRIES,
    deadline: Deadline = None,
    cache: Cache = None,
    per_minute: PerMinute = None,
    in_flight: InFlight = None,
    backoff: FirstWait = None,
    price: Prices = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted run.")] = False,
    subset: Subset = None,
    max_turns: MaxTurns = None,
    prior: Prior = None,
    masks: Masks = None,
    hazards: Hazards = None,
    hazard_seed: HazardSeed = None,
    arm: Arms = None,
    baseline: BaselineFolder = None,
    suite_option: SuiteOptions = None,
    base_url: BaseUrl = None,
    agent_option: AgentOptions = None,
) -> None:
    """Run episodes, keep them in a folder, and print the table.

    Several agents get a run directory each, below --out; with --arm, each arm of each agent in each
    environment. All is checked before the first episode. A server that fails many episodes in a row stops the
    run; --resume goes on and runs those again. Exit status 1 if no episode of a run is valid.
    """
    given = env_options(
        suite_option,
        subset=subset,
        max_turns=max_turns,
        prior=prior,
        masks=masks,
        hazards=hazards,
        hazard_seed=hazard_seed,
    )
    settings = agent_options_of(agent, agent_option, base_url)
    conduct = conduct_of(retries, deadline, cache, Limits(per_minute, in_flight), backoff, price)
    if conduct.prices:
        policies = [make_agent(spec, options_for(spec, settings)) for spec in agent]
        check_prices(conduct.prices, map(agent_settings, policies))
    place = Workplace(runner, concurrency, Cluster(ray_address, ray_actors, ray_gpus), conduct)
    names = tuple(dict.fromkeys(map(env_name, envs)))
    configs = [
        RunConfig(
            together,
            spec,
            given,
            options_for(spec, settings),
            tasks=task_ids(tasks),
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
    _show_runs(folders, beside, conduct.prices)


def _run_all(configs: Sequence[RunConfig], out: Path | None, *, resume: bool, place: Workplace) -> list[Path]:
    runs = [
        prepare(one, _folder(one, out, len(configs)), resume=resume, conduct=place.conduct) for one in configs
    ]
    check_apart(runs)
    return [execute(one, place) for one in runs]


def _show_runs(folders: Sequence[Path], beside: Sequence[Path], prices: Mapping[str, Price]) -> None:
    """The tables of the runs; arms are set against the baselines ``beside`` them, too."""
    rows = rows_of(folders)
    if rows:
        show(rows)
    show_arms(arms_of([*folders, *beside]))
    if prices:
        console().print(render_costs(costs_of(folders, prices)))
    show_origins(folders)
    typer.echo("Runs: " + " ".join(map(str, folders)))
    _check_any_valid(rows, arms_without_outcome(folders))


def _check_any_valid(rows: Sequence[Row], arms: Sequence[str]) -> None:
    """Exit status 1 if a run, which is all rows of one agent or an arm, has no valid episode."""
    without = [one for one in dict.fromkeys(row.agent for row in rows) if not _valid(rows, one)] + [*arms]
    for agent in without:
        typer.echo(f"toolenv: no episode of {safe_line(agent)} is valid", err=True)
    if without:
        raise typer.Exit(1)


def _valid(rows: Sequence[Row], agent: str) -> int:
    return sum(row.valid for row in rows if row.agent == agent)


def _folder(config: RunConfig, out: Path | None, agents: int) -> Path:
    """Where a run goes: without ``--out``, a name made of its configuration, so that resuming finds it."""
    if out is None:
        return Path("runs") / f"{folder_name(config.agent)}-{config.hash}"
    return out if agents == 1 else out / folder_name(config.agent)
