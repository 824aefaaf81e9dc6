"""``toolenv arm``: make the hazard manifests of a suite."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

import envs_registry
from toolenv.agents.registry import make_agent
from toolenv.cli import app
from toolenv.cli.data import store
from toolenv.cli.many_values import ManyValues
from toolenv.cli.output import with_progress
from toolenv.cli.targets import check_folder
from toolenv.cli.task_options import Subset, Tasks
from toolenv.errors import UsageError
from toolenv.hazards import get_kind
from toolenv.hazards.manifest import HazardManifest
from toolenv.recoverability.building import ANY, CONFUSABLE, FEWEST_TASKS, Policies, arm_tasks, manifests
from toolenv.report.format import counted
from toolenv.runner.endless import check_has_end
from toolenv.source import make_source

PROVENANCE = (
    "Each instance misleads the script that takes every result at its word (agent recovery:naive), and the "
    "script that checks what it reads (agent recovery) recovers from it; the witness is what that one did "
    "(toolenv arm)."
)


@app.command(cls=ManyValues)
def arm(
    suite: Annotated[
        str,
        typer.Argument(
            metavar="SUITE", help="The suite's name, e.g. Workflows; of one's own, MODULE:ATTRIBUTE."
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", file_okay=False, help="Where to write CONDITION.json.")
    ],
    hazard: Annotated[
        list[str] | None,
        typer.Option(
            "--hazard",
            metavar="NAME…",
            help="Only these (as in toolenv envs, and confusable); then no hazard.json.",
        ),
    ] = None,
    seed: Annotated[
        list[int] | None, typer.Option("--seed", metavar="S…", help="Seeds; an instance for each [0].")
    ] = None,
    subset: Subset = None,
    tasks: Tasks = None,
    fewest: Annotated[
        int, typer.Option(metavar="N", help="Write no manifest with fewer tasks.")
    ] = FEWEST_TASKS,
) -> None:
    """Arm hazards on a suite's tasks, and prove each recoverable.

    Writes a manifest for each condition, and hazard.json with one of all hazards a task; an instance that
    cannot be recovered from is not in it. Exit status 1 if nothing is written.
    """
    for name in hazard or ():
        if name != CONFUSABLE:
            get_kind(name)
    for number in seed or ():
        if number < 0:
            raise UsageError(f"--seed {number}: give a whole number of at least 0")
    check_folder(out, "--out")
    found = envs_registry.get_suite(suite)
    source = make_source(found, "clean", subset=subset, tasks=tasks)
    check_has_end(suite, len(source.task_ids), "give --tasks ID,…, or choose another --subset")
    clean = [source.get(task_id) for task_id in source.task_ids]
    armed = arm_tasks(found, clean, _policies(), tuple(seed or (0,)), hazard or None)
    data = store().source(found.data).manifest_hash if found.data else "none"
    every = list(with_progress(armed, len(clean), "arm"))
    made = manifests(found, data, PROVENANCE, every, fewest=0, with_any=not hazard)
    written = [_written(manifest, out, fewest) for manifest in made.values()]
    if hazard:
        typer.echo(f"{ANY}: not written; it mixes all hazards, so it is made without --hazard")
    if not any(written):
        raise typer.Exit(1)


def _policies() -> Policies:
    """Who proves: the oracle, an agent that hazards stop, and those that recover."""
    recover = (make_agent("recovery:trusting"), make_agent("recovery"))
    return Policies(make_agent("oracle"), make_agent("recovery:naive"), recover)


def _written(manifest: HazardManifest, out: Path, fewest: int) -> bool:
    """Write a manifest with enough tasks, and say what is in it, or why it is not written."""
    tasks, enough = len(manifest.tasks), len(manifest.tasks) >= fewest and manifest.tasks
    few = "" if enough else f", fewer than --fewest {max(fewest, 1)}: not written"
    typer.echo(
        f"{manifest.condition}: {counted(tasks, 'task')}{few or f', {len(manifest.excluded)} excluded'}"
    )
    if enough:
        manifest.write(out / f"{manifest.condition}.json")
        _report_instances(manifest)
    for reason, count in Counter(manifest.excluded.values()).most_common():
        typer.echo(f"  {count} excluded: {reason}")
    return bool(enough)


def _report_instances(manifest: HazardManifest) -> None:
    every = [one for proved in manifest.tasks.values() for one in proved]
    for mode, count in sorted(Counter(f"{one.instance.hazard} {one.instance.mode}" for one in every).items()):
        typer.echo(f"  {count} {mode}")
    costs = Counter(one.extra_calls for one in every)
    typer.echo("  extra calls: " + ", ".join(f"{count} × {cost}" for cost, count in sorted(costs.items())))
