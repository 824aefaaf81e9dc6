"""``toolenv compare``: two sets of runs, matched by task, and what they differ in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import TYPE_CHECKING, Any

from toolenv.errors import UsageError
from toolenv.metrics.comparison import QUANTITIES, Comparison, Matching, Quantity, compare, match
from toolenv.metrics.env_names import parts_of
from toolenv.metrics.paired_coverage import WITHHELD, covered_comparison
from toolenv.report.collect import Group, Pair, Run, collect, differing
from toolenv.report.format import difference_cell, p_value
from toolenv.report.notes import ACCURACY_LEGEND
from toolenv.report.pooling import halves_of, pools_of
from toolenv.report.safe import safe_line
from toolenv.report.serial_more import comparison_to_json, matching_to_json
from toolenv.report.terminal import TOLD, estimate_text, lines_of, plain_table

if TYPE_CHECKING:
    from rich.console import Group as Shown
    from rich.table import Table
    from rich.text import Text

CAPTION = (
    "A - B over the pairs, with its 95% interval: rates in points (Newcombe's paired interval), means by the "
    "t interval of the differences. p: McNemar's exact test."
)


@dataclass(frozen=True)
class Side:
    """One side of a comparison; ``invalid`` of its ``planned`` episodes are no outcomes.

    ``env`` is the id, or as in a report ``"ToolFeas/BFCL (pooled)"``.
    """

    env: str
    agent: str
    planned: int
    valid: int
    invalid: int
    privileged: bool


@dataclass(frozen=True)
class ComparisonRow:
    """One env and agent of the first runs against one of the second.

    Attributes:
        first, second: who.
        matching: how many pairs there are, and what has no partner.
        quantities: those with data, by metric name; withheld below 90% of the pairs.
        differing: the settings in which the runs differ, each with its values.
        pooled: the env ids a pooled row is made of.
    """

    first: Side
    second: Side
    matching: Matching
    quantities: Mapping[str, Comparison]
    differing: Mapping[str, tuple[str, ...]]
    pooled: tuple[str, ...] = ()


def compare_runs(first: Iterable[Run], second: Iterable[Run]) -> list[ComparisonRow]:
    """Compare two sets of runs: two agents on the same envs, or one agent in two envs of a suite.

    Envs that both have are compared with themselves; if they have none in common, one of the two must have
    a single one, which is compared with each of the other's. The same goes for agents. Where a report of
    either has a row that pools clean and infeasible, such a row follows those of the two.

    Raises:
        UsageError: what belongs to what cannot be told; no task in common.
    """
    ours, theirs = collect(first), collect(second)
    partners = _partners(ours, theirs)
    rows = [_row([ours[one]], [theirs[other]], one, other) for one, other in partners]
    if not any(row.matching.pairs for row in rows):
        raise UsageError(
            "nothing to compare: no valid episode of the first has one of its task and trial in the second"
        )
    return sorted([*rows, *_pooled(ours, theirs, set(partners))], key=_place)


def _pooled(
    first: Mapping[Pair, Group], second: Mapping[Pair, Group], partners: set[tuple[Pair, Pair]]
) -> Iterator[ComparisonRow]:
    """The rows over the clean and the infeasible env of a suite: FASS is defined over both."""
    pools = (pools_of(halves_of(groups)).items() for groups in (first, second))
    for (one, members), (other, others) in product(*pools):
        pairs = ((a.pair, b.pair) for a, b in zip(members, others, strict=True))
        if all(pair in partners for pair in pairs):
            yield _row(members, others, one, other)


def _place(row: ComparisonRow) -> tuple[str, bool]:
    """Rows of a suite stand together, pooled ones last."""
    return (parts_of(row.pooled[0] if row.pooled else row.first.env)[0], bool(row.pooled))


def _partners(first: Mapping[Pair, Group], second: Mapping[Pair, Group]) -> list[tuple[Pair, Pair]]:
    envs = _matching("env", [env for env, _ in first], [env for env, _ in second])
    agents = _matching("agent", [agent for _, agent in first], [agent for _, agent in second])
    return [
        ((env, agent), (other_env, other_agent))
        for (env, other_env), (agent, other_agent) in product(envs, agents)
        if (env, agent) in first and (other_env, other_agent) in second
    ]


def _matching(what: str, first: Iterable[str], second: Iterable[str]) -> list[tuple[str, str]]:
    """Each name of the first with its partners: itself, or where one has a single name, all of the other."""
    ours, theirs = sorted(set(first)), sorted(set(second))
    common = [(name, name) for name in ours if name in theirs]
    if common:
        return common
    if min(len(ours), len(theirs)) == 1:
        return list(product(ours, theirs))
    raise UsageError(
        f"the two have no {what} in common, and which is to be compared with which cannot be told: "
        f"{', '.join(ours) or 'none'} against {', '.join(theirs) or 'none'}; give runs of which "
        f"one has a single {what}"
    )


def _row(first: Sequence[Group], second: Sequence[Group], one: Pair, other: Pair) -> ComparisonRow:
    played = [(ours.played, theirs.played) for ours, theirs in zip(first, second, strict=True)]
    matched = [match(ours.episodes, theirs.episodes) for ours, theirs in played]
    pairs = list(chain.from_iterable(found for found, _ in matched))
    found = {each.name: covered_comparison(compare(pairs, each), each, *played) for each in QUANTITIES}
    return ComparisonRow(
        _side(first, one),
        _side(second, other),
        _together([matching for _, matching in matched]),
        {name: comparison for name, comparison in found.items() if comparison.difference.n},
        differing((*first, *second)),
        tuple(group.env for group in first) if len(first) > 1 else (),
    )


def _together(matchings: Sequence[Matching]) -> Matching:
    return Matching(*(sum(getattr(one, name) for one in matchings) for name in Matching.__slots__))


def _side(groups: Sequence[Group], pair: Pair) -> Side:
    ended = sum(len(group.episodes) for group in groups)
    valid = sum(one.valid for group in groups for one in group.episodes)
    planned, told = sum(group.planned for group in groups), any(group.privileged for group in groups)
    return Side(*pair, planned, valid, ended - valid, told)


def comparisons_to_json(rows: Iterable[ComparisonRow]) -> dict[str, Any]:
    """``{"comparisons": [{"first", "second", "matched", "metrics": {NAME: {…}}, "notes", …}, …]}``."""
    return {"comparisons": [_row_to_json(row) for row in rows]}


def _row_to_json(row: ComparisonRow) -> dict[str, Any]:
    return {
        "first": _side_to_json(row.first),
        "second": _side_to_json(row.second),
        **matching_to_json(row.matching),
        "differing": {name: list(values) for name, values in row.differing.items()},
        "pooled": list(row.pooled),
        "metrics": {name: comparison_to_json(one) for name, one in row.quantities.items()},
        "notes": list(_notes(row)),
    }


def _side_to_json(side: Side) -> dict[str, Any]:
    return {name: getattr(side, name) for name in side.__dataclass_fields__}


def render_comparisons(rows: Sequence[ComparisonRow]) -> Shown:
    """A table for each comparison, and what belongs beside it, for a console."""
    from rich.console import Group as Shown
    from rich.text import Text

    parts: list[Table | Text] = []
    for row in rows:
        parts += [Text(f"{name}: {line}") for name, line in _heads(row)]
        parts += [_table(row), *(Text(f"• {safe_line(note, 1000)}") for note in _notes(row)), Text()]
    return Shown(*parts, Text(CAPTION, style="dim"))


def _heads(row: ComparisonRow) -> Iterator[tuple[str, str]]:
    for name, side in (("A", row.first), ("B", row.second)):
        told = f" ({TOLD})" if side.privileged else ""
        counts = f"{side.planned:,} planned, {side.valid:,} valid, {side.invalid:,} invalid"
        yield name, f"{safe_line(side.agent)}{told}, {safe_line(side.env)}: {counts}"


def _table(row: ComparisonRow) -> Table:
    table = plain_table("")
    for head in ("", "A", "B", "A - B", "p", "both\nonly A\nonly B\nneither"):
        table.add_column(head, justify="right" if head else "left")
    for quantity in QUANTITIES:
        if quantity.name in row.quantities:
            table.add_row(*_cells(quantity, row.quantities[quantity.name]))
    return table


def _cells(quantity: Quantity, found: Comparison) -> Iterator[Text | str]:
    yield quantity.title
    yield estimate_text(found.first, quantity.kind)
    yield estimate_text(found.second, quantity.kind)
    yield lines_of(difference_cell(found.difference, quantity.kind))
    yield p_value(found.p)
    pairs = found.pairs
    numbers = () if pairs is None else (pairs.both, pairs.only_first, pairs.only_second, pairs.neither)
    yield "\n".join(f"{number:,}" for number in numbers)


def _is_withheld(row: ComparisonRow, quantity: Quantity) -> bool:
    found = row.quantities.get(quantity.name)
    return found is not None and found.difference.withheld


def _is_accuracy_above(found: Mapping[str, Comparison]) -> bool:
    """Whether it is above SR on either side."""
    if not {"sr", "accuracy"} <= found.keys():
        return False
    sr, accuracy = found["sr"], found["accuracy"]
    return accuracy.first.value > sr.first.value or accuracy.second.value > sr.second.value


def _notes(row: ComparisonRow) -> Iterator[str]:
    matching = row.matching
    yield (
        f"{matching.pairs:,} pairs of episodes, by {'environment, ' if row.pooled else ''}task and trial; "
        f"{matching.only_first:,} valid episodes of A and {matching.only_second:,} of B have no valid "
        "partner and are left out"
    )
    withheld = [one.title for one in QUANTITIES if _is_withheld(row, one)]
    if withheld:
        yield f"{', '.join(withheld)}: {WITHHELD}"
    if _is_accuracy_above(row.quantities):
        yield ACCURACY_LEGEND
    if matching.other_seeds:
        yield f"{matching.other_seeds:,} of the pairs were played with different seeds"
    if row.differing:
        settings = ", ".join(f"{name} ({'; '.join(values)})" for name, values in row.differing.items())
        yield f"the runs differ in {settings}"
