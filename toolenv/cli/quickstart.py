"""``toolenv quickstart``: real tasks, the reference agents, the table and a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from toolenv.cli import app
from toolenv.cli.data import store
from toolenv.cli.execute import execute, folder_name, folder_path, prepare
from toolenv.cli.output import check_page, rows_of, show, write_page
from toolenv.runner.plan import JUDGED_BY, RunConfig, versions

AGENTS = ("oracle", "always-stop", "never-stop", "noop", "random")
ENVS = ("ToolFeas/BFCL-clean-v0", "ToolFeas/BFCL-infeasible-v0")


@app.command()
def quickstart(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", parser=folder_path, help="Folder of the runs.")
    ] = Path("runs/quickstart"),
    html: Annotated[Path, typer.Option(metavar="FILE", help="The page.")] = Path("report.html"),
    limit: Annotated[int | None, typer.Option(help="Only the first N tasks of each environment.")] = None,
) -> None:
    """Fetch BFCL if it is absent, run the reference agents on it, print the table, write a page.

    Runs that are there already are used; those of another version of toolenv are not, but run anew.
    """
    check_page(html)
    _fetch()
    configs = [RunConfig(envs=ENVS, agent=agent, limit=limit) for agent in AGENTS]
    runs = [prepare(one, out / _folder(one), resume=True) for one in configs]
    folders = [execute(one) for one in runs]
    rows = rows_of(folders)
    show(rows)
    write_page(html, rows, folders, title="toolenv quickstart")
    typer.echo(f"Page: {html}   Runs: {out}")


def _folder(config: RunConfig) -> str:
    """A name that changes with what an episode depends on: the configuration, and the code that judges it."""
    found = versions()
    return "-".join([folder_name(config.agent), config.hash, *(found[name] for name in JUDGED_BY)])


def _fetch() -> None:
    row = store().pull("bfcl", report=lambda line: typer.echo(line, err=True))
    typer.echo(f"BFCL {row.version} ({row.licence}) at {row.path}", err=True)
