"""``toolenv validate``: is an environment what it claims to be?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

import typer

from toolenv.agents.registry import make_agent
from toolenv.cli import app
from toolenv.cli.execute import env_name
from toolenv.cli.output import with_progress
from toolenv.cli.run import pairs
from toolenv.feasibility.manifest import FLAGS
from toolenv.runner.plan import source_of
from toolenv.source import TaskSource
from toolenv.transcript import printable
from toolenv.validation import Finding, Validation, summarise, validate_source

SHOWN = 50
"""How many findings are listed."""


@app.command()
def validate(
    envs: Annotated[list[str], typer.Argument(metavar="ENV…", help="Environment ids; see: toolenv envs")],
    subset: Annotated[str | None, typer.Option(help="Subset of the suite.")] = None,
    tasks: Annotated[str | None, typer.Option(metavar="ID,…", help="Only these tasks.")] = None,
    suite_option: Annotated[
        list[str] | None,
        typer.Option("--suite-option", metavar="NAME=VALUE", help="A setting of the suite's own."),
    ] = None,
) -> None:
    """Check that the oracle succeeds, that doing nothing does not, and that nothing leaks.

    Exit status 1 if anything is wrong. What in a data set disagrees with itself is a warning.
    """
    chosen = {name: value for name, value in (("subset", subset), ("tasks", tasks)) if value is not None}
    options = {**pairs("--suite-option", suite_option or []), **chosen}
    names = [env_name(text) for text in envs]
    sources = [source_of(name, options) for name in names]
    wrong = 0
    for name, source in zip(names, sources, strict=True):
        found = _validate(name, source)
        _print(name, found)
        _print_hazards(source)
        wrong += len(found.findings)
    if wrong:
        raise typer.Exit(1)


def _validate(name: str, source: TaskSource) -> Validation:
    results = validate_source(source, make_agent("oracle"), make_agent("noop"))
    return summarise(with_progress(results, total=len(source.task_ids), title=name))


def _print(name: str, found: Validation) -> None:
    warnings = f", {len(found.warnings)} warnings" if found.warnings else ""
    typer.echo(f"{name}: {found.tasks} tasks, {len(found.findings)} findings{warnings}")
    for flag, count in sorted(found.flagged.items()):
        typer.echo(f"  {count} flagged {flag}: {FLAGS[flag]}")
    _list(found.findings, "")
    _list(found.warnings, "warning: ")


def _print_hazards(source: TaskSource) -> None:
    """What is armed: by hazard and mode, by workflow, and by number of tools, as far as tasks tell these."""
    armed = [(source.get(task_id), instance) for task_id, instance in source.hazards.items()]
    modes = Counter(f"{instance.hazard}, {instance.mode}" for _, instance in armed)
    workflows = Counter(str(task.metadata["workflow"]) for task, _ in armed if "workflow" in task.metadata)
    tools = Counter(
        tool_bucket(task.metadata["tool_count"]) for task, _ in armed if "tool_count" in task.metadata
    )
    for title, counts in (("armed", modes), ("workflow", workflows), ("tools", tools)):
        for name, count in sorted(counts.items()):
            typer.echo(f"  {count} {title}: {name}")


def tool_bucket(count: int) -> str:
    """The group of a number of tools (paper 2, Table 3)."""
    return "≤3" if count <= 3 else "4" if count == 4 else "≥5"


def _list(findings: Sequence[Finding], mark: str) -> None:
    for finding in findings[:SHOWN]:
        typer.echo(f"  {mark}{finding.task_id}: {finding.check}: {printable(finding.problem)}")
    if len(findings) > SHOWN:
        typer.echo(f"  … and {len(findings) - SHOWN} more")
