"""toolenv: find out whether tool-using agents know what they can't do, and train them to know it.

Importing it registers the ids ``ToolFeas/…`` with Gymnasium::

    import gymnasium as gym
    import toolenv

    env = gym.make("ToolFeas/BFCL-infeasible-v0")
"""

from __future__ import annotations

from toolenv.env import ToolEnv
from toolenv.episode import Episode
from toolenv.judge import RewardTable, Verdict, judge
from toolenv.policy import Policy, as_policy
from toolenv.rollout import Rollout, rollout
from toolenv.task import Reference, Score, Task, Turn
from toolenv.trace import Trace
from toolenv.types import (
    NO_TOKENS,
    Action,
    ChatMessage,
    Malformed,
    Message,
    Observation,
    Stop,
    ToolCall,
    ToolCalls,
    ToolResult,
    ToolSpec,
    Usage,
)

__version__ = "0.1.0"

__all__ = [
    "NO_TOKENS",
    "Action",
    "ChatMessage",
    "Episode",
    "Malformed",
    "Message",
    "Observation",
    "Policy",
    "Reference",
    "RewardTable",
    "Rollout",
    "Score",
    "Stop",
    "Task",
    "ToolCall",
    "ToolCalls",
    "ToolEnv",
    "ToolResult",
    "ToolSpec",
    "Trace",
    "Turn",
    "Usage",
    "Verdict",
    "as_policy",
    "judge",
    "rollout",
]

import envs_registry as _envs_registry  # noqa: F401  (registers the ids; it needs the names above)
