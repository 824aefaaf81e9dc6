"""``toolenv report``: the table of finished runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from toolenv.cli import app
from toolenv.cli.labels import label_rows_of
from toolenv.cli.output import check_page, console, rows_of, show, show_origins, write_page
from toolenv.report.about import runs_to_json
from toolenv.report.labels import label_rows_to_json, render_label_rows
from toolenv.report.serial import rows_to_json
from toolenv.runner.reading import find_runs, read_header


@app.command()
def report(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR…", help="Run directories, or folders of them.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write an HTML page.")] = None,
    labels: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="What is known of the labels; beside the FCR.")
    ] = None,
) -> None:
    """Print the metrics of runs, each with its 95% interval and counts."""
    if html is not None:
        check_page(html)
    rows = rows_of(folders)
    labelled = label_rows_of(folders, rows, labels or [])
    if html is not None:
        write_page(html, rows, folders, title="toolenv report")
    if as_json:
        headers = map(read_header, find_runs(folders))
        plain = {
            **rows_to_json(rows),
            "runs": runs_to_json(headers),
            **({"labels": label_rows_to_json(labelled)} if labels else {}),
        }
        typer.echo(json.dumps(plain, indent=1, allow_nan=False))
        return
    show(rows)
    show_origins(folders)
    if labels:
        console().print(render_label_rows(labelled))
    if html is not None:
        typer.echo(f"Page: {html}")
