"""Drawing the sample: a proportionally stratified random subset of the masked tasks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from toolenv.errors import UsageError
from toolenv.feasibility.annotation.sample import Item, Said, Sample, SampledTurn, Stratum
from toolenv.feasibility.annotation.size import allocate, cochran
from toolenv.seeding import mix
from toolenv.source import TaskSource
from toolenv.task import Task
from toolenv.types import ChatMessage


@dataclass(frozen=True, slots=True)
class Frame:
    """What one stratum is drawn from: the masked tasks of one environment.

    Tasks that are infeasible as shipped are no part of it: nothing of them was constructed.
    """

    env: str
    subset: str
    source: TaskSource

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The constructed tasks, in the suite's order."""
        tasks = (self.source.get(task_id) for task_id in self.source.task_ids)
        return tuple(task for task in tasks if task.mask)


def draw(
    frames: Sequence[Frame],
    seed: int = 0,
    confidence: float = 0.95,
    margin: float = 0.05,
    share: float = 0.5,
) -> Sample:
    """Draw a sample; the same arguments draw the same one, whatever the order of tasks and frames.

    Within a stratum tasks are ordered by a hash of seed and id, and the first are taken. The sample's size
    follows from all frames together (:func:`~toolenv.feasibility.annotation.size.cochran`), a stratum's from
    its share (:func:`~toolenv.feasibility.annotation.size.allocate`).

    Raises:
        UsageError: two frames of one suite, a frame without a masked task, or a bad number.
    """
    members = _members(frames)
    population = {suite: len(tasks) for suite, tasks in sorted(members.items())}
    sizes = allocate(cochran(sum(population.values()), confidence, margin, share), population)
    by_suite = {frame.source.suite.name: frame for frame in frames}
    return Sample(
        seed=seed,
        confidence=confidence,
        margin=margin,
        share=share,
        strata=tuple(
            _stratum(suite, by_suite[suite], count, sizes[suite]) for suite, count in population.items()
        ),
        items=tuple(
            _item(suite, task)
            for suite in population
            for task in _shuffled(members[suite], suite, seed)[: sizes[suite]]
        ),
    )


def _members(frames: Sequence[Frame]) -> dict[str, tuple[Task, ...]]:
    """The tasks of each suite; refuses frames that no sample can be drawn from."""
    members = {frame.source.suite.name: frame.tasks for frame in frames}
    if len(members) < len(frames):
        raise UsageError(
            f"two environments of one suite: {', '.join(frame.env for frame in frames)}; sample them apart"
        )
    for frame in frames:
        if not members[frame.source.suite.name]:
            raise UsageError(f"{frame.env}, subset {frame.subset!r}: no task of it is masked")
    return members


def _shuffled(tasks: Sequence[Task], suite: str, seed: int) -> list[Task]:
    """A stratum's tasks in an order that seed and ids alone decide."""
    return sorted(tasks, key=lambda task: mix("sample", seed, suite, task.id))


def _stratum(suite: str, frame: Frame, population: int, size: int) -> Stratum:
    return Stratum(suite, frame.env, frame.subset, frame.source.manifest_hash, population, size)


def _item(suite: str, task: Task) -> Item:
    later = (SampledTurn(_said(turn.messages), tuple(sorted(turn.adds - task.mask))) for turn in task.turns)
    return Item(
        suite=suite,
        task_id=task.id,
        turns=(SampledTurn(_said(task.messages)), *later),
        masked=tuple(tool for tool in task.tools if tool.name in task.mask),
        remaining=tuple(tool for tool in task.tools if tool.name not in task.mask),
    )


def _said(messages: Sequence[ChatMessage]) -> tuple[Said, ...]:
    return tuple(Said(message.role, _text(message)) for message in messages)


def _text(message: ChatMessage) -> str:
    calls = (
        f"-> {call.name}({json.dumps(dict(call.arguments), ensure_ascii=False)})" for call in message.calls
    )
    return "\n".join(part for part in (message.content, *calls) if part)
