"""Wrappers, one concern a file. ``gymnasium.make`` puts the recording ones on every id."""

from toolenv.wrappers.go_on import GoOn
from toolenv.wrappers.record import RecordTrace
from toolenv.wrappers.reward import RecordReward, RewardOutcomes
from toolenv.wrappers.text import TextObservation
from toolenv.wrappers.tokens import RecordTokens

__all__ = ["GoOn", "RecordReward", "RecordTokens", "RecordTrace", "RewardOutcomes", "TextObservation"]
