"""The episode of a job that could not be played: invalid, with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolenv.judge import judge
from toolenv.rollout import Rollout, record
from toolenv.runner.plan import Job, source_of
from toolenv.trace import Trace
from toolenv.trouble import Trouble
from toolenv.types import Usage


def given_up(job: Job, why: str, agent: str, env_options: Mapping[str, Any]) -> Rollout:
    """An invalid episode without a decision. The environment is not started: it may be what fails.

    Args:
        job: what could not be played.
        why: told as its error.
        agent: the policy's name.
        env_options: keywords of ``gymnasium.make``.
    """
    source = source_of(job.env, env_options)
    task = source.get(job.task_id, job.seed)
    trace = Trace(
        suite=source.suite.name,
        condition=source.condition,
        task_id=task.id,
        seed=job.seed,
        max_turns=source.max_turns,
        ending="environment_error",
        error=why,
        trouble=Trouble("environment/worker"),
        lost_usage=Usage(None, None),  # nobody is left who could say what it spent
    )
    verdict = judge(task, trace)
    return Rollout(record(trace, verdict, task, agent=agent, env_id=job.env, trial=job.trial), trace)
