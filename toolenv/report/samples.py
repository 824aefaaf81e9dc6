"""Final texts worth reading: a few of each environment and agent, the false continues first."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TypeAlias

from toolenv.episode import Episode
from toolenv.report.page import Sample
from toolenv.rollout import Rollout
from toolenv.runner.reading import read_rollouts
from toolenv.types import Action, Malformed, Message, Stop

MOST_SAMPLES = 50
"""How many texts a page shows."""

_Group: TypeAlias = tuple[int, str, str]
"""(rank, env id, agent)."""


def pick_samples(runs: Iterable[Path], most: int = MOST_SAMPLES) -> list[Sample]:
    """The last texts of valid episodes: false continues, then false stops, then others.

    Within each of these, environments and agents take turns, each in the order its episodes ended. Traces
    are read one at a time, and no more texts are kept than may be shown.

    Args:
        runs: run directories.
        most: how many samples at most.

    Raises:
        StoreError: a run directory that cannot be read.
    """
    kept: dict[_Group, list[Sample]] = {}

    def wanted(episode: Episode) -> bool:
        return episode.valid and len(kept.get(_group(episode), ())) < most

    for run in runs:
        for one in read_rollouts(run, wanted):
            sample = _sample(one)
            if sample.text.strip():
                kept.setdefault(_group(one.episode), []).append(sample)
    ranks = sorted({rank for rank, _, _ in kept})
    taking_turns = (_in_turns([kept[group] for group in kept if group[0] == rank]) for rank in ranks)
    return list(islice(chain.from_iterable(taking_turns), most))


def _group(episode: Episode) -> _Group:
    wrong = episode.label != episode.decision
    rank = 2 if not wrong else 0 if episode.label == "infeasible" else 1
    return rank, episode.env, episode.agent


def _in_turns(lists: Sequence[Sequence[Sample]]) -> Iterator[Sample]:
    return (one for row in zip_longest(*lists) for one in row if one is not None)


def _sample(played: Rollout) -> Sample:
    episode, steps = played.episode, played.trace.steps
    return Sample(
        env=episode.env,
        agent=episode.agent,
        task_id=episode.task_id,
        label=episode.label,
        decision=episode.decision,
        decided_by=episode.decided_by,
        text=_text(steps[-1].action) if steps else "",
    )


def _text(action: Action) -> str:
    """What an agent wrote in a decision, calls as ``name(arguments)``."""
    if isinstance(action, Message):
        return action.text
    if isinstance(action, Stop):
        return action.reason
    if isinstance(action, Malformed):
        return action.raw
    calls = (f"{call.name}({json.dumps(call.arguments, ensure_ascii=False)})" for call in action.calls)
    return "\n".join([*([action.text] if action.text else []), *calls])
