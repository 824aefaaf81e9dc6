"""``toolenv run``: episodes of one or several agents on one or several environments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from toolenv.agents.registry import make_agent
from toolenv.cli import app
from toolenv.cli.agent_options import AgentSettings, options_for
from toolenv.cli.arms import run_arms
from toolenv.cli.arms_report import arms_of, arms_without_outcome, show_arms
from toolenv.cli.conduct import ConductOptions, agent_settings, check_prices
from toolenv.cli.env_ids import Envs, env_names
from toolenv.cli.execute import check_apart, execute, folder_name, prepare
from toolenv.cli.grouped import grouped
from toolenv.cli.output import console, rows_of, show, show_origins
from toolenv.cli.place_options import PlaceOptions
from toolenv.cli.run_options import Agents, ArmOptions, Episodes, Out, Resume
from toolenv.cli.task_options import EnvOptions
from toolenv.errors import UsageError
from toolenv.report.costs import costs_of, render_costs
from toolenv.report.rows import Row
from toolenv.report.safe import safe_line
from toolenv.runner.conduct import Conduct
from toolenv.runner.costs import Price
from toolenv.runner.plan import RunConfig
from toolenv.runner.select import Workplace


@app.command()
@grouped
def run(
    envs: Envs,
    agent: Agents,
    out: Out = None,
    *,
    episodes: Episodes,
    workplace: PlaceOptions,
    conduct: ConductOptions,
    resume: Resume = False,
    setting: EnvOptions,
    arms: ArmOptions,
    agents: AgentSettings,
) -> None:
    """Run episodes, keep them in a folder, and print the table.

    Several agents get a run directory each, below --out; with --arm, each arm of each agent in each
    environment. All is checked before the first episode. A server that fails many episodes in a row stops the
    run; --resume goes on and runs those again. Exit status 1 if no episode of a run is valid.
    """
    options = agents.of(agent)
    place = workplace.with_conduct(conduct.conduct())
    _check_prices(place.conduct, agent, options)
    names = env_names(envs)
    configs = [
        episodes.config(together, spec, setting.keywords(), options_for(spec, options))
        for spec in dict.fromkeys(agent)
        for together in ([(name,) for name in names] if arms.arm else [names])
    ]
    beside: list[Path] = []
    if arms.arm:
        folders, beside = run_arms(configs, arms.arm, out, baseline=arms.baseline, resume=resume, place=place)
    elif arms.baseline is not None:
        raise UsageError(f"--baseline {arms.baseline} has no meaning without --arm tts or --arm hint")
    else:
        folders = _run_all(configs, out, resume=resume, place=place)
    _show_runs(folders, beside, place.conduct.prices)


def _check_prices(conduct: Conduct, agents: Sequence[str], options: Mapping[str, Any]) -> None:
    """A price that no agent would pay is told before the first episode."""
    if conduct.prices:
        policies = [make_agent(spec, options_for(spec, options)) for spec in agents]
        check_prices(conduct.prices, map(agent_settings, policies))


def _run_all(configs: Sequence[RunConfig], out: Path | None, *, resume: bool, place: Workplace) -> list[Path]:
    runs = [prepare(one, _folder(one, out, len(configs)), resume=resume, place=place) for one in configs]
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
