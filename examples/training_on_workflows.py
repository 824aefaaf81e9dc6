"""Learn when to stop on the endless training tasks of Workflows, then measure it on the frozen ones.

The policy is as small as one can be: a logistic model of three numbers decides from the first observation
whether to stop, and REINFORCE fits it. A model's policy goes in its place.
"""

from functools import partial

import gymnasium as gym
import numpy as np

from toolenv import Action, Message, Observation, Stop, rollout
from toolenv.metrics.rates import false_stop_rate, fcr_strict
from toolenv.report.format import sentence
from toolenv.wrappers import RewardOutcomes

ENVS, STEPS, RATE = 16, 300, 0.5


def features(observation: Observation) -> np.ndarray:
    """A constant, the share of the request's words that tools speak of, and how many tools there are."""
    request = observation.messages[-1].content.lower().replace("?", " ").replace(".", " ")
    asked = {word for word in request.split() if len(word) > 4}
    offered = " ".join(f"{tool.name} {tool.description}" for tool in observation.tools).lower()
    known = sum(word in offered for word in asked) / max(1, len(asked))
    return np.array([1.0, 4 * known - 2, len(observation.tools) / 10 - 1])


def decide(stop: bool) -> Action:
    return Stop("a tool that this takes is missing") if stop else Message("I'd begin now.")


def measure(weights: np.ndarray) -> str:
    """FCR and false stops on the first 252 tasks of the frozen evaluation set."""
    episodes = []
    for condition in ("clean", "infeasible"):
        env = gym.make(f"ToolFeas/Workflows-{condition}-v0")
        for task_id in env.unwrapped.source.task_ids[:252]:
            policy = lambda observation: decide(features(observation) @ weights > 0)  # noqa: E731
            episodes.append(rollout(env, policy, seed=0, task_id=task_id).episode)
    fcr, false_stops = (sentence(metric(episodes), "rate") for metric in (fcr_strict, false_stop_rate))
    return f"FCR {fcr}; false stops {false_stops}"


# Only stopping is paid here: rightly by 1, wrongly by -1. (What solves tasks would be paid for that, too.)
envs = gym.make_vec(
    "ToolFeas/Workflows-mixed-v0",
    num_envs=ENVS,
    vectorization_mode="sync",
    vector_kwargs={"autoreset_mode": gym.vector.AutoresetMode.SAME_STEP},
    wrappers=[partial(RewardOutcomes, false_stop=-1.0)],
    subset="train",
    decoys=True,  # or else fewer tools would tell a masked task
)
rng, weights = np.random.default_rng(0), np.zeros(3)
print("before:", measure(weights))
observations, _ = envs.reset(seed=0)
for _ in range(STEPS):
    inputs = np.stack([features(one) for one in observations])
    chances = 1 / (1 + np.exp(-inputs @ weights))
    stops = rng.random(ENVS) < chances
    observations, rewards, *_ = envs.step(tuple(decide(stop) for stop in stops))
    # Each episode is one decision long, so that its reward is its return.
    weights += RATE / ENVS * (rewards * (stops - chances)) @ inputs
envs.close()
print(f"after {ENVS * STEPS:,} episodes, none of them of the frozen tasks:", measure(weights))
