"""Rows as one self-contained HTML page: no scripts, no network, nothing a model wrote is ever markup."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from toolenv.metrics.coverage import COVERAGE_FLOOR
from toolenv.metrics.failures import MEDIANS
from toolenv.metrics.registry import Metric, TableName, catalogue
from toolenv.metrics.stats import Estimate
from toolenv.report.build import Report
from toolenv.report.degradation import degradation_notes
from toolenv.report.format import cell, difference_cell, p_value
from toolenv.report.groups import GroupRow
from toolenv.report.notes import caption, notes
from toolenv.report.rows import Row
from toolenv.report.safe import safe_text
from toolenv.report.tables import shown_in_groups
from toolenv.report.terminal import TITLES, TOLD, tells_of
from toolenv.report.troubles import trouble_lines
from toolenv.types import Label

if TYPE_CHECKING:
    from jinja2 import Template

SAMPLE_CHARACTERS = 2000
"""How much of a final text the page shows."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The last thing an agent wrote in one episode."""

    env: str
    agent: str
    task_id: str
    label: Label
    decision: Label
    decided_by: str
    text: str


def render_page(
    rows: Sequence[Row],
    samples: Iterable[Sample] = (),
    about: Mapping[str, str] | None = None,
    title: str = "toolenv report",
    report: Report | None = None,
) -> str:
    """The page.

    Args:
        rows: what to show.
        samples: final texts to show; each is cut at :data:`SAMPLE_CHARACTERS`.
        about: facts shown at the top, e.g. versions and config hashes.
        title: the page's title.
        report: what to show beside the rows: tables by workflow and so on, degradation.

    Returns:
        HTML, encodable as UTF-8 whatever is in the texts.
    """
    style = (files("toolenv.report") / "templates" / "report.css").read_text(encoding="utf-8")
    return _template().render(
        rows=rows,
        samples=list(samples),
        about=about or {},
        title=title,
        style=_trusted(style),
        style_hash=_trusted(_source_hash(style)),
        tables=_tables(rows),
        by=_by(report),
        degradation=[row for row in report.degradation if not row.differing] if report else [],
        degradation_notes=list(degradation_notes(report.degradation)) if report else [],
        thresholds=report.thresholds if report else MEDIANS,
        metrics=list(catalogue().values()),
        told=TOLD,
        outcome_names=list(rows[0].outcomes) if rows else [],
        notes=notes(rows),
        wrong=list(trouble_lines(rows)),
        caption=caption(rows),
        floor=round(100 * COVERAGE_FLOOR),
        cell=cell,
        difference_cell=difference_cell,
        p_value=p_value,
        clipped=lambda text: safe_text(text, SAMPLE_CHARACTERS),
        number="{:,}".format,
        x=_x,
        width=_width,
    )


def _tables(rows: Sequence[Row]) -> list[tuple[str, TableName, list[Metric], list[Row]]]:
    """Head, name, metrics and rows of each table; paper 2's only where there is something to say."""
    found = []
    for name in TITLES:
        members = [row for row in rows if name == "main" or tells_of([row], name)]
        metrics = [metric for metric in catalogue().values() if metric.table == name]
        if members or name == "main":
            found.append((_HEADS[name], name, metrics, members))
    return found


_HEADS: Mapping[TableName, str] = {
    "main": "Results",
    "recovery": "Accuracy, and what follows the first failed call",
    "failures": "Behaviour in failed episodes",
}


def _by(report: Report | None) -> list[tuple[str, list[Metric], Sequence[GroupRow]]]:
    """Dimension, metrics and rows of each table by something."""
    return [
        (name, [metric for metric in catalogue().values() if shown_in_groups(metric, rows)], rows)
        for name, rows in (report.by.items() if report else ())
    ]


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("toolenv.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_inert,
        trim_blocks=True,
    )
    return environment.get_template("report.html.j2")


def _inert(value: Any) -> Any:
    """What every expression of the template passes through before it is escaped."""
    return safe_text(value) if type(value) is str else value


def _trusted(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)


def _source_hash(style: str) -> str:
    """The style's hash for the content security policy; no other style applies."""
    return "sha256-" + base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()


def _x(share: float) -> str:
    """A share in [0, 1] on the interval bar."""
    return f"{2 + 60 * share:.1f}"


def _width(estimate: Estimate) -> str:
    return f"{max(60 * (estimate.high - estimate.low), 0.5):.1f}"
