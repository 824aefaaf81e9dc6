"""The only loop that steps an environment."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import Any, cast

import gymnasium

from toolenv.actions import check_action
from toolenv.env import ToolEnv
from toolenv.episode import Episode
from toolenv.errors import ContextWindowError, ServerError, UsageError
from toolenv.judge import Verdict
from toolenv.policy import Policy, PolicyFunction, Privileged, Seeded, as_policy
from toolenv.trace import Ending, Trace
from toolenv.types import Action, Observation


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

    A server's failure or an exception inside the policy ends the episode as invalid, its trace kept; a
    conversation that outgrows the model ends it as failed.

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
    policy = as_policy(policy)
    tool_env = cast(ToolEnv, env.unwrapped)
    info: dict[str, Any] = {}
    try:
        observation, _ = env.reset(seed=seed, options=None if task_id is None else {"task_id": task_id})
    except ServerError as error:  # of a simulated user, who speaks first
        info = _abort(tool_env, error)
    memory = policy.start(tool_env.trace.seed) if isinstance(policy, Seeded) else None
    to_brief = policy if isinstance(policy, Privileged) else None
    while "verdict" not in info:
        try:
            if to_brief is not None:
                memory, to_brief = to_brief.brief(tool_env.task), None
            action, memory = policy.act(observation, memory)
        except (KeyboardInterrupt, UsageError):
            raise
        except Exception as error:
            info = _abort(tool_env, error)
            break
        observation, _, _, _, info = env.step(check_action(action, f"policy {policy.name!r}"))
    name = env_id or (env.spec.id if env.spec is not None else "")
    trace = tool_env.trace
    verdict = Verdict(**info["verdict"])
    return Rollout(
        record(trace, verdict, tool_env.task.flags, agent=policy.name, env_id=name, trial=trial), trace
    )


def _abort(env: ToolEnv, error: Exception) -> dict[str, Any]:
    endings: dict[type[Exception], Ending] = {
        ServerError: "server_error",
        ContextWindowError: "context_window",
    }
    for kind, ending in endings.items():
        if isinstance(error, kind):
            return env.abort(ending, str(error), getattr(error, "usage", None))
    return env.abort("agent_error", "".join(traceback.format_exception(error)))


def record(
    trace: Trace, verdict: Verdict, flags: frozenset[str], *, agent: str, env_id: str, trial: int
) -> Episode:
    """The episode record of a judged trace; ``flags`` are the task's."""
    usage = trace.usage
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
        flags=tuple(sorted(flags)),
        error=trace.error if verdict.valid else trace.error or verdict.why,
    )
