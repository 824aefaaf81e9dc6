"""``toolenv rescore``: judge stored traces again with the rules of this version."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from toolenv.cli import app
from toolenv.cli.env_ids import env_name
from toolenv.cli.output import show, with_progress
from toolenv.episode import FACTS, Episode
from toolenv.errors import StoreError, UnknownNameError
from toolenv.judge import judge
from toolenv.report.folders import planned_of, settings_of
from toolenv.report.rows import Run, build_rows
from toolenv.rollout import record
from toolenv.runner.plan import source_of
from toolenv.runner.reading import find_runs, read_header, read_rollouts
from toolenv.source import TaskSource
from toolenv.trace import Trace

SHOWN = 20
"""How many changed episodes are listed."""


@app.command()
def rescore(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR…", help="Run directories, or folders of them.")
    ],
) -> None:
    """Judge the traces of runs again, and say what changes.

    Prints the new table. Nothing is written. Exit status 1 if any episode changed.
    """
    changes = _Changes()
    runs = find_runs(folders)
    show(build_rows(Run(changes.judged(run), planned_of(run), settings_of(run)) for run in runs))
    for old, new in changes.shown:
        typer.echo(f"changed: {old.env} {old.task_id} trial {old.trial}: {_brief(old)} -> {_brief(new)}")
    typer.echo(f"{changes.total} episodes judged again, {changes.number} changed")
    if changes.number:
        raise typer.Exit(1)


class _Changes:
    """What judging again has changed: how many episodes of how many, and the first of them."""

    def __init__(self) -> None:
        self.shown: list[tuple[Episode, Episode]] = []
        self.number = self.total = 0

    def judged(self, run: Path) -> Iterator[Episode]:
        """The episodes of a run, judged again one by one."""
        for old, new in with_progress(rescored(run), sum(planned_of(run).values()), str(run)):
            self.total += 1
            if differing(old, new):
                self.number += 1
                self.shown += [(old, new)] if len(self.shown) < SHOWN else []
            yield new


def rescored(folder: Path) -> Iterator[tuple[Episode, Episode]]:
    """Each stored episode, and the same one judged again.

    Raises:
        StoreError: the run's tasks are not those of this version, a trace is of another episode, or the run
            cannot be read.
    """
    header = read_header(folder)
    sources: dict[str, TaskSource] = {}
    for stored in read_rollouts(folder):
        old, trace = stored.episode, stored.trace
        if old.env not in sources:
            sources[old.env] = _source(folder, old.env, header)
        _check_trace(trace, old, sources[old.env], folder)
        try:
            task = sources[old.env].get(trace.task_id, trace.seed)
        except UnknownNameError as error:
            raise StoreError(f"{folder}: {error}") from error
        try:
            new = record(trace, judge(task, trace), task, agent=old.agent, env_id=old.env, trial=old.trial)
        except (AttributeError, KeyError, TypeError) as error:  # of a trace that was edited
            where = f"{folder}: {old.env}, {old.task_id}, trial {old.trial}"
            raise StoreError(f"{where}: its trace cannot be judged: {error!r}") from error
        yield old, new


def _source(folder: Path, env_id: str, header: dict[str, Any]) -> TaskSource:
    """The tasks a run was made of; other masks or corrections would make them other tasks."""
    manifests, source = header["manifests"], source_of(env_name(env_id), header["config"]["env_options"])
    there = header["origins"].get(env_id, {}).get("corrections", {}).get("hash", "none")
    if source.corrections.get("hash", "none") != there:
        raise StoreError(
            f"{folder}: {env_id} was run with the corrections {there}, "
            f"and here are {source.corrections.get('hash', 'none')}"
        )
    if source.manifest_hash != manifests.get(env_id):
        raise StoreError(
            f"{folder}: {env_id} was run with the masks {manifests.get(env_id)}, "
            f"and this version has {source.manifest_hash}"
        )
    return source


def check_unedited(folder: Path) -> None:
    """Refuse a run with an episode that is not what its trace comes to.

    Raises:
        StoreError: names the episode, the field and both values; and see :func:`rescored`.
    """
    for old, new in rescored(folder):
        if fields := differing(old, new):
            name = fields[0]
            raise StoreError(
                f"{folder}: the episode of task {old.task_id!r}, trial {old.trial} was edited: {name!r} is "
                f"{getattr(old, name)!r:.200}, and its trace comes to {getattr(new, name)!r:.200}"
            )


def _check_trace(trace: Trace, episode: Episode, source: TaskSource, folder: Path) -> None:
    expected = {
        "suite": source.suite.name,
        "condition": source.condition,
        "task_id": episode.task_id,
        "seed": episode.seed,
        "max_turns": source.max_turns,
    }
    for name, right in expected.items():
        if getattr(trace, name) != right:
            raise StoreError(
                f"{folder}: the trace of task {episode.task_id!r}, trial {episode.trial} has {name} "
                f"{getattr(trace, name)!r}, and its run has {right!r}"
            )


def differing(old: Episode, new: Episode) -> list[str]:
    """The fields in which an episode was judged otherwise.

    Not its error, whose text may name lines of code, which move; nor facts that an earlier version did not
    record.
    """
    ignored = {"error", *(FACTS if old.reaction is None else ())}
    return [
        name for name in Episode.__slots__ if name not in ignored and getattr(old, name) != getattr(new, name)
    ]


def _brief(episode: Episode) -> str:
    return f"{episode.decision} by {episode.decided_by}, success {episode.success}, reward {episode.reward}"
