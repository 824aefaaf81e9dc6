"""``toolenv quickstart``: real tasks, the reference agents, the table and a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from toolenv.cli import app
from toolenv.cli.data import store
from toolenv.cli.execute import execute, folder_name, rows_of, show
from toolenv.report.page import render_page
from toolenv.runner.plan import RunConfig

AGENTS = ("oracle", "always-stop", "never-stop", "noop", "random")
ENVS = ("ToolFeas/BFCL-clean-v0", "ToolFeas/BFCL-infeasible-v0")


@app.command()
def quickstart(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the runs.")] = Path(
        "runs/quickstart"
    ),
    html: Annotated[Path, typer.Option(metavar="FILE", help="The page.")] = Path("report.html"),
    limit: Annotated[int | None, typer.Option(help="Only the first N tasks of each environment.")] = None,
) -> None:
    """Fetch BFCL if it is absent, run the reference agents on it, print the table, write a page."""
    _fetch()
    folders = []
    for agent in AGENTS:
        config = RunConfig(envs=ENVS, agent=agent, limit=limit)
        folders.append(execute(config, out / f"{folder_name(agent)}-{config.hash}", resume=True))
    rows = rows_of(folders)
    show(rows)
    html.write_text(render_page(rows, title="toolenv quickstart"), encoding="utf-8")
    typer.echo(f"Page: {html}   Runs: {out}")


def _fetch() -> None:
    row = store().pull("bfcl", report=lambda line: typer.echo(line, err=True))
    typer.echo(f"BFCL {row.version} ({row.licence}) at {row.path}", err=True)
