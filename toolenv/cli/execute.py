"""Running a configuration with a progress bar, into a run directory."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import typer

from toolenv.agents.registry import make_agent
from toolenv.append_only import check_unlocked
from toolenv.cli.progress import following, tally_of, watched
from toolenv.cli.server_watch import while_server_answers
from toolenv.cli.stopped import Interrupted, ServerLost, Stopped, naming
from toolenv.cli.targets import check_folder
from toolenv.cli.uncached import check_cache
from toolenv.cli.working_folder import where_policies_left_it
from toolenv.errors import ServerError, ToolEnvError, UsageError
from toolenv.ledger import Ledger
from toolenv.model_server.circumstances import under
from toolenv.policy import Policy, preflight_parts
from toolenv.report.format import counted
from toolenv.report.safe import safe_line
from toolenv.runner.arms import agent_name, arm_facts, going_on
from toolenv.runner.baseline import Baseline
from toolenv.runner.batched import holds_a_model
from toolenv.runner.conduct import Services
from toolenv.runner.endless import check_has_end
from toolenv.runner.keys import KeySet
from toolenv.runner.plan import WRAPPER, Job, RunConfig, origins, plan, source_of
from toolenv.runner.preflights import SUITE_ROLE, USER_ROLE, append_preflight, keep_failed_preflight
from toolenv.runner.reading import RUN_FILE
from toolenv.runner.select import HERE, Workplace, run_at
from toolenv.runner.store import LOCK_FILE, RunStore, TornLineWarning, finished, make_header
from toolenv.types import Usage, total_usage

Tried: TypeAlias = Callable[[Mapping[str, Usage]], None]
"""Told what workers spent, by role, on trying a model of their own."""

SOME_OF_IT = "give --limit N or --tasks ID,…, or choose another --subset"
"""What helps where a command can do with some tasks of a subset."""


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
        baseline: the run whose failed episodes go on in this one, if it is such an arm.
        preflight: what it cost, by role, to try all that the run will ask.
    """

    config: RunConfig
    folder: Path
    policy: Policy
    jobs: Sequence[Job]
    header: dict[str, Any]
    resume: bool
    baseline: Baseline | None = None
    preflight: Mapping[str, Usage] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The agent's name in this run."""
        return str(self.header["agent"])

    @property
    def make_options(self) -> Mapping[str, Any]:
        """How its environments are made; see :func:`toolenv.runner.plan.make`."""
        options = self.config.make_options
        if self.baseline is not None:
            options[WRAPPER] = going_on(self.config.arm, self.baseline)
        return options


def prepare(
    config: RunConfig,
    folder: Path,
    *,
    resume: bool = False,
    baseline: Baseline | None = None,
    place: Workplace = HERE,
) -> Prepared:
    """Check all that can be checked before any work.

    Args:
        config: what to run.
        folder: the run directory.
        resume: go on with what is there.
        baseline: the run whose failed episodes go on in this one, if it is such an arm.
        place: where its episodes will be played, and how they are conducted.

    Raises:
        ToolEnvError: bad input, absent data, another run in the folder, or an unreachable server.
    """
    policy = agent_of(config)
    every, manifests = plan(config)
    if place.conduct.cache is not None:
        check_cache(policy, (source_of(env, config.make_options) for env in config.envs))
    check_has_end(" ".join(config.envs), every.tasks, SOME_OF_IT, config.trials)
    jobs: Sequence[Job] = every
    if baseline is not None:
        jobs = [job for job in jobs if job.key in baseline.failed]
    planned = {env: 0 for env in config.envs} | Counter(job.env for job in jobs)
    header = make_header(config, policy, manifests, planned, origins(config))
    header |= {"agent": agent_name(policy, config), **arm_facts(config, baseline)}
    check_folder(folder)
    check_unlocked(folder / LOCK_FILE, folder)
    done = finished(folder, header, resume=resume)
    cost = _try_servers(policy, config, folder, place) if _unfinished(jobs, done) else {}
    return Prepared(config, folder, policy, jobs, header, resume, baseline, cost)


def agent_of(config: RunConfig) -> Policy:
    """Who decides in a run; a policy of one's own that changes the working directory changes it for itself.

    Raises:
        ToolEnvError: see :func:`toolenv.agents.registry.make_agent`.
    """
    with where_policies_left_it():
        return make_agent(config.agent, config.agent_options)


