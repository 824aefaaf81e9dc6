"""An episode for tests of what is made of episodes: each says only what matters to it."""

from __future__ import annotations

from functools import partial

from toolenv.episode import Episode

plain_episode = partial(
    Episode,
    env="ToolFeas/BFCL-clean-v0",
    agent="agent",
    trial=0,
    seed=0,
    label="feasible",
    decision="feasible",
    lenient_decision="feasible",
    decided_by="message",
    success=None,
    reward=None,
    valid=True,
    turns=1,
    calls=1,
    input_tokens=None,
    output_tokens=None,
)
"""Of a feasible task, ended by a message; whether that was a success nobody says."""
