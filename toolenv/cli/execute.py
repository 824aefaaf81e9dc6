"""Running a configuration with a progress bar, into a run directory."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

import envs_registry
from toolenv.agents.registry import make_agent
from toolenv.cli.output import progress
from toolenv.errors import ServerError, UsageError
from toolenv.policy import Policy
from toolenv.report.format import counted
from toolenv.report.safe import safe_line
from toolenv.rollout import Rollout
from toolenv.runner.local import run_jobs
from toolenv.runner.plan import Job, RunConfig, origins, plan, source_of
from toolenv.runner.reading import SERVER_ERROR, Key
from toolenv.runner.store import RunStore, TornLineWarning, finished, make_header

FEWEST_FAILURES = 8
"""A run goes on at least until so many episodes in a row have met a failed server."""


class Interrupted(Exception):
    """Ctrl-C during a run; what had finished is kept."""


class ServerLost(ServerError):
    """A run stopped because its server fails every episode; what had finished is kept."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that can begin: its input is good, its data is there, its server answers. Nothing is written yet.

    Attributes:
        config: what is run.
        folder: the run directory.
        policy: who decides.
        jobs: every episode of the run, those that have finished included.
        header: what ``run.json`` says.
        resume: whether to go on with what is there.
    """

    config: RunConfig
    folder: Path
    policy: Policy
    jobs: Sequence[Job]
    header: dict[str, Any]
    resume: bool


def prepare(config: RunConfig, folder: Path, *, resume: bool = False) -> Prepared:
    """Check all that can be checked before any work.

    Raises:
        ToolEnvError: bad input, absent data, another run in the folder, or an unreachable server.
    """
    policy = make_agent(config.agent, config.agent_options)
    jobs, manifests = plan(config)
    header = make_header(config, policy, manifests, Counter(job.env for job in jobs), origins(config))
    done = finished(folder, header, resume=resume)
    if _unfinished(jobs, done):
        _preflight(policy)
        for env in config.envs:
            _preflight(source_of(env, config.make_options).user)
    return Prepared(config, folder, policy, jobs, header, resume)


def _preflight(of: object) -> None:
    """Try the server of a policy or a simulated user that has one."""
    check = getattr(of, "preflight", None)
    if callable(check):
        check()


def check_apart(runs: Sequence[Prepared]) -> None:
    """Runs that share a table need names and folders of their own.

    Raises:
        UsageError: two have the same.
    """
    for what, of in (("name", lambda run: run.policy.name), ("folder", lambda run: str(run.folder))):
        seen: dict[str, str] = {}
        for run in runs:
            other = seen.setdefault(of(run), run.config.agent)
            if other != run.config.agent:
                raise UsageError(
                    f"agents {other!r} and {run.config.agent!r} have the same {what} {of(run)!r}; "
                    "run and report them apart"
                )


def execute(run: Prepared, concurrency: int = 1) -> Path:
    """Run whatever is not in the folder yet, and return the folder.

    Raises:
        StoreError: the folder cannot be written, or another process runs in it.
        Interrupted: Ctrl-C.
        ServerLost: too many episodes in a row met a failed server: 8, or twice as many as run at a time
            if that is more. Those are stored, too; ``--resume`` runs them again.
    """
    with _open_store(run) as store:
        todo = _unfinished(run.jobs, store.done)
        try:
            with progress(run.policy.name, len(run.jobs), done=len(run.jobs) - len(todo)) as advance:
                episodes = run_jobs(todo, run.policy, run.config.make_options, concurrency)
                for episode in _while_server_answers(episodes, store, concurrency):
                    store.append(episode)
                    advance()
        except KeyboardInterrupt as error:
            raise Interrupted(f"what had finished is kept in {run.folder}") from error
    return run.folder


def _while_server_answers(
    episodes: Iterable[Rollout], store: RunStore, concurrency: int
) -> Iterator[Rollout]:
    """The episodes; stops behind too many in a row that met a failed server."""
    in_a_row, most = 0, max(FEWEST_FAILURES, 2 * concurrency)
    for one in episodes:
        yield one
        in_a_row = in_a_row + 1 if one.episode.decided_by == SERVER_ERROR else 0
        if in_a_row == most:
            raise ServerLost(
                f"stopped: {most} episodes in a row met a failed server"
                f" ({safe_line(one.episode.error, 300)}); {counted(len(store.done), 'episode')} stored in"
                f" {store.folder}; --resume goes on, and runs again those that failed"
            )


def _unfinished(jobs: Iterable[Job], done: set[Key]) -> list[Job]:
    return [job for job in jobs if job.key not in done]


def _open_store(run: Prepared) -> RunStore:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TornLineWarning)
        store = RunStore(run.folder, run.header, resume=run.resume)
    for warning in caught:
        typer.echo(f"toolenv: {warning.message}", err=True)
    return store


def env_name(text: str) -> str:
    """An environment id in its plain form.

    Raises:
        UnknownNameError: there is no such id; the nearest are named.
    """
    envs_registry.parse_env_id(text)
    return text.removeprefix("toolenv:")


def folder_name(text: str) -> str:
    """``text`` as the name of a folder."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.") or "run"


def folder_path(text: str) -> Path:
    """A folder given on the command line. An empty name, such as an unset variable, is a mistake, not ``.``.

    Raises:
        typer.BadParameter: it is empty.
    """
    if not str(text).strip():
        raise typer.BadParameter("the name of a folder is empty; for the one you are in, give .")
    return Path(text)
