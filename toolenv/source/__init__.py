"""Where a suite, a condition and an environment meet: which tasks, and how the world answers them."""

from toolenv.source.choosing import chosen_subset, make_source
from toolenv.source.conditions import CONDITIONS, DRAWN, conditions_of
from toolenv.source.task_source import TaskSource
from toolenv.source.wanted import TaskIds

__all__ = ["CONDITIONS", "DRAWN", "TaskIds", "TaskSource", "chosen_subset", "conditions_of", "make_source"]
