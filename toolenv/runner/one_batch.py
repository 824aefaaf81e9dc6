"""What many episodes ask of one policy, asked at once."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from toolenv.actions import shown
from toolenv.errors import RAISED, UsageError
from toolenv.policy import Answer, Ask, Batched, Policy, Raised


def in_one_batch(policy: Policy, asks: Sequence[Ask]) -> Sequence[Answer | Raised]:
    """For each question an answer, or the exception that stands for it."""
    assert isinstance(policy, Batched)
    try:
        answers = policy.act_batch([ask.observation for ask in asks], [ask.memory for ask in asks])
    except RAISED as error:
        return [_own_copy(error) for _ in asks]
    listed = _listed(answers)
    if listed is not None and len(listed) == len(asks):
        return listed
    given = shown(answers) if listed is None else f"{len(listed)} answers"
    wrong = UsageError(f"policy {policy.name!r}: act_batch gave {given} for {len(asks)}")
    return [wrong] * len(asks)


def _listed(answers: object) -> list[Any] | None:
    """What a sequence holds; ``None`` of anything else."""
    try:
        return list(answers) if isinstance(answers, Sequence) else None
    except Exception:  # of its own methods
        return None


def _own_copy(error: Raised) -> Raised:
    """What each episode gets: an error collects what its episode had spent."""
    try:
        twin = copy.copy(error)
    except Exception:  # one that cannot be made anew from its own arguments
        return error
    twin.__cause__ = error.__cause__
    return twin.with_traceback(error.__traceback__)
