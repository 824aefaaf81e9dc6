"""``toolenv report``: the table of finished runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from toolenv.cli import app
from toolenv.cli.arms_report import arms_of, show_arms
from toolenv.cli.conduct import Prices, check_prices
from toolenv.cli.grouped import grouped
from toolenv.cli.labels import label_rows_of
from toolenv.cli.output import check_page, console, report_of, show, show_origins, write_page
from toolenv.metrics.dimensions import DIMENSIONS
from toolenv.metrics.failures import MEDIANS, Thresholds
from toolenv.report.about import runs_to_json
from toolenv.report.arms import ArmsReport, arms_to_json
from toolenv.report.arms_table import arms_facts
from toolenv.report.build import Report
from toolenv.report.costs import RunCosts, costs_facts, costs_of, costs_to_json, render_costs
from toolenv.report.labels import LabelRow, label_rows_to_json, render_label_rows
from toolenv.report.serial_more import report_to_json
from toolenv.report.tables import render_more
from toolenv.runner.costs import Price, parse_prices
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


@dataclass(frozen=True, slots=True)
class Told:
    """All that a report of runs tells.

    Attributes:
        folders: the run directories, or folders of them.
        found: the tables.
        arms: the arms of studies.
        labels: FCR under label errors; ``None`` where nothing is known of them.
        costs: what was spent; ``None`` without prices.
    """

    folders: list[Path]
    found: Report
    arms: ArmsReport
    labels: list[LabelRow] | None
    costs: list[RunCosts] | None

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict."""
        return {
            **report_to_json(self.found),
            **({"arms": arms_to_json(self.arms)} if self.arms.rows else {}),
            "runs": runs_to_json(map(read_header, find_runs(self.folders))),
            **({} if self.costs is None else {"costs": costs_to_json(self.costs)}),
            **({} if self.labels is None else {"labels": label_rows_to_json(self.labels)}),
        }

    def show(self) -> None:
        """Print the tables."""
        show(list(self.found.rows))
        console().print(render_more(self.found))
        show_arms(self.arms)
        if self.costs is not None:
            console().print(render_costs(self.costs))
        show_origins(self.folders)
        if self.labels is not None:
            console().print(render_label_rows(self.labels))


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
    if html is not None:
        check_page(html)
    dimensions = [name.strip() for text in by or () for name in text.split(",")]
    found = report_of(folders, dimensions, Thresholds(thresholds.after_error, thresholds.expansion))
    told = _told(folders, found, labels or [], prices)
    if html is not None:
        facts = arms_facts(told.arms) | costs_facts(told.costs or [])
        write_page(html, list(found.rows), folders, title="toolenv report", more=facts, report=found)
    if as_json:
        typer.echo(json.dumps(told.to_json(), indent=1, allow_nan=False))
        return
    told.show()
    if html is not None:
        typer.echo(f"Page: {html}")


def _told(folders: list[Path], found: Report, labels: Sequence[Path], prices: Mapping[str, Price]) -> Told:
    arms = arms_of(folders)
    check_prices(prices, (read_header(one)["agent_settings"] for one in find_runs(folders)))
    labelled = label_rows_of(folders, list(found.rows), labels)
    costs = costs_of(folders, prices) if prices else None
    return Told(folders, found, arms, labelled if labels or labelled else None, costs)
