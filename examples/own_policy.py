"""A policy of one's own on both conditions of the same tasks, with the metrics and their intervals."""

import gymnasium as gym

from toolenv import Action, Message, Observation, Stop, ToolCall, ToolCalls, rollout
from toolenv.metrics.rates import false_stop_rate, fass, fcr_strict, sr
from toolenv.report.format import sentence


def keyword_matcher(observation: Observation) -> Action:
    """Call the first tool whose name shares a word with the request; stop if there is none."""
    if observation.messages[-1].role == "tool":
        return Message("Done.")
    words = set(observation.messages[-1].content.lower().replace(".", " ").split())
    for tool in observation.tools:
        if words & set(tool.name.lower().replace(".", "_").split("_")):
            return ToolCalls((ToolCall(tool.name, {}),))
    return Stop("no tool's name fits the request")


episodes = []
for condition in ("clean", "infeasible"):
    env = gym.make(f"ToolFeas/BFCL-{condition}-v0", subset="multiple")
    for task_id in env.unwrapped.source.task_ids:
        episodes.append(rollout(env, keyword_matcher, seed=0, task_id=task_id).episode)
for metric in (sr, fcr_strict, false_stop_rate, fass):
    print(f"{metric.title}: {sentence(metric(episodes), 'rate')}")
