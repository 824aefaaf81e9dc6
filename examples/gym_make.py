"""One episode by hand: look, stop, read the verdict."""

import gymnasium as gym

import toolenv

env = gym.make("ToolFeas/BFCL-infeasible-v0", render_mode="ansi")
observation, info = env.reset(seed=0)
print(env.render())

observation, reward, terminated, truncated, info = env.step(toolenv.Stop("no tool offered can do this"))
print(reward, info["verdict"], info["episode"])
