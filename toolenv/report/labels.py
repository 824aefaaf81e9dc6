"""False continue rates and the errors of labels: over certified tasks, and the range that errors leave."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolenv.episode import Episode
from toolenv.feasibility.annotation.evidence import LabelEvidence
from toolenv.metrics.label_noise import Rule, fcr_bounds, fcr_certified
from toolenv.metrics.stats import Estimate
from toolenv.report.episode_table import EpisodeTable
from toolenv.report.format import cell
from toolenv.report.rows import Row
from toolenv.report.safe import safe_line
from toolenv.report.serial import estimate_to_json

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
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    if not rows:
        return Group(Text("No FCR to set beside the labels: none was measured, or all are withheld."))
    table = Table(title="FCR and the errors of labels", title_justify="left", box=box.SIMPLE_HEAD)
    for head in ("environment\nagent", "FCR", "all labels", "range", "how", "certified", "95% CI"):
        table.add_column(head, justify="left" if head in ("environment\nagent", "how") else "right")
    for row in rows:
        name = f"{safe_line(row.env)}\n{safe_line(row.agent)}"
        table.add_row(Text(name), row.rule, *(Text(one) for one in _texts(row)))
    return Group(table, Text(CAPTION, style="dim"))


def _texts(row: LabelRow) -> Iterator[str]:
    bounds, certified = cell(row.bounds, "rate"), cell(row.certified, "rate")
    yield f"{bounds.value}\n{bounds.n}"
    yield bounds.interval
    yield row.bounds.method
    yield f"{certified.value}\n{certified.n}"
    yield certified.interval
