"""``toolenv envs``: every id, with what is behind it."""

from __future__ import annotations

import json
from collections import Counter
from typing import Annotated, Any

import typer

import envs_registry
from toolenv.cli import app
from toolenv.cli.output import console
from toolenv.errors import DataError, SandboxUnavailableError
from toolenv.report.notes import exclusion_line
from toolenv.report.terminal import plain_table
from toolenv.runner.exclusions import exclusions
from toolenv.source import DRAWN, TaskSource, make_source


@app.command()
def envs(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List every environment id.

    With its tasks, tools and label balance, and whether its data is there.
    """
    rows = [_describe(name) for name in envs_registry.env_ids()]
    if as_json:
        typer.echo(json.dumps({"envs": rows}, indent=1))
        return
    from rich.text import Text

    table = plain_table("")
    table.add_column("id", no_wrap=True)
    for head in ("tasks", "tools\na task", "infeasible", "certified"):
        table.add_column(head, justify="right")
    table.add_column("data", overflow="fold")
    for row in rows:
        low, high = row["tools"] or ("", "")
        shares = "" if row["infeasible"] is None else f"{row['infeasible']:.0%}"
        tools = f"{low}-{high}" if row["tools"] else ""
        certified = "" if row["labels"] is None else str(row["labels"].get("certified", 0))
        table.add_row(row["id"], str(row["tasks"] or ""), tools, shares, certified, row["data"])
    console().print(table)
    for row in rows:
        if line := exclusion_line(row["id"], row["of"] or 0, row["left_out"]):
            console().print(Text(f"• {line}"))


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
