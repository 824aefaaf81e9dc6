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
    spec = envs_registry.parse_env_id(name)
    suite = envs_registry.get_suite(spec["suite"])
    try:
        source = make_source(suite, spec["condition"])
        tasks = [source.get(task_id) for task_id in source.task_ids]
    except DataError as error:
        return {"id": name, "tasks": None, "tools": None, "infeasible": None, "data": str(error)}
    sizes = [len(task.offered(len(task.turns))) for task in tasks]
    infeasible = sum(task.label == "infeasible" for task in tasks) / len(tasks)
    if spec["condition"] == "mixed":
        infeasible = source.prior
    return {
        "id": name,
        "tasks": len(tasks),
        "tools": [min(sizes), max(sizes)],
        "infeasible": infeasible,
        "subsets": list(suite.subsets),
        "data": "present",
    }
