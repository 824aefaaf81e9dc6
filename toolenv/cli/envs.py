"""``toolenv envs``: every id, with what is behind it."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

import envs_registry
from toolenv.cli import app
from toolenv.cli.output import console
from toolenv.errors import DataError
from toolenv.source import make_source


@app.command()
def envs(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List every environment id: tasks, tools, label balance, and whether its data is there."""
    rows = [_describe(name) for name in envs_registry.env_ids()]
    if as_json:
        typer.echo(json.dumps({"envs": rows}, indent=1))
        return
    from rich.table import Table

    table = Table("id", "tasks", "tools a task", "infeasible", "data")
    for row in rows:
        low, high = row["tools"] or ("", "")
        shares = "" if row["infeasible"] is None else f"{row['infeasible']:.0%}"
        tools = f"{low}-{high}" if row["tools"] else ""
        table.add_row(row["id"], str(row["tasks"] or ""), tools, shares, row["data"])
    console().print(table)


def _describe(name: str) -> dict[str, Any]:
    """Tasks, the least and most tools a task ends with, the share of infeasible episodes, the data."""
    spec = envs_registry.parse_env_id(name)
    suite = envs_registry.get_suite(spec["suite"])
    about = {"id": name, "tasks": None, "tools": None, "infeasible": None, "subsets": list(suite.subsets)}
    try:
        source = make_source(suite, spec["condition"])
    except DataError as error:
        return {**about, "data": str(error)}
    tasks = [source.get(task_id) for task_id in source.task_ids]
    sizes = [len(task.offered(len(task.turns))) for task in tasks]
    infeasible = sum(task.label == "infeasible" for task in tasks) / len(tasks)
    return {
        **about,
        "tasks": len(tasks),
        "tools": [min(sizes), max(sizes)],
        "infeasible": source.prior if source.condition == "mixed" else infeasible,
        "data": "present",
    }
