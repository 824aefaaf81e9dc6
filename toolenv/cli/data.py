"""``toolenv data``: fetch, list and check the data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

import envs_registry
from toolenv.cli import app
from toolenv.cli.output import console
from toolenv.data import DataStore
from toolenv.report.safe import safe_text
from toolenv.report.terminal import plain_table

data_app = typer.Typer(help="Fetch, list and check the data sets.", no_args_is_help=True)
app.add_typer(data_app, name="data")


def store() -> DataStore:
    """The store of this machine."""
    return envs_registry.data_store()


@data_app.command()
def pull(
    keys: Annotated[list[str], typer.Argument(metavar="SUITE…", help="Data sets; see: toolenv data status")],
    source: Annotated[Path | None, typer.Option("--from", metavar="DIR", help="Take a local copy.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
) -> None:
    """Fetch data sets into the cache, every file checked.

    A data set whose files do not have the pinned hashes is not taken.
    """
    for key in keys:
        row = store().pull(key, source, force=force, report=lambda line: typer.echo(line, err=True))
        typer.echo(f"{row.key} {row.version}: {row.state} at {row.path} ({row.licence})")


@data_app.command()
def status() -> None:
    """List the data sets: what is there, where, its version and licence."""
    table = plain_table("Data sets")
    for head in ("data set", "size", "state", "version", "licence", "path"):
        table.add_column(head, justify="right" if head == "size" else "left")
    rows = store().status()
    for row in rows:
        size = f"{row.size / 1e6:.1f} MB" if row.size else ""
        state = row.state + (
            f" (no {', '.join(row.missing_parts)})" if row.missing_parts and row.parts else ""
        )
        table.add_row(row.key, size, state, row.version, row.licence, Text(safe_text(str(row.path))))
    console().print(table)
    for row in rows:
        typer.echo(f"{row.key}: {row.attribution}")


@data_app.command()
def verify(
    keys: Annotated[
        list[str] | None, typer.Argument(metavar="SUITE…", help="Data sets; all that are there.")
    ] = None,
) -> None:
    """Hash every file of the data sets again.

    Exit status 1 if any is not what it should be.
    """
    chosen = keys or [row.key for row in store().status() if row.state != "absent"]
    if not chosen:
        typer.echo(f"nothing is at {store().root}; get data with: toolenv data pull SUITE")
    bad = 0
    for key in chosen:
        problems = store().verify(key)
        bad += len(problems)
        typer.echo(f"{key}: {'whole' if not problems else f'{len(problems)} problems'}")
        for problem in problems:
            typer.echo(f"  {problem}")
    if bad:
        raise typer.Exit(1)
