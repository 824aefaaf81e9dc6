"""``toolenv report``: the table of finished runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from toolenv.cli import app
from toolenv.cli.conduct import Prices, check_prices
from toolenv.cli.grouped import grouped
from toolenv.cli.output import write_page
from toolenv.cli.targets import check_targets
from toolenv.cli.told import told_of
from toolenv.metrics.dimensions import DIMENSIONS
from toolenv.metrics.failures import MEDIANS, Thresholds
from toolenv.report.arms_table import arms_facts
from toolenv.report.costs import costs_facts
from toolenv.report.folders import report_of
from toolenv.report.preflights import preflights_facts
from toolenv.runner.costs import parse_prices
from toolenv.runner.reading import find_runs, read_header


@dataclass(frozen=True, slots=True)
class ThresholdOptions:
    """Where failure behaviours part."""

    after_error: Annotated[
        float, typer.Option(min=0, help="A_t: calls after an error that make a failure a continuation.")
    ] = MEDIANS.post_error_calls
    expansion: Annotated[
        float, typer.Option(min=0, help="R_t: calls over the reference's below which tools are under-used.")
    ] = MEDIANS.call_expansion


@app.command()
@grouped
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
    *,
    thresholds: ThresholdOptions,
    price: Prices = None,
) -> None:
    """Print the metrics of runs, with 95% intervals and counts."""
    prices = parse_prices(price or ())
    check_targets({"--html": html}, labels or ())
    dimensions = [name.strip() for text in by or () for name in text.split(",")]
    found = report_of(folders, dimensions, Thresholds(thresholds.after_error, thresholds.expansion))
    check_prices(prices, (read_header(one)["agent_settings"] for one in find_runs(folders)))
    told = told_of(folders, found, prices, labels or [])
    if html is not None:
        facts = arms_facts(told.arms) | costs_facts(told.costs or []) | preflights_facts(told.preflights)
        write_page(html, list(found.rows), folders, title="toolenv report", more=facts, report=found)
    if as_json:
        told.print_json()
        return
    told.show()
    if html is not None:
        typer.echo(f"Page: {html}")
