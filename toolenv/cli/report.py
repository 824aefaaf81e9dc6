"""``toolenv report``: the table of finished runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from toolenv.cli import app
from toolenv.cli.execute import rows_of, show
from toolenv.report.page import render_page
from toolenv.report.serial import rows_to_json


@app.command()
def report(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR…", help="Run directories, or folders of them.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write an HTML page.")] = None,
) -> None:
    """Print the metrics of runs, each with its 95% interval and counts."""
    rows = rows_of(folders)
    if html is not None:
        html.write_text(render_page(rows), encoding="utf-8")
    if as_json:
        typer.echo(json.dumps(rows_to_json(rows), indent=1, allow_nan=False))
        return
    show(rows)
    if html is not None:
        typer.echo(f"Page: {html}")
