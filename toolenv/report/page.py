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
from toolenv.metrics.registry import catalogue
from toolenv.metrics.stats import Estimate
from toolenv.report.format import cell
from toolenv.report.notes import CAPTION, notes
from toolenv.report.rows import Row
from toolenv.report.safe import safe_text
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
) -> str:
    """The page.

    Args:
        rows: what to show.
        samples: final texts to show; each is cut at :data:`SAMPLE_CHARACTERS`.
        about: facts shown at the top, e.g. versions and config hashes.
        title: the page's title.

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
        metrics=list(catalogue().values()),
        outcome_names=list(rows[0].outcomes) if rows else [],
        notes=notes(rows),
        caption=CAPTION,
        floor=round(100 * COVERAGE_FLOOR),
        cell=cell,
        clipped=lambda text: safe_text(text, SAMPLE_CHARACTERS),
        number="{:,}".format,
        x=_x,
        width=_width,
    )


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
