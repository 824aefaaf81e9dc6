"""``toolenv report``: the table of finished runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from toolenv.cli import app
from toolenv.cli.output import check_page, rows_of, show, write_page
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
    if html is not None:
        check_page(html)
    rows = rows_of(folders)
    if html is not None:
        write_page(html, rows, title="toolenv report")
    if as_json:
        typer.echo(json.dumps(rows_to_json(rows), indent=1, allow_nan=False))
        return
    show(rows)
    if html is not None:
        typer.echo(f"Page: {html}")
