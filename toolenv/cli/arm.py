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
from toolenv.cli.execute import check_has_end
from toolenv.cli.many_values import ManyValues
from toolenv.cli.output import with_progress
from toolenv.cli.task_options import Subset, Tasks
from toolenv.errors import UsageError
from toolenv.hazards import get_kind
from toolenv.hazards.manifest import HazardManifest
from toolenv.recoverability.building import CONFUSABLE, FEWEST_TASKS, Policies, arm_tasks, manifests
from toolenv.source import make_source

PROVENANCE = (
    "Each instance misleads the script that takes every result at its word (agent recovery:naive), and the "
    "script that checks what it reads (agent recovery) recovers from it; the witness is what that one did "
    "(toolenv arm)."
)


@app.command(cls=ManyValues)
def arm(
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="The suite's name, e.g. Workflows.")],
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", file_okay=False, help="Where to write CONDITION.json.")
    ],
    hazard: Annotated[
        list[str] | None,
        typer.Option("--hazard", metavar="NAME…", help="Only these of the five, and confusable."),
    ] = None,
    seed: Annotated[
        list[int] | None, typer.Option("--seed", metavar="S…", help="Seeds; an instance for each [0].")
    ] = None,
    subset: Subset = None,
    tasks: Tasks = None,
    fewest: Annotated[int, typer.Option(help="Write no manifest with fewer tasks.")] = FEWEST_TASKS,
) -> None:
    """Arm hazards on a suite's tasks, and prove each recoverable.

    Writes a manifest for each condition; an instance that cannot be recovered from is not in it.
    """
    for name in hazard or ():
        if name != CONFUSABLE:
            get_kind(name)
    for number in seed or ():
        if number < 0:
            raise UsageError(f"--seed {number}: give a whole number of at least 0")
    found = envs_registry.get_suite(suite)
    source = make_source(found, "clean", subset=subset, tasks=tasks)
    check_has_end(suite, len(source.task_ids), "give --tasks ID,…, or choose another --subset")
    recover = (make_agent("recovery:trusting"), make_agent("recovery"))
    policies = Policies(make_agent("oracle"), make_agent("recovery:naive"), recover)
    clean = [source.get(task_id) for task_id in source.task_ids]
    armed = arm_tasks(found, clean, policies, tuple(seed or (0,)), hazard or None)
    data = store().source(found.data).manifest_hash if found.data else "none"
    every = list(with_progress(armed, len(clean), "arm"))
    for manifest in manifests(found, data, PROVENANCE, every, fewest).values():
        manifest.write(out / f"{manifest.condition}.json")
        _report(manifest)


def _report(manifest: HazardManifest) -> None:
    typer.echo(f"{manifest.condition}: {len(manifest.tasks)} tasks, {len(manifest.excluded)} excluded")
    every = [one for proved in manifest.tasks.values() for one in proved]
    for mode, count in sorted(Counter(f"{one.instance.hazard} {one.instance.mode}" for one in every).items()):
        typer.echo(f"  {count} {mode}")
    costs = Counter(one.extra_calls for one in every)
    typer.echo("  extra calls: " + ", ".join(f"{count} × {cost}" for cost, count in sorted(costs.items())))
    for reason, count in Counter(manifest.excluded.values()).most_common():
        typer.echo(f"  {count} excluded: {reason}")
