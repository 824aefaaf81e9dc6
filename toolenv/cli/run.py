"""``toolenv run``: episodes of one or several agents on one or several environments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
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
from toolenv.cli.execute import check_apart, execute_all, folder_name, prepare
from toolenv.cli.grouped import grouped
from toolenv.cli.json_only import stdout_kept_free
from toolenv.cli.missing import naming_all_missing
from toolenv.cli.none_valid import none_valid
from toolenv.cli.output import console, show, show_origins
from toolenv.cli.place_options import PlaceOptions
from toolenv.cli.run_options import Agents, ArmOptions, AsJson, Episodes, Out, Resume
from toolenv.cli.stopped import naming
from toolenv.cli.task_options import EnvOptions
from toolenv.cli.told import told_of
from toolenv.cli.working_folder import where_policies_left_it
from toolenv.errors import UsageError
from toolenv.report.build import Report
from toolenv.report.costs import costs_of, render_costs
from toolenv.report.folders import report_of
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
    as_json: AsJson = False,
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
    with stdout_kept_free() if as_json else nullcontext() as stdout:
        with naming_all_missing(names, setting.keywords()):
            folders, beside = _played(configs, out, arms, resume=resume, place=place)
        with naming(folders):
            found = report_of(folders)
            if stdout is not None:
                told_of(folders, found, place.conduct.prices, beside=beside).print_json(stdout)
            else:
                _show_runs(found, folders, beside, place.conduct.prices)
        _check_any_valid(found, folders)


def _check_prices(conduct: Conduct, agents: Sequence[str], options: Mapping[str, Any]) -> None:
    """A price that no agent would pay is told before the first episode."""
    if conduct.prices:
        with where_policies_left_it():
            policies = [make_agent(spec, options_for(spec, options)) for spec in agents]
        check_prices(conduct.prices, map(agent_settings, policies))


def _played(
    configs: Sequence[RunConfig], out: Path | None, arms: ArmOptions, *, resume: bool, place: Workplace
) -> tuple[list[Path], list[Path]]:
    """The folders of the runs, and of baselines beside them."""
    if arms.arm:
        return run_arms(configs, arms.arm, out, baseline=arms.baseline, resume=resume, place=place)
    if arms.baseline is not None:
        raise UsageError(f"--baseline {arms.baseline} has no meaning without --arm tts or --arm hint")
    return _run_all(configs, out, resume=resume, place=place), []


def _run_all(configs: Sequence[RunConfig], out: Path | None, *, resume: bool, place: Workplace) -> list[Path]:
    runs = [prepare(one, _folder(one, out, len(configs)), resume=resume, place=place) for one in configs]
    check_apart(runs)
    return execute_all(runs, place)


def _show_runs(
    found: Report, folders: Sequence[Path], beside: Sequence[Path], prices: Mapping[str, Price]
) -> None:
    """The tables of the runs; arms are set against the baselines ``beside`` them, too."""
    if found.rows:
        show(list(found.rows))
    show_arms(arms_of([*folders, *beside]))
    if prices:
        console().print(render_costs(costs_of(folders, prices)))
    show_origins(folders)
    typer.echo("More (tokens by role, degradation, label errors): toolenv report DIR")
    typer.echo("Runs: " + " ".join(map(str, folders)))


def _check_any_valid(found: Report, folders: Sequence[Path]) -> None:
    """Exit status 1 if a run, which is all rows of one agent or an arm, has no valid episode."""
    without = none_valid(found.rows, arms_without_outcome(folders))
    for line in without:
        typer.echo(f"toolenv: {line}", err=True)
    if without:
        raise typer.Exit(1)


def _folder(config: RunConfig, out: Path | None, agents: int) -> Path:
    """Where a run goes: without ``--out``, a name made of its configuration, so that resuming finds it."""
    if out is None:
        return Path("runs") / f"{folder_name(config.agent)}-{config.hash}"
    return out if agents == 1 else out / folder_name(config.agent)
