"""The only loop that steps an environment."""

from __future__ import annotations

import traceback
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, cast

import gymnasium

from toolenv.actions import check_action
from toolenv.deliberation import conclude, deliberation, opening
from toolenv.env import ToolEnv
from toolenv.episode import Episode, RoleTokens
from toolenv.errors import (
    RAISED,
    ContextWindowError,
    DeadlineError,
    ReplayError,
    ServerError,
    ToolFault,
    UsageError,
    traceback_of,
)
from toolenv.facts.exposure import exposure
from toolenv.facts.reaction import reaction
from toolenv.facts.roles import role_usage
from toolenv.facts.task_facts import task_facts
from toolenv.judge import Verdict
from toolenv.ledger import AGENT
from toolenv.pickling import quickly_pickled
from toolenv.policy import Answer, Ask, Policy, PolicyFunction, Raised, as_policy
from toolenv.task import Task
from toolenv.trace import Ending, Trace
from toolenv.trouble import Trouble, trouble_of
from toolenv.types import Action, Observation


@quickly_pickled
@dataclass(frozen=True, slots=True)
class Rollout:
    """One finished episode: its record and its trace."""

    episode: Episode
    trace: Trace


def rollout(
    env: gymnasium.Env[Observation, Action],
    policy: Policy | PolicyFunction,
    *,
    seed: int,
    task_id: str | None = None,
    env_id: str = "",
    trial: int = 0,
) -> Rollout:
    """Play one episode.

    A server's failure or an exception inside the policy (``sys.exit`` too) ends the episode as invalid, its
    trace kept; a conversation that outgrows the model ends it as failed.

    Args:
        env: a :class:`toolenv.env.ToolEnv`, wrapped or not.
        policy: a policy or a function ``observation -> action``.
        seed: the episode's seed.
        task_id: the task; ``None`` lets the seed draw one.
        env_id: the id to record; by default the environment's own.
        trial: which repetition this is.

    Raises:
        UsageError: the policy returned something that is no action.
    """
    return conclude(play(env, policy, seed=seed, task_id=task_id, env_id=env_id, trial=trial))


def play(
    env: gymnasium.Env[Observation, Action],
    policy: Policy | PolicyFunction,
    *,
    seed: int,
    task_id: str | None = None,
    env_id: str = "",
    trial: int = 0,
) -> Generator[Ask, Answer, Rollout]:
    """One episode as :func:`rollout` plays it, driven from outside, so that many can be played at once.

    Yields each question to a policy and is sent the answer, or thrown the exception in its place; returns
    the finished episode.
    """
    from toolenv.model_server.circumstances import out_of_time  # heavy, and not needed to make environments

    policy = as_policy(policy)
    tool_env = cast(ToolEnv, env.unwrapped)
    info: dict[str, Any] = {}
    try:
        observation, _ = env.reset(seed=seed, options=None if task_id is None else {"task_id": task_id})
    except (ServerError, ReplayError, ToolFault) as error:  # of what comes before the first decision
        info = _abort(tool_env, error)
    begun, memory, giver = False, None, f"policy {policy.name!r}"
    while "verdict" not in info:
        try:
            if not begun:
                begun, memory = True, opening(policy, tool_env.task, tool_env.trace.policy_seed)
            if out_of_time():
                raise DeadlineError("the episode ran out of time")
            action, memory = yield from deliberation(policy, observation, memory)
        except (KeyboardInterrupt, UsageError, GeneratorExit):  # the last: nobody wants the episode any more
            raise
        except RAISED as error:
            info = _abort(tool_env, error)
            break
        observation, _, _, _, info = env.step(check_action(action, giver))  # whatever wrappers do to it
    name = env_id or (env.spec.id if env.spec is not None else "")
    return _finished(tool_env, Verdict(**info["verdict"]), agent=policy.name, env_id=name, trial=trial)


def _finished(env: ToolEnv, verdict: Verdict, *, agent: str, env_id: str, trial: int) -> Rollout:
    """What is told of an episode that has its verdict."""
    trace = env.trace
    return Rollout(record(trace, verdict, env.task, agent=agent, env_id=env_id, trial=trial), trace)


def _abort(env: ToolEnv, error: Raised) -> dict[str, Any]:
    endings: dict[type[Exception], Ending] = {
        DeadlineError: "deadline",
        ServerError: "server_error",
        ReplayError: "environment_error",
        ContextWindowError: "context_window",
    }
    if isinstance(error, ToolFault):  # there is no world, or nothing that a simulated user says
        return env.abort("environment_error", traceback_of(error))
    for kind, ending in endings.items():
        if isinstance(error, kind):
            return env.abort(ending, str(error), getattr(error, "usage", None), _trouble(error, ending))
    return env.abort("agent_error", "".join(traceback.format_exception(error)))


def _trouble(error: Raised, ending: Ending) -> Trouble:
    if isinstance(error, ReplayError):
        return Trouble("environment/replay")
    name, role = getattr(error, "trouble", trouble_of(ending)), getattr(error, "role", "")
    return Trouble(name, role, lost_by_role=getattr(error, "ledger", {}))


def record(trace: Trace, verdict: Verdict, task: Task, *, agent: str, env_id: str, trial: int) -> Episode:
    """The episode record of a judged trace of ``task``; all that tables need of either."""
    usage = trace.usage
    armed: Any = getattr(task.reference, "instance", None)
    return Episode(
        env=env_id,
        agent=agent,
        task_id=trace.task_id,
        trial=trial,
        seed=trace.seed,
        label=verdict.label,
        decision=verdict.decision,
        lenient_decision=verdict.lenient_decision,
        decided_by=verdict.decided_by,
        success=verdict.success,
        reward=verdict.reward,
        valid=verdict.valid,
        turns=len(trace.steps),
        calls=len(trace.calls()),
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        estimated_tokens=usage.estimated,
        flags=tuple(sorted(task.flags)),
        error=trace.error if verdict.valid else trace.error or verdict.why,
        accurate=verdict.accurate,
        task=task_facts(task),
        exposure=exposure(trace, getattr(armed, "facts", None)),
        reaction=reaction(trace),
        roles=role_tokens(trace),
        trouble=_told_trouble(trace, verdict),
    )


def _told_trouble(trace: Trace, verdict: Verdict) -> Trouble:
    """What went wrong, by name even where that alone decided the episode; without what its roles hold."""
    trouble, name = trace.trouble, trace.trouble.name or trouble_of(verdict.decided_by)
    return replace(trouble, name=name, lost_by_role={}) if name or trouble.lost_by_role else trouble


def role_tokens(trace: Trace) -> dict[str, RoleTokens]:
    """Tokens by role; empty where there are no named ones."""
    usages = role_usage(trace)
    if not usages.keys() - {AGENT}:
        return {}
    return {
        role: RoleTokens(one.input_tokens, one.output_tokens, one.estimated) for role, one in usages.items()
    }