def _try_servers(policy: Policy, config: RunConfig, folder: Path, place: Workplace) -> Ledger:
    """What the requests before the run cost, told; also where they fail, for they are paid all the same."""
    try:
        with where_policies_left_it(), under(Services(place.conduct).outside()):
            cost = _preflight_all(policy, config, place)
    except ServerError as error:
        _tell_cost(policy, total_usage(error.ledger.values()))
        if (folder / RUN_FILE).exists():
            keep_failed_preflight(folder, folder / LOCK_FILE, error.ledger)
        raise
    _tell_cost(policy, total_usage(cost.values()))
    return cost


def _preflight_all(policy: Policy, config: RunConfig, place: Workplace) -> Ledger:
    """Try every server that the run will ask: of the roles, of simulated users, simulators and judges.

    A model that is loaded elsewhere is tried there: this machine may have no room for it.

    Returns:
        What that cost: of the agent's roles, and of ``environment/user`` and ``environment/suite``.
    """
    of: list[tuple[str, object]] = []
    if place.runner == "local" or not holds_a_model(policy):
        of.append(("", policy))
    for env in config.envs:
        source = source_of(env, config.make_options)
        of += [(USER_ROLE, source.user), (SUITE_ROLE, source.suite)]
    return preflight_parts(of)


def _tell_cost(policy: Policy, cost: Usage) -> None:
    """Tokens of no episode are paid all the same, unless they came out of the cache."""
    spent = (
        (cost.input_tokens, cost.recalled_input_tokens),
        (cost.output_tokens, cost.recalled_output_tokens),
    )
    if any(total is None or total > recalled for total, recalled in spent):
        told = ["unknown" if total is None else f"{total - recalled:,}" for total, recalled in spent]
        name = safe_line(policy.name, 200)
        typer.echo(f"{name}: preflight, in no episode: {told[0]} input and {told[1]} output tokens")


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


def execute_all(runs: Iterable[Prepared], place: Workplace, finished: Iterable[Path] = ()) -> list[Path]:
    """Run one after the other, and return their folders; what stops one names those that had finished.

    Args:
        runs: what to run.
        place: where their episodes are played.
        finished: folders of runs that had finished before these.

    Raises:
        Stopped: an error in a run behind others, or behind its first episode.
        ToolEnvError: another one; see :func:`execute`.
        Interrupted: Ctrl-C.
    """
    before, folders = [*finished], list[Path]()
    for run in runs:
        with naming([*before, *folders]):
            folders.append(execute(run, place))
    return folders


def execute(run: Prepared, place: Workplace = HERE) -> Path:
    """Run whatever is not in the folder yet, and return the folder.

    Args:
        run: what to run.
        place: where its episodes are played.

    Raises:
        StoreError: the folder cannot be written, or another process runs in it.
        Stopped: an error behind its first episode; see :func:`toolenv.runner.select.run_at`.
        Interrupted: Ctrl-C.
        ServerLost: too many episodes in a row met a failed server: 8, or twice as many as run at a time
            if that is more. Those are stored, too; ``--resume`` runs them again.
    """
    with _open_store(run) as store:
        append_preflight(run.folder, run.preflight)
        tried = partial(append_preflight, run.folder.absolute())
        try:
            with where_policies_left_it():
                _play(run, store, place, tried)
        except KeyboardInterrupt as error:
            some = f"what had finished is kept in {run.folder}"
            kept = "no episode had finished" if store.is_empty() else some
            raise Interrupted(kept) from error
        except ServerLost:
            raise
        except ToolEnvError as error:
            if not store.done:
                raise
            kept = f"{counted(len(store.done), 'episode')} kept in {run.folder}"
            raise Stopped(f"{error}; {kept}") from error
    return run.folder


def _play(run: Prepared, store: RunStore, place: Workplace, tried: Tried) -> None:
    todo = _unfinished(run.jobs, store.done)
    place = watched(place)
    tally = tally_of(place, run.header["agent_settings"], len(run.jobs), len(todo))
    with following(run.name, tally) as follow:
        make_policy = partial(make_agent, run.config.agent, run.config.agent_options)
        running = run_at(place, todo, run.policy, make_policy, run.make_options, tried)
        with closing(running) as episodes:
            for played in while_server_answers(episodes, store, place.concurrency):
                store.append(replace(played, episode=replace(played.episode, agent=run.name)))
                follow(played)


def _unfinished(jobs: Sequence[Job], done: KeySet) -> Sequence[Job]:
    return [job for job in jobs if job.key not in done] if done else jobs


def _open_store(run: Prepared) -> RunStore:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TornLineWarning)
        store = RunStore(run.folder, run.header, resume=run.resume)
    for warning in caught:
        typer.echo(f"toolenv: {warning.message}", err=True)
    return store


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
