"""Plays a configuration from Python and keeps it: the folder is one that the command line reads."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from toolenv.errors import UsageError
from toolenv.policy import Policy, PolicyFunction, as_policy
from toolenv.runner.conduct import CONDUCT, Conduct
from toolenv.runner.endless import check_has_end
from toolenv.runner.local import run_jobs
from toolenv.runner.plan import RunConfig, origins, plan
from toolenv.runner.store import RunStore, make_header


def save_run(
    config: RunConfig,
    policy: Policy | PolicyFunction,
    folder: str | Path,
    *,
    resume: bool = False,
    concurrency: int = 1,
    conduct: Conduct = CONDUCT,
) -> Path:
    """Play every episode of a configuration in this process, and keep each as it ends.

    Nothing is tried beforehand, and nothing is printed; ``toolenv run`` does both.

    Args:
        config: what to play. Its ``agent`` names the run's rows, whatever the policy is called: two policies
            need two names, and a run is resumed under its own.
        policy: who decides; a policy or a function ``observation -> action``.
        folder: the run directory; made if absent.
        resume: go on with what is there; episodes that met a failed server are played again.
        concurrency: episodes at a time, at least 1.
        conduct: how episodes are played.

    Returns:
        The folder, as :mod:`toolenv.runner.reading` and :mod:`toolenv.report.folders` take it.

    Raises:
        UsageError: an option that cannot be used, a subset without an end, or a policy that gave no action.
        DataMissingError: with the command that fetches the data.
        StoreError: the folder holds a run already (without ``resume``), another run, or cannot be written.
    """
    folder, policy = Path(folder), as_policy(policy)
    if not config.agent.strip():
        raise UsageError(f"agent={config.agent!r}: give the name that the run's rows are to have")
    jobs, manifests = plan(config)
    instead = "give limit=N or tasks=(ID, …), or another subset"
    check_has_end(" ".join(config.envs), jobs.tasks, instead, config.trials)
    planned = {env: 0 for env in config.envs} | Counter(job.env for job in jobs)
    header = make_header(config, policy, manifests, planned, origins(config)) | {"agent": config.agent}
    with RunStore(folder, header, resume=resume) as store:
        todo = [job for job in jobs if job.key not in store.done]
        for played in run_jobs(todo, policy, config.make_options, concurrency, conduct):
            store.append(replace(played, episode=replace(played.episode, agent=config.agent)))
    return folder
