"""All that is told of finished runs: by ``toolenv report``, and by ``toolenv run --json``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import typer

from toolenv.cli.arms_report import arms_of, show_arms
from toolenv.cli.labels import label_rows_of
from toolenv.cli.output import console, show, show_origins
from toolenv.report.about import runs_to_json
from toolenv.report.arms import ArmsReport, arms_to_json
from toolenv.report.build import Report
from toolenv.report.costs import RunCosts, costs_of, costs_to_json, render_costs
from toolenv.report.labels import LabelRow, label_rows_to_json, render_label_rows
from toolenv.report.preflights import PreflightCosts, preflights_of, preflights_to_json, render_preflights
from toolenv.report.rows import Row
from toolenv.report.serial_more import report_to_json
from toolenv.report.tables import render_more
from toolenv.runner.costs import Price
from toolenv.runner.reading import find_runs, read_header


@dataclass(frozen=True, slots=True)
class Told:
    """All that a report of runs tells.

    Attributes:
        folders: the run directories, or folders of them.
        found: the tables.
        arms: the arms of studies.
        labels: FCR under label errors; ``None`` where nothing is known of them.
        costs: what was spent; ``None`` without prices.
        preflights: what was spent before the first episodes.
    """

    folders: Sequence[Path]
    found: Report
    arms: ArmsReport
    labels: list[LabelRow] | None
    costs: list[RunCosts] | None
    preflights: list[PreflightCosts]

    def to_json(self) -> dict[str, Any]:
        """A JSON-able dict; rows say in which folders their episodes are, runs in which they are."""
        headers = {folder: read_header(folder) for folder in find_runs(list(self.folders))}
        tables = report_to_json(self.found)
        for row, plain in zip(self.found.rows, tables["rows"], strict=True):
            plain["folders"] = _folders_of(row, headers)
        runs = zip(headers, runs_to_json(headers.values()), strict=True)
        return {
            **tables,
            **({"arms": arms_to_json(self.arms)} if self.arms.rows else {}),
            "runs": [{**plain, "folder": str(folder)} for folder, plain in runs],
            **({} if self.costs is None else {"costs": costs_to_json(self.costs)}),
            **({"preflights": preflights_to_json(self.preflights)} if self.preflights else {}),
            **({} if self.labels is None else {"labels": label_rows_to_json(self.labels)}),
        }

    def print_json(self, stdout: TextIO | None = None) -> None:
        """Print that, and nothing else."""
        typer.echo(json.dumps(self.to_json(), indent=1, allow_nan=False), file=stdout)

    def show(self) -> None:
        """Print the tables."""
        show(list(self.found.rows))
        console().print(render_more(self.found))
        show_arms(self.arms)
        if self.costs is not None:
            console().print(render_costs(self.costs))
        if self.preflights:
            console().print(render_preflights(self.preflights))
        show_origins(self.folders)
        if self.labels is not None:
            console().print(render_label_rows(self.labels))


def told_of(
    folders: Sequence[Path],
    found: Report,
    prices: Mapping[str, Price],
    labels: Sequence[Path] = (),
    beside: Sequence[Path] = (),
) -> Told:
    """What is told of runs.

    Args:
        folders: the run directories, or folders of them.
        found: their tables.
        prices: by model; without any, nothing is said of costs.
        labels: files that say what is known of the labels.
        beside: baselines elsewhere, which arms are set against, too.

    Raises:
        ToolEnvError: something that cannot be read.
    """
    labelled = label_rows_of(folders, list(found.rows), labels)
    costs = costs_of(folders, prices) if prices else None
    arms, preflights = arms_of([*folders, *beside]), preflights_of(folders, prices)
    return Told(folders, found, arms, labelled if labels or labelled else None, costs, preflights)


def _folders_of(row: Row, headers: Mapping[Path, Mapping[str, Any]]) -> list[str]:
    envs = {row.env, *row.pooled}
    return [
        str(folder)
        for folder, header in headers.items()
        if header["agent"] == row.agent and not envs.isdisjoint(header["planned"])
    ]
