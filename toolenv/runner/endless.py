"""Subsets without an end: such work is refused, not begun."""

from __future__ import annotations

from toolenv.errors import UsageError

MOST_EPISODES = 100_000_000
"""More than anybody plays: those of a subset that has no end."""


def check_has_end(what: str, count: int, instead: str = "choose another --subset", trials: int = 1) -> None:
    """Refuse work that would not end.

    Args:
        what: whose tasks they are.
        count: how many.
        instead: what to do about it.
        trials: how often each is played.

    Raises:
        UsageError: ``count`` tasks or episodes of ``what`` are too many.
    """
    if count > MOST_EPISODES:
        raise UsageError(f"{what}: the subset has no end and cannot be played whole; {instead}")
    if count * trials > MOST_EPISODES:
        raise UsageError(
            f"{what}: {trials:,} trials of {count:,} {'task' if count == 1 else 'tasks'} are more than"
            f" {MOST_EPISODES:,} episodes; give fewer trials"
        )
