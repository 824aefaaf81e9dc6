"""Running a configuration with a progress bar, into a run directory."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from toolenv.agents.registry import make_agent
from toolenv.errors import StoreError
from toolenv.policy import Policy
from toolenv.report.rows import Row, Run, build_rows
from toolenv.report.terminal import render_rows
from toolenv.runner.local import run_jobs
from toolenv.runner.plan import RunConfig, plan
from toolenv.runner.store import RunStore, find_runs, read_episodes, read_header

T = TypeVar("T")


def console(stderr: bool = False) -> Console:
    """A console as wide as the terminal; wide enough for the table where output is a file or a pipe."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else 160
    return Console(stderr=stderr, width=width)


def execute(config: RunConfig, folder: Path, *, concurrency: int = 1, resume: bool = False) -> Path:
    """Run whatever of the configuration is not in the folder yet.

    The policy is made and, where it has a ``preflight``, tried before any work.

    Raises:
        ToolEnvError: bad input, absent data or an unreachable server, each before any work.
    """
    jobs, manifests = plan(config)
    policy = make_agent(config.agent, config.agent_options)
    planned = Counter(job.env for job in jobs)
    with RunStore(folder, config, policy.name, manifests, planned, resume=resume) as store:
        todo = [job for job in jobs if job.key not in store.done]
        _preflight(policy, bool(todo))
        with _progress() as progress:
            bar = progress.add_task(policy.name, total=len(jobs), completed=len(jobs) - len(todo))
            for finished in run_jobs(todo, policy, _env_options(config), concurrency):
                store.append(finished)
                progress.advance(bar)
    return folder


def _preflight(policy: Policy, needed: bool) -> None:
    check = getattr(policy, "preflight", None)
    if needed and callable(check):
        check()


def _env_options(config: RunConfig) -> Mapping[str, Any]:
    return {**config.env_options, **({"tasks": config.tasks} if config.tasks else {})}


def _progress() -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console(stderr=True), transient=True, disable=not sys.stderr.isatty())


def progress_bar(items: Iterable[T], total: int, title: str) -> Iterator[T]:
    """Pass items on, with a progress bar where stderr is a terminal."""
    with _progress() as progress:
        bar = progress.add_task(title, total=total)
        for item in items:
            yield item
            progress.advance(bar)


def folder_name(text: str) -> str:
    """``text`` as the name of a folder."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.") or "run"


def rows_of(folders: Iterable[Path]) -> list[Row]:
    """The table's rows of run directories."""
    runs = []
    for folder in find_runs(list(folders)):
        header = read_header(folder)
        planned = {(env, header["agent"]): count for env, count in header["planned"].items()}
        runs.append(Run(read_episodes(folder), planned))
    rows = build_rows(runs)
    if not rows:
        raise StoreError("no episode has finished yet")
    return rows


def show(rows: list[Row]) -> None:
    """Print the table."""
    console().print(render_rows(rows))
