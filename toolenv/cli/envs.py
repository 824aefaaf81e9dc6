"""``toolenv envs``: every id, with what is behind it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

import envs_registry
from toolenv.cli import app
from toolenv.cli.env_ids import SomeEnvs, env_names, suite_name
from toolenv.cli.output import console
from toolenv.errors import DataError, SandboxUnavailableError
from toolenv.report.format import counted
from toolenv.report.notes import exclusion_line
from toolenv.report.terminal import plain_table
from toolenv.runner.exclusions import exclusions
from toolenv.source import DRAWN, TaskSource, make_source

if TYPE_CHECKING:
    from rich.table import Table

WIDTH = 80
"""Columns that the table needs, however many there are."""

ABSENT = "absent"

LEGEND = (
    "tools: fewest and most that a task offers; infeasible: share of the episodes; certified: masked tasks "
    "proven infeasible."
)


@app.command()
def envs(
    given: SomeEnvs = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the environment ids.

    With their tasks, tools and label balance, and whether their data is there. Where ids or patterns are
    given, those alone, and why they leave tasks out.
    """
    rows = [_describe(name) for name in (env_names(given) if given else envs_registry.env_ids())]
    if as_json:
        typer.echo(json.dumps({"envs": rows}, indent=1))
        return
    console(least=WIDTH).print(_table(rows))
    for line in _notes(rows, whole=bool(given)):
        typer.echo(f"• {line}")


def _table(rows: Iterable[Mapping[str, Any]]) -> Table:
    """No row needs more than :data:`WIDTH` columns, so that each stands on one line."""
    table = plain_table("Environments")
    table.add_column("id", no_wrap=True)
    for head in ("tasks", "tools", "infea-\nsible", "certi-\nfied"):
        table.add_column(head, justify="right")
    for row in rows:
        low, high = row["tools"] or ("", "")
        share = "" if row["infeasible"] is None else f"{row['infeasible']:.0%}"
        tools = f"{low}-{high}" if row["tools"] else ""
        certified = "" if row["labels"] is None else str(row["labels"].get("certified", 0))
        table.add_row(row["id"], str(row["tasks"] or ABSENT), tools, share, certified)
    return table


def _notes(rows: Sequence[Mapping[str, Any]], whole: bool) -> Iterator[str]:
    """What the columns are, which data is absent, and which tasks are left out, with reasons if ``whole``."""
    yield LEGEND
    yield from _absences(rows)
    lines = [exclusion_line(row["id"], row["of"] or 0, row["left_out"]) for row in rows]
    fewer = [row["id"] for row, line in zip(rows, lines, strict=True) if line]
    if whole:
        yield from filter(None, lines)
    elif fewer:
        pattern = envs_registry.env_id(_suite(fewer[0]), "*")
        yield f"{counted(len(fewer), 'id')} with fewer tasks than the suite; why: toolenv envs '{pattern}'"


def _absences(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What is not there and why: a suite without data, or single ids of one that lacks less."""
    present = {_suite(row["id"]) for row in rows if row["tasks"]}
    absent = [row for row in rows if not row["tasks"]]
    named: dict[str, dict[str, None]] = {}
    for row in absent:
        suite = _suite(row["id"])
        named.setdefault(row["data"], {})[row["id"] if suite in present else suite] = None
    for why, names in named.items():
        yield f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} {ABSENT}: {why}"


def _suite(name: str) -> str:
    return suite_name(name)


def _describe(name: str) -> dict[str, Any]:
    """What is known of an id.

    ``tasks`` of the ``of`` tasks of the default subset, ``left_out`` by reason; ``tools``, the least and most
    that a task ends with; ``infeasible``, the share of such episodes; ``labels``, where tools are masked, how
    many of the masks are ``certified``, ``assumed`` or ``unknown`` to make a task infeasible; ``data``.
    """
    spec = envs_registry.parse_env_id(name)
    suite = envs_registry.get_suite(spec["suite"])
    names = ("tasks", "of", "left_out", "tools", "infeasible", "labels")
    unknown: dict[str, Any] = {**dict.fromkeys(names), "left_out": {}}
    about = {"id": name, **unknown, "subsets": list(suite.subsets)}
    try:
        source = make_source(suite, spec["condition"])
    except (DataError, SandboxUnavailableError) as error:
        return {**about, "data": str(error)}
    left_out = exclusions(source, {})
    tasks = [source.get(task_id) for task_id in source.task_ids]
    sizes = [len(task.offered(len(task.turns))) for task in tasks]
    infeasible = sum(task.label == "infeasible" for task in tasks) / len(tasks)
    return {
        **about,
        "tasks": len(tasks),
        "of": left_out.tasks,
        "left_out": left_out.counts,
        "tools": [min(sizes), max(sizes)],
        "infeasible": source.prior if source.condition in DRAWN else infeasible,
        "labels": _labels(source),
        "data": "present",
    }


def _labels(source: TaskSource) -> dict[str, int] | None:
    """How sure the labels of masked tasks are; ``None`` where none is masked."""
    if source.condition not in ("infeasible", "mixed"):
        return None
    evidence = source.suite.masks(source.suite.default_subset).evidence
    return dict(Counter(evidence.get(task, {}).get("status", "unknown") for task in source.task_ids))
