"""A planner in front of an agent that never stops: what it saves, and who spends the tokens.

Both are plain functions here; ``planner(chat:A)->executor(chat:B)`` on the command line does it with models.
"""

from collections.abc import Iterator

import gymnasium as gym

import toolenv
from toolenv import Action, Message, Observation, Rollout, Stop, ToolCall, ToolCalls, Usage, rollout
from toolenv.agents.planner import PlannerExecutor
from toolenv.agents.planner_prompts import CHECK_PROMPT
from toolenv.metrics.rates import false_stop_rate, fcr_strict
from toolenv.metrics.roles import tc_early_stop_by_role
from toolenv.report.format import sentence


def estimate(observation: Observation, answer: str) -> Usage:
    """About four characters a token."""
    asked = sum(len(message.content) for message in observation.messages)
    return Usage(asked // 4, len(answer) // 4 + 1, estimated=True)


def planner(observation: Observation) -> Action:
    """Stops unless a tool's name shares a word with the request."""
    request, *_, last = heard = [one.content for one in observation.messages if one.role == "user"]
    if last != CHECK_PROMPT:  # the first round, which shows the tools
        return Message(request, usage=estimate(observation, request))
    names = [line[2:].partition("(")[0] for line in heard[-2].splitlines() if line.startswith("- ")]
    fitting = [name for name in names if set(name.split("_")) & set(request.lower().split())]
    if not fitting:
        return Stop("no tool's name fits the request", usage=estimate(observation, "STOP: no tool"))
    return Message(f"1. {fitting[0]}", usage=estimate(observation, fitting[0]))


def executor(observation: Observation) -> Action:
    """Calls the first tool, then reports the work as done."""
    if observation.messages[-1].role == "tool":
        return Message("Done.", usage=estimate(observation, "Done."))
    call = ToolCall(observation.tools[0].name)
    return ToolCalls((call,), usage=estimate(observation, call.name))


def play(policy: toolenv.Policy) -> Iterator[Rollout]:
    for condition in ("clean", "infeasible"):
        env = gym.make(f"ToolFeas/BFCL-{condition}-v0", subset="multiple")
        for task_id in env.unwrapped.source.task_ids[:50]:
            yield rollout(env, policy, seed=0, task_id=task_id)


pair = PlannerExecutor(planner, executor)
for policy in (toolenv.as_policy(executor), pair):
    rollouts = list(play(policy))
    episodes = [one.episode for one in rollouts]
    print(f"{policy.name}:")
    print(f"  FCR: {sentence(fcr_strict(episodes), 'rate')}")
    print(f"  false stops: {sentence(false_stop_rate(episodes), 'rate')}")
    for role, cost in tc_early_stop_by_role(rollouts).items():
        print(f"  tokens of the {role} until a right stop: {sentence(cost, 'tokens')}")
