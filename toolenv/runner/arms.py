"""The four arms of paper 2's analysis (§4, "Are failures unrecoverable, or merely undiagnosed?").

``baseline`` is the task under its hazard. ``hint`` and ``tts`` take the episodes that failed there and go on
from where each ended: the agent is told that it is not done, in ``hint`` also what is wrong with the tools,
and gets ten more rounds. ``oracle`` is the same tasks without the hazard. Instance, seed and, in the two that
go on, world and conversation are held fixed, so that the arms differ in nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import gymnasium

from toolenv.env import ToolEnv
from toolenv.errors import UnknownNameError, UsageError
from toolenv.hazards import Instance, hint
from toolenv.policy import Policy
from toolenv.runner.plan import RunConfig
from toolenv.runner.reading import BASELINE as BASELINE
from toolenv.source import CONDITIONS, DRAWN, TaskSource, conditions_of
from toolenv.task import Task
from toolenv.types import Action, Observation
from toolenv.wrappers.go_on import GoOn

if TYPE_CHECKING:
    from toolenv.runner.baseline import Baseline

ARMS: Mapping[str, str] = {
    BASELINE: "under the hazard",
    "tts": "failed episodes go on, without a hint",
    "hint": "failed episodes go on, told what is wrong",
    "oracle": "without the hazard",
}
"""What each arm is, in the order of a study's table."""

CONTINUING: Sequence[str] = ("tts", "hint")
"""The arms that go on from the failed episodes of a baseline run."""

FURTHER_DECISIONS = 10
"""The further rounds of an episode that goes on (paper 2, §4)."""

MESSAGE_VERSION = 1
"""Raised whenever a text below changes: results under different versions do not compare."""

GO_ON = (
    "The task has not been done yet: what you have so far is not what was asked for. Go on with it. Look "
    "again at what you did and at what came back, find out what went wrong, and try again. You have "
    "{decisions} more rounds. When you are done, give the complete answer in a final message."
)
HINTED = "\n\nThis is known about the tools: {hint}"

LIMITED_TO_HAZARDS = frozenset({"hazards", "hazard_seed", "prior"})
"""Keywords of ``gymnasium.make`` that a clean environment does not take, or has no use for."""


def arm_named(name: str) -> str:
    """``name``, if it is an arm.

    Raises:
        UnknownNameError: it is none.
    """
    if name not in ARMS:
        raise UnknownNameError("arm", name, ARMS, where="--arm")
    return name


def check_has_arms(env_id: str, source: TaskSource, arm: str) -> None:
    """Refuse an environment that has no arms.

    Raises:
        UsageError: it arms no hazard, or some of its tasks cannot be done at all.
    """
    name = f"{source.suite.name}-{source.condition}"
    fitting = [one for one in conditions_of(source.suite) if one not in (*CONDITIONS, *DRAWN)]
    if source.condition in DRAWN and source.hazards:
        raise UsageError(
            f"--arm {arm}: some tasks of {name} cannot be done at all, so that no hint or further round"
            f" helps; give one of the suite's hazards: {', '.join(fitting)}"
        )
    if not source.hazards:
        there = f"give one of the suite's: {', '.join(fitting)}" if fitting else "the suite has none"
        raise UsageError(
            f"--arm {arm}: {env_id} has no hazard that an agent could be told of or spared; {there}"
        )


def as_arm(config: RunConfig, arm: str, source: TaskSource) -> RunConfig:
    """The run of an arm.

    Args:
        config: the baseline run of one environment.
        arm: one of :data:`ARMS`.
        source: the tasks of that run.
    """
    if arm == BASELINE:
        return config
    if arm in CONTINUING:
        return replace(config, arm=arm, baseline=config.hash)
    (env_id,) = config.envs
    options = {name: one for name, one in config.env_options.items() if name not in LIMITED_TO_HAZARDS}
    return replace(
        config,
        envs=(env_id.replace(f"-{source.condition}-v", "-clean-v"),),
        env_options=options,
        tasks=tuple(source.task_ids[: config.limit]),
        limit=None,
        arm=arm,
        baseline=config.hash,
    )


def agent_name(policy: Policy, config: RunConfig) -> str:
    """The agent's name in the run of an arm: episodes of several arms never pass for trials of one."""
    return policy.name if config.arm == BASELINE else f"{policy.name} [{config.arm}]"


def arm_facts(config: RunConfig, baseline: Baseline | None) -> dict[str, Any]:
    """What ``run.json`` says of an arm beside its configuration.

    Args:
        config: the run.
        baseline: the run that it goes on from, if it does.
    """
    facts: dict[str, Any] = {"arm": config.arm}
    if config.arm != BASELINE:
        facts["baseline"] = {"config_hash": config.baseline}
    if baseline is not None:
        facts["baseline"]["failed"] = baseline.fingerprint
        facts["message_version"] = MESSAGE_VERSION
    return facts


def told(arm: str, task: Task, instance: Instance, decisions: int = FURTHER_DECISIONS) -> str:
    """What an agent is told whose episode failed; only in ``hint`` does it say anything about the tools."""
    text = GO_ON.format(decisions=decisions)
    return text + HINTED.format(hint=hint(task, instance)) if arm == "hint" else text


def going_on(
    arm: str, baseline: Baseline
) -> Callable[[gymnasium.Env[Observation, Action]], gymnasium.Env[Observation, Action]]:
    """A wrapper for environments: their episodes begin where those of the baseline failed."""
    return partial(_go_on, arm, baseline)


def _go_on(
    arm: str, baseline: Baseline, env: gymnasium.Env[Observation, Action]
) -> gymnasium.Env[Observation, Action]:
    armed = cast(ToolEnv, env.unwrapped).source.hazards
    return GoOn(env, arm, baseline.trace, lambda task: told(arm, task, armed[task.id]), FURTHER_DECISIONS)
