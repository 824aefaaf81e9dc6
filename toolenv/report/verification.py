"""Human verification as a table for a terminal and as JSON (paper 1, Tables 7 and 8)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from toolenv.metrics.stats import Estimate
from toolenv.metrics.verification import Group, Verification
from toolenv.report.format import cell, counted
from toolenv.report.safe import safe_line
from toolenv.report.serial import estimate_to_json
from toolenv.report.terminal import plain_table

if TYPE_CHECKING:
    from rich.console import Group as Shown
    from rich.table import Table


def verification_to_json(verification: Verification) -> dict[str, Any]:
    """``{"groups": [{"name", "sampled", "agreement": {…}, "precision": {…}}, …], "kappa": {…}, …}``."""
    return {
        "groups": [_group(group) for group in verification.groups],
        "kappa": estimate_to_json(verification.kappa),
        "ac1": estimate_to_json(verification.ac1),
        "disagreements": verification.disagreements,
        "unsure": verification.unsure,
        "unanswered": verification.unanswered,
        "unsettled": verification.unsettled,
    }


def render_verification(verification: Verification) -> Shown:
    """The table and what belongs beside it, for a console."""
    from rich.console import Group as Shown
    from rich.text import Text

    return Shown(_table(verification), *(Text(line) for line in _lines(verification)))


def _group(group: Group) -> dict[str, Any]:
    return {
        "name": group.name,
        "sampled": group.sampled,
        "agreement": estimate_to_json(group.agreement),
        "precision": estimate_to_json(group.precision),
    }


def _table(verification: Verification) -> Table:
    from rich.text import Text

    table = plain_table("Human verification of “infeasible” labels")
    for head in ("", "sampled", "agreement", "95% CI", "confirmed", "precision", "95% CI"):
        table.add_column(head, justify="right" if head else "left")
    for group in verification.groups:
        agreement, precision = cell(group.agreement, "rate"), cell(group.precision, "rate")
        table.add_row(
            Text(safe_line(group.name)),
            f"{group.sampled:,}",
            agreement.value,
            agreement.interval,
            f"{group.precision.count or 0:,}",
            precision.value,
            Text(precision.interval),
        )
    return table


def _lines(verification: Verification) -> Iterator[str]:
    yield f"Cohen's κ {_coefficient(verification.kappa)}; Gwet's AC1 {_coefficient(verification.ac1)}"
    unsure = counted(verification.unsure, "item")
    yield f"{counted(verification.disagreements, 'disagreement')}, {unsure} with an unsure among the answers"
    if verification.unanswered:
        yield f"{counted(verification.unanswered, 'item')} not answered by both annotators"
    if verification.unsettled:
        unsettled = counted(verification.unsettled, "item")
        yield f"{unsettled} to settle: toolenv annotate answer FILE --adjudicate"
    if verification.total.precision.withheld:
        yield "Precision is withheld while verdicts are open; brackets hold what it may still become."


def _coefficient(one: Estimate) -> str:
    if math.isnan(one.value):
        return f"undefined, n={one.n:,}"
    interval = "" if math.isnan(one.low) else f" [{one.low:.2f}, {one.high:.2f}]"
    return f"{one.value:.2f}{interval}, n={one.n:,}"
