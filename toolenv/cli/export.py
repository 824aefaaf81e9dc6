"""``toolenv export``: episodes as a table that other programs read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from toolenv.cli import app
from toolenv.cli.output import with_progress
from toolenv.cli.targets import check_targets, check_writable
from toolenv.errors import UsageError
from toolenv.integrations.parquet import Origin, Record, import_pyarrow, partial_of, write_parquet
from toolenv.report.folders import planned_of
from toolenv.report.format import counted
from toolenv.runner.arms import CONTINUING
from toolenv.runner.reading import find_runs, read_episodes, read_header, read_records


@app.command()
def export(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR…", help="Run directories, or folders of them.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The file, NAME.parquet.")],
    traces: Annotated[bool, typer.Option("--traces", help="Also write each trace, as JSON text.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
) -> None:
    """Write the episodes of runs to a Parquet file, one row each."""
    if out.suffix != ".parquet":
        raise UsageError(f"--out {out}: give a name that ends in .parquet")
    check_targets({"--out": out})
    if out.exists() and not force:
        raise UsageError(f"--out {out} is there already; give another name, or --force to replace it")
    check_writable("--out", partial_of(out))
    import_pyarrow()
    runs = find_runs(folders)
    total = sum(sum(planned_of(run).values()) for run in runs)
    rows = write_parquet(out, with_progress(_records(runs, traces), total, str(out)), traces=traces)
    typer.echo(f"{counted(rows, 'episode')} in {out}")
    if rows < total:
        told = f"{total - rows:,} of {total:,} planned episodes have not finished, and have no row"
        typer.echo(f"toolenv: {told}; toolenv run with --resume goes on with a run", err=True)


def _records(runs: Sequence[Path], traces: bool) -> Iterator[Record]:
    for run in runs:
        origin = _origin(run)
        # How much of an episode's tokens was spent in another run, only its trace says.
        if traces or read_header(run).get("arm") in CONTINUING:
            yield from ((origin, episode, trace) for episode, trace in read_records(run))
        else:
            yield from ((origin, episode, None) for episode in read_episodes(run))


def _origin(run: Path) -> Origin:
    header = read_header(run)
    versions = header.get("versions")
    version = versions.get("toolenv") if isinstance(versions, dict) else None
    return Origin(str(run), str(header.get("config_hash", "")), None if version is None else str(version))
