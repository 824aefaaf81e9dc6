"""Eight environments at once, as a training loop would step them.

Spaces here are not arrays, so asynchronous vectors need ``shared_memory=False``.
"""

import gymnasium as gym
import numpy as np

from toolenv.metrics.stats import wilson
from toolenv.report.format import sentence
from toolenv.sampling import sample_action

EPISODES = 13  # of each environment

if __name__ == "__main__":
    envs = gym.make_vec(
        "ToolFeas/BFCL-mixed-v0",
        num_envs=8,
        vectorization_mode="async",
        vector_kwargs={
            "shared_memory": False,
            "autoreset_mode": gym.vector.AutoresetMode.SAME_STEP,  # every action is used
        },
        prior=0.5,
    )
    rng = np.random.default_rng(0)
    observations, _ = envs.reset(seed=0)
    # Counted is what each environment plays first. The first episodes to *end* would be the short ones.
    returns: list[list[float]] = [[] for _ in range(envs.num_envs)]
    while min(map(len, returns)) < EPISODES:
        actions = tuple(sample_action(rng, observation.tools) for observation in observations)
        observations, rewards, terminated, truncated, _ = envs.step(actions)
        for at in np.flatnonzero(terminated | truncated):
            returns[at].append(float(rewards[at]))
    envs.close()
    # A return is 1, 0, or NaN where an episode is invalid and no outcome.
    known = [one for own in returns for one in own[:EPISODES] if not np.isnan(one)]
    print(f"FASS of a random policy: {sentence(wilson(known.count(1.0), len(known)), 'rate')}")
