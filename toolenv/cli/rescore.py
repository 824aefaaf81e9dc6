"""``toolenv rescore``: judge stored traces again with the rules of this version."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, cast

import typer

from toolenv.cli import app
from toolenv.cli.execute import show
from toolenv.env import ToolEnv
from toolenv.episode import Episode
from toolenv.errors import StoreError, UnknownNameError
from toolenv.judge import judge
from toolenv.report.rows import Run, build_rows
from toolenv.rollout import Rollout, record
from toolenv.runner.plan import make
from toolenv.runner.store import find_runs, read_header, read_rollouts


@app.command()
def rescore(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR…", help="Run directories, or folders of them.")
    ],
) -> None:
    """Judge the traces of runs again, say which episodes change, and print the new table.

    Nothing is written. Exit status 1 if any episode changed.
    """
    runs, changed = [], []
    for folder in find_runs(folders):
        header = read_header(folder)
        episodes = []
        for old, new in rescored(folder):
            episodes.append(new)
            if old != new:
                changed.append((old, new))
        planned = {(env, header["agent"]): count for env, count in header["planned"].items()}
        runs.append(Run(episodes, planned))
    show(build_rows(runs))
    for old, new in changed[:20]:
        typer.echo(f"changed: {old.env} {old.task_id} trial {old.trial}: {_brief(old)} -> {_brief(new)}")
    typer.echo(
        f"{sum(len(list(run.episodes)) for run in runs)} episodes judged again, {len(changed)} changed"
    )
    if changed:
        raise typer.Exit(1)


def rescored(folder: Path) -> Iterator[tuple[Episode, Episode]]:
    """Each stored episode, and the same one judged again.

    Raises:
        StoreError: a trace's task is not in its environment any more.
    """
    options = read_header(folder)["config"]["env_options"]
    sources = {}
    for stored in read_rollouts(folder):
        env_id = stored.episode.env
        if env_id not in sources:
            sources[env_id] = cast(ToolEnv, make(env_id, options).unwrapped).source
        try:
            task = sources[env_id].get(stored.trace.task_id, stored.trace.seed)
        except UnknownNameError as error:
            raise StoreError(f"{folder}: {error}") from error
        yield stored.episode, _again(stored, task.flags, judge(task, stored.trace))


def _again(stored: Rollout, flags: frozenset[str], verdict: object) -> Episode:
    old = stored.episode
    return record(stored.trace, verdict, flags, agent=old.agent, env_id=old.env, trial=old.trial)  # type: ignore[arg-type]


def _brief(episode: Episode) -> str:
    return f"{episode.decision} by {episode.decided_by}, success {episode.success}, reward {episode.reward}"
