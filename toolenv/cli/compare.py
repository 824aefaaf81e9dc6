"""``toolenv compare``: paired differences between two runs of the same tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from toolenv.cli import app
from toolenv.cli.output import console
from toolenv.report.compare import compare_runs, comparisons_to_json, render_comparisons
from toolenv.report.folders import run_of
from toolenv.runner.reading import find_runs


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(metavar="DIR_A", help="A run directory, or a folder of them.")],
    second: Annotated[Path, typer.Argument(metavar="DIR_B", help="What to compare it with.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare two agents, or two conditions, task by task.

    Episodes are paired by task and trial. For every metric that both have: each side's value over the
    pairs, the difference with its paired 95% interval, and for rates McNemar's exact p. What has no partner
    is counted. Where both have clean and infeasible tasks of a suite, the two are compared together, too.
    """
    rows = compare_runs(map(run_of, find_runs([first])), map(run_of, find_runs([second])))
    if as_json:
        typer.echo(json.dumps(comparisons_to_json(rows), indent=1, allow_nan=False))
    else:
        console().print(render_comparisons(rows))
