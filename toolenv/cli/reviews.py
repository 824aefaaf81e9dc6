"""``toolenv reviews``: how far two reviewers of generated tasks agree (paper 2, appendix)."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolenv.cli import app
from toolenv.report.safe import safe_line

if TYPE_CHECKING:
    from toolenv.metrics.stats import Estimate

Log = Annotated[
    Path, typer.Argument(metavar="FILE", help="A review log, JSON lines; see docs/generation.md.")
]


@app.command()
def reviews(
    first: Log,
    second: Log,
    settled: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What a discussion made of the disputed tasks.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the agreement of two review logs.

    Agreement is the paper's rate, Cohen's κ and Gwet's AC1.
    """
    from envs_registry.tool_bench_x.reviews import agreement, agreement_to_json, read_reviews

    after = None if settled is None else read_reviews(settled)
    found = agreement(read_reviews(first), read_reviews(second), after)
    if as_json:
        typer.echo(json.dumps(agreement_to_json(found), indent=1, allow_nan=False))
        return
    for title, one in (
        ("same decision and hazard", found.agreement),
        ("same decision", found.decisions),
        ("  Cohen's κ", found.kappa),
        ("  Gwet's AC1", found.ac1),
        ("same hazard", found.hazards),
        ("  Cohen's κ", found.hazard_kappa),
        ("  Gwet's AC1", found.hazard_ac1),
    ):
        typer.echo(f"{title}: {_shown(one)}")
    typer.echo(f"{found.only_one} tasks were reviewed by one of the two only")
    for task in found.disputed:
        typer.echo(f"  disputed: {safe_line(task)}")
    if found.outcome is not None:
        typer.echo("outcome: " + ", ".join(f"{count} {name}" for name, count in found.outcome.items()))


def _shown(one: Estimate) -> str:
    if math.isnan(one.value):
        return f"undefined, n={one.n}"
    interval = "" if math.isnan(one.low) else f" [{one.low:.3f}, {one.high:.3f}]"
    return f"{one.value:.3f}{interval}, n={one.n}"
