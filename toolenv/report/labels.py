"""False continue rates and the errors of labels: over certified tasks, and the range that errors leave."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolenv.episode import Episode
from toolenv.feasibility.annotation.evidence import LabelEvidence
from toolenv.metrics.label_noise import Rule, fcr_bounds, fcr_certified
from toolenv.metrics.stats import Estimate
from toolenv.report.episode_table import EpisodeTable
from toolenv.report.rows import Row
from toolenv.report.serial import estimate_to_json
from toolenv.report.terminal import estimate_text, plain_table, safe_name

if TYPE_CHECKING:
    from rich.console import Group

CAPTION = (
    "Range: what the FCR of the tasks at hand can be, given how many labels may be wrong; no sampling "
    "interval. Certified: over tasks proven infeasible, with its 95% interval."
)


@dataclass(frozen=True, slots=True)
class LabelRow:
    """One env, agent and rule for what is a stop.

    Attributes:
        env, agent, rule: whose FCR.
        bounds: FCR over the labels not proven wrong, and the range that label errors leave.
        certified: FCR over the tasks proven infeasible.
    """

    env: str
    agent: str
    rule: Rule
    bounds: Estimate
    certified: Estimate


def label_rows(
    rows: Sequence[Row], episodes: Iterable[Episode], evidence: Mapping[str, LabelEvidence]
) -> list[LabelRow]:
    """Two rows for each env with evidence and each agent; none where the table withholds its FCR.

    Args:
        rows: the table of the same episodes.
        episodes: read once.
        evidence: by env id.
    """
    wanted = [
        row
        for row in rows
        if row.env in evidence and row.metrics["fcr_strict"].n and "fcr_strict" not in row.over_valid
    ]
    members = {(row.env, row.agent): EpisodeTable() for row in wanted}
    for episode in episodes:
        if (episode.env, episode.agent) in members:
            members[episode.env, episode.agent].append(episode)
    return [
        LabelRow(
            row.env,
            row.agent,
            rule,
            fcr_bounds(members[row.env, row.agent], evidence[row.env], rule),
            fcr_certified(members[row.env, row.agent], evidence[row.env].status, rule),
        )
        for row in wanted
        for rule in _RULES
    ]


_RULES: tuple[Rule, ...] = ("strict", "lenient")


def label_rows_to_json(rows: Iterable[LabelRow]) -> list[dict[str, Any]]:
    """``[{"env", "agent", "rule", "bounds": {…}, "certified": {…}}, …]``."""
    return [
        {
            "env": row.env,
            "agent": row.agent,
            "rule": row.rule,
            "bounds": estimate_to_json(row.bounds),
            "certified": estimate_to_json(row.certified),
        }
        for row in rows
    ]


def render_label_rows(rows: Sequence[LabelRow]) -> Group:
    """A table for a console."""
    from rich.console import Group
    from rich.text import Text

    if not rows:
        return Group(Text("No FCR to set beside the labels: none was measured, or all are withheld."))
    table = plain_table("FCR and the errors of labels")
    table.add_column("environment\nagent")
    table.add_column("FCR")
    for head in ("all labels\nrange", "certified\n95% CI"):
        table.add_column(head, justify="right")
    table.add_column("how")
    for row in rows:
        name = safe_name(row.env).append("\n").append(safe_name(row.agent))
        estimates = (estimate_text(one, "rate") for one in (row.bounds, row.certified))
        table.add_row(name, row.rule, *estimates, row.bounds.method)
    return Group(Text(), table, Text(CAPTION, style="dim"))
