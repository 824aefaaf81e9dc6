"""Counts of what went wrong around episodes, by kind and reason (:data:`toolenv.trouble.TROUBLES`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from toolenv.episode import Episode


@dataclass(frozen=True, slots=True)
class TroubleCount:
    """How often one trouble was met.

    Attributes:
        invalid: episodes it made invalid.
        failed: valid episodes it ended: budgets that ran out.
        requests: attempts at requests that it made fail, whether or not a later one went well.
        roles: invalid episodes by whose it was, in policies made of several, of simulated users and of
            simulators.
    """

    invalid: int = 0
    failed: int = 0
    requests: int = 0
    roles: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Troubles:
    """What went wrong around some episodes.

    Attributes:
        counts: by name, names sorted.
        played_again: how often an episode was played again because it had met failed infrastructure.
        recalled: replies that came out of the response cache.
    """

    counts: Mapping[str, TroubleCount] = field(default_factory=dict)
    played_again: int = 0
    recalled: int = 0


NO_TROUBLES = Troubles()


def troubles(episodes: Iterable[Episode]) -> Troubles:
    """The counts over episodes, read once."""
    invalid, failed, requests = Counter[str](), Counter[str](), Counter[str]()
    roles: dict[str, Counter[str]] = {}
    played_again = recalled = 0
    for episode in episodes:
        trouble = episode.trouble
        name = trouble.name or ("" if episode.valid else episode.decided_by)
        if name and episode.valid:
            failed[name] += 1
        elif name:
            invalid[name] += 1
            if trouble.role:
                roles.setdefault(name, Counter())[trouble.role] += 1
        for failing, number in trouble.failed_requests:
            requests[failing] += number
        played_again += trouble.plays - 1
        recalled += trouble.recalled
    names = sorted({*invalid, *failed, *requests})
    return Troubles(
        {
            name: TroubleCount(
                invalid[name], failed[name], requests[name], dict(sorted(roles.get(name, {}).items()))
            )
            for name in names
        },
        played_again,
        recalled,
    )
