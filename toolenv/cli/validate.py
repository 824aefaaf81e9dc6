"""``toolenv validate``: is an environment what it claims to be?"""

from __future__ import annotations

from typing import Annotated, cast

import typer

import envs_registry
from toolenv.agents.registry import make_agent
from toolenv.cli import app
from toolenv.cli.execute import progress_bar
from toolenv.env import ToolEnv
from toolenv.feasibility.manifest import FLAGS
from toolenv.runner.plan import make
from toolenv.validation import summarise, validate_source


@app.command()
def validate(
    envs: Annotated[list[str], typer.Argument(metavar="ENV…", help="Environment ids; see: toolenv envs")],
    subset: Annotated[str | None, typer.Option(help="Subset of the suite.")] = None,
) -> None:
    """Check that the oracle succeeds, that doing nothing does not, and that nothing leaks.

    Exit status 1 if anything is wrong.
    """
    for name in envs:
        envs_registry.parse_env_id(name)
    wrong = sum(_validate(name, subset) for name in envs)
    if wrong:
        raise typer.Exit(1)


def _validate(name: str, subset: str | None) -> int:
    source = cast(ToolEnv, make(name, {} if subset is None else {"subset": subset}).unwrapped).source
    results = validate_source(source, make_agent("oracle"), make_agent("noop"))
    found = summarise(progress_bar(results, total=len(source.task_ids), title=name))
    typer.echo(f"{name}: {found.tasks} tasks, {len(found.findings)} findings")
    for flag, count in sorted(found.flagged.items()):
        typer.echo(f"  {count} flagged {flag}: {FLAGS[flag]}")
    for finding in found.findings[:50]:
        typer.echo(f"  {finding.task_id}: {finding.check}: {finding.problem}")
    return len(found.findings)
