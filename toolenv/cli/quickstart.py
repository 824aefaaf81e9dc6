"""``toolenv quickstart``: the reference agents on our own tasks and on real ones, the tables and a page."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from toolenv.cli import app
from toolenv.cli.data import store
from toolenv.cli.execute import execute_all, folder_name, folder_path, prepare
from toolenv.cli.output import console, write_page
from toolenv.cli.targets import check_folder, check_targets
from toolenv.cli.task_options import Limit
from toolenv.errors import DataError
from toolenv.report.folders import report_of
from toolenv.report.rows import Row
from toolenv.report.safe import safe_line
from toolenv.report.summary import summary_notes, summary_table
from toolenv.runner.plan import JUDGED_BY, RunConfig, versions
from toolenv.runner.select import HERE

AGENTS = ("oracle", "always-stop", "never-stop", "noop", "random")
SCRIPTS = ("recovery", "recovery:naive")
"""Policies that follow a plan of the task, with and without what it takes to recover from a hazard."""

ROUND = 252
"""Tasks of Workflows: each workflow of each subtopic once."""


@dataclass(frozen=True, slots=True)
class Part:
    """Agents that all play the same environments."""

    agents: tuple[str, ...]
    envs: tuple[str, ...]
    limit: int | None = None

    def configs(self, limit: int | None) -> list[RunConfig]:
        """A run for each agent, of no more than ``limit`` tasks."""
        limits = [one for one in (limit, self.limit) if one is not None]
        return [RunConfig(self.envs, agent, limit=min(limits, default=None)) for agent in self.agents]


def _ids(suite: str, *conditions: str) -> tuple[str, ...]:
    return tuple(f"ToolFeas/{suite}-{condition}-v0" for condition in conditions)


WORKFLOWS = (
    Part(AGENTS, _ids("Workflows", "clean", "infeasible", "hazard"), ROUND),
    Part(SCRIPTS, _ids("Workflows", "clean", "hazard"), ROUND),
)
BFCL = (Part(AGENTS, _ids("BFCL", "clean", "infeasible")),)

TITLES = {
    "Workflows": "Workflows: our own tasks, generated",
    "BFCL": "BFCL: Berkeley Function Calling Leaderboard",
}


@app.command()
def quickstart(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", parser=folder_path, help="Folder of the runs.")
    ] = Path("runs/quickstart"),
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The page; by default report.html beside the runs.")
    ] = None,
    limit: Limit = None,
) -> None:
    """Run the reference agents on Workflows and BFCL.

    Workflows needs no network; BFCL is left out where its data cannot be had. Prints a table for each of the
    two, and writes a page with all the others. Runs that are there already are used; those of another version
    of toolenv are not, but run anew.
    """
    html = html or out / "report.html"
    check_folder(out, "--out")
    check_targets({"--html": html})
    folders = _run(WORKFLOWS, out, limit)
    why = _why_no_bfcl()
    if not why:
        folders += _run(BFCL, out, limit)
    left_out = {"left out": f"BFCL: {why}"} if why else {}
    found = report_of(folders)
    write_page(html, list(found.rows), folders, title="toolenv quickstart", more=left_out, report=found)
    _show(found.rows)
    if why:
        typer.echo(f"BFCL is left out, for its data cannot be had: {safe_line(why, 1000)}")
    typer.echo(f"All tables: {html}, or: {shlex.join(['toolenv', 'report', str(out)])}")


def _show(rows: Sequence[Row]) -> None:
    """A table for each suite, then what belongs beside them."""
    shown = console()
    for suite, title in TITLES.items():
        members = [row for row in rows if row.env.startswith((f"ToolFeas/{suite}-", f"ToolFeas/{suite} "))]
        if members:
            shown.print(summary_table(title, members, _agents(members)))
    for note in summary_notes(rows):
        typer.echo(note)


def _agents(rows: Sequence[Row]) -> list[str]:
    """The agents of a table: references first, then those that decide by themselves, then the scripts."""
    order = [spec.rpartition(":")[2] for spec in (*AGENTS, *SCRIPTS)]
    return sorted({row.agent for row in rows}, key=order.index)


def _run(parts: Sequence[Part], out: Path, limit: int | None) -> list[Path]:
    """Run whatever is not there yet, and return the folders of the runs."""
    configs = [config for part in parts for config in part.configs(limit)]
    runs = [prepare(one, out / _folder(one), resume=True) for one in configs]
    return execute_all(runs, HERE)


def _folder(config: RunConfig) -> str:
    """A name that changes with what an episode depends on: the configuration, and the code that judges it."""
    found = versions()
    return "-".join([folder_name(config.agent), config.hash, *(found[name] for name in JUDGED_BY)])


def _why_no_bfcl() -> str:
    """Fetch BFCL if it is absent; why its data cannot be had, empty if it is there."""
    try:
        row = store().pull("bfcl", report=lambda line: typer.echo(line, err=True), hasty=True)
    except DataError as error:
        return str(error)
    typer.echo(f"BFCL {row.version} ({row.licence}) at {row.path}", err=True)
    return ""
