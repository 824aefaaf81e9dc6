"""``toolenv report``: the table of finished runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from toolenv.cli import app
from toolenv.cli.arms_report import arms_of, show_arms
from toolenv.cli.conduct import Prices, check_prices
from toolenv.cli.labels import label_rows_of
from toolenv.cli.output import check_page, console, report_of, show, show_origins, write_page
from toolenv.metrics.dimensions import DIMENSIONS
from toolenv.metrics.failures import MEDIANS, Thresholds
from toolenv.report.about import runs_to_json
from toolenv.report.arms import arms_to_json
from toolenv.report.arms_table import arms_facts
from toolenv.report.costs import costs_facts, costs_of, costs_to_json, render_costs
from toolenv.report.labels import label_rows_to_json, render_label_rows
from toolenv.report.serial_more import report_to_json
from toolenv.report.tables import render_more
from toolenv.runner.costs import parse_prices
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
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,…", help=f"Also a table by each: {', '.join(DIMENSIONS)}."),
    ] = None,
    after_error: Annotated[
        float, typer.Option(min=0, help="A_t: calls after an error that make a failure a continuation.")
    ] = MEDIANS.post_error_calls,
    expansion: Annotated[
        float, typer.Option(min=0, help="R_t: calls over the reference's below which tools are under-used.")
    ] = MEDIANS.call_expansion,
    price: Prices = None,
) -> None:
    """Print the metrics of runs, with 95% intervals and counts."""
    prices = parse_prices(price or ())
    if html is not None:
        check_page(html)
    dimensions = [name.strip() for text in by or () for name in text.split(",")]
    found = report_of(folders, dimensions, Thresholds(after_error, expansion))
    rows = list(found.rows)
    arms = arms_of(folders)
    check_prices(prices, (read_header(one)["agent_settings"] for one in find_runs(folders)))
    labelled = label_rows_of(folders, rows, labels or [])
    costs = costs_of(folders, prices) if prices else []
    if html is not None:
        facts = arms_facts(arms) | costs_facts(costs)
        write_page(html, rows, folders, title="toolenv report", more=facts, report=found)
    if as_json:
        headers = map(read_header, find_runs(folders))
        plain = {
            **report_to_json(found),
            **({"arms": arms_to_json(arms)} if arms.rows else {}),
            "runs": runs_to_json(headers),
            **({"costs": costs_to_json(costs)} if prices else {}),
            **({"labels": label_rows_to_json(labelled)} if labels or labelled else {}),
        }
        typer.echo(json.dumps(plain, indent=1, allow_nan=False))
        return
    show(rows)
    console().print(render_more(found))
    show_arms(arms)
    if prices:
        console().print(render_costs(costs))
    show_origins(folders)
    if labels or labelled:
        console().print(render_label_rows(labelled))
    if html is not None:
        typer.echo(f"Page: {html}")
