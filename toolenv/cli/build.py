"""``toolenv build``: make a mask manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import envs_registry
from toolenv.agents.registry import make_agent
from toolenv.cli import app
from toolenv.cli.data import store
from toolenv.feasibility.reference_masks import reference_masks

PROVENANCE = (
    "Critical tools are those of the reference solution's calls, replayed through the clean environment and "
    "judged successful (toolenv build --reference)."
)


@app.command()
def build(
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="The suite's name, e.g. BFCL.")],
    reference: Annotated[bool, typer.Option("--reference", help="Take the reference solutions as traces.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The manifest to write.")],
    subset: Annotated[str | None, typer.Option(help="Subset of the suite.")] = None,
) -> None:
    """Find the critical tools of a suite's tasks and write them as a mask manifest."""
    if not reference:
        raise typer.BadParameter("give --reference: there is no other source of traces yet")
    found = envs_registry.get_suite(suite)
    data = store().source(found.data).manifest_hash if found.data else "none"
    manifest = reference_masks(found, subset or found.default_subset, make_agent("oracle"), data, PROVENANCE)
    manifest.write(out)
    typer.echo(f"{out}: {len(manifest.masks)} masks, {len(manifest.excluded)} excluded")
