"""What an API-Bank task is to bring about, whatever calls do it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from envs_registry.api_bank.dialogues import RecordedCall
from envs_registry.api_bank.effects import CHANGES, DEEDS, KEYED, LISTED, MEANS, WORKED_OUT, Way
from envs_registry.api_bank.recording import key_of
from envs_registry.api_bank.reference import DialogueReference
from envs_registry.api_bank.registry import apis
from envs_registry.api_bank.rules import is_right
from envs_registry.api_bank.world import APIBankWorld
from toolenv.canonical import canonical
from toolenv.feasibility.certificates.grounding import Knowledge, told
from toolenv.feasibility.certificates.telling import is_told
from toolenv.rendering import render
from toolenv.task import Task
from toolenv.trace import Trace
from toolenv.types import ChatMessage, ToolCall

Contents: TypeAlias = Mapping[str, Mapping[Way, tuple[Any, ...]]]
"""By table and way: the records that are there and were not, or were there and are not; with their keys where
these mean something to a user (``(key, record)``)."""


def reference_of(task: Task) -> DialogueReference:
    """The truth of a task."""
    assert isinstance(task.reference, DialogueReference)
    return task.reference


def messages_of(task: Task) -> tuple[ChatMessage, ...]:
    """All that is said to the agent, whenever."""
    return (*task.messages, *(message for turn in task.turns for message in turn.messages))


def contents(world: APIBankWorld, task: Task) -> Contents:
    """What a world's tables hold otherwise than at the start, whatever numbers APIs gave to records."""
    base, found = reference_of(task).setting.tables, {}
    for name, table in world.lasting_changes().items():
        now, then = _records(name, table), _records(name, base[name])
        ways: dict[Way, tuple[Any, ...]] = {"added": _more(now, then), "removed": _more(then, now)}
        found[name] = {way: records for way, records in ways.items() if records}
    return {name: ways for name, ways in found.items() if ways}


def ways_of(found: Mapping[Way, tuple[Any, ...]]) -> Mapping[Way, tuple[Any, ...]]:
    """The ways in which a table changed, each with records that show it."""
    added, removed = found.get("added", ()), found.get("removed", ())
    rise = len(added) - len(removed)
    every: dict[Way, tuple[Any, ...]] = {
        "more": added if rise > 0 else (),
        "fewer": removed if rise < 0 else (),
        "added": added,
        "removed": removed,
    }
    return {way: records for way, records in every.items() if records}


def _more(these: Mapping[str, list[Any]], those: Mapping[str, list[Any]]) -> tuple[Any, ...]:
    """The records that one table holds beyond another."""
    return tuple(one for text, found in these.items() for one in found[len(those.get(text, ())) :])


def _records(name: str, table: Mapping[Any, Any]) -> dict[str, list[Any]]:
    """The records of a table by their text."""
    found: dict[str, list[Any]] = {}
    for key, record in table.items():
        for one in record if name in LISTED else [record]:
            whole = (key, one) if name in KEYED else one
            found.setdefault(canonical(_plain(whole)), []).append(whole)
    return found


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def features(found: Contents) -> frozenset[Hashable]:
    """The same as a set of facts."""
    return frozenset(
        (table, way, canonical(_plain(record)), at)
        for table, ways in found.items()
        for way, records in ways.items()
        for at, record in enumerate(records)
    )


def left_by_needed(task: Task) -> Contents:
    """What the needed calls, made in order, leave in the tables."""
    return _played(task)[0]


def to_be_made(task: Task) -> tuple[RecordedCall, ...]:
    """The needed calls that are themselves what is asked for.

    Those of :data:`DEEDS`, and those that change a table in general and leave it as it is here: nothing else
    would show that they were made.
    """
    return _played(task)[1]


@lru_cache(maxsize=4096)
def _played_of(reference: _Same) -> tuple[Contents, tuple[RecordedCall, ...]]:
    task, changing = reference.task, CHANGES[reference_of(reference.task).setting.folder]
    world, idle = reference_of(task).setting.world(0), []
    for call in reference_of(task).needed:
        before = world.digest()
        world.answer(call.name, call.arguments)
        if call.name in DEEDS or (call.name in changing and world.digest() == before):
            idle.append(call)
    return contents(world, task), tuple(idle)


def _played(task: Task) -> tuple[Contents, tuple[RecordedCall, ...]]:
    return _played_of(_Same(task))


class _Same:
    """A task as a key, by its reference."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def __hash__(self) -> int:
        return id(self.task.reference)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.task.reference is self.task.reference


def asks(needed: RecordedCall, every: tuple[RecordedCall, ...]) -> bool:
    """Whether what a call tells is what was to be found out."""
    changing = any(needed.name in named for named in CHANGES.values())
    if changing or needed.name in DEEDS | WORKED_OUT:
        return False
    return needed.name not in MEANS or all(call.name in MEANS for call in every)


def missing(task: Task, trace: Trace) -> Iterator[str]:
    """What an episode has not brought about, a line each."""
    reference = reference_of(task)
    made = [(call, result.text) for call, result in trace.calls() if result.record is not None]
    world = reference.setting.world(trace.seed)
    results = [world.answer(call.name, call.arguments).result for call, _ in made]
    if features(contents(world, task)) != features(left_by_needed(task)):
        yield "the tables differ from what the needed calls leave"
    yield from untold(task, made, known_from(task, made))
    for call in to_be_made(task):
        if not _is_done(task, call, made, results):
            yield f"no call is right for {call.name}{dict(call.arguments)}"


def _is_done(
    task: Task,
    needed: RecordedCall,
    made: list[tuple[ToolCall, str]],
    results: list[Mapping[str, Any] | None],
) -> bool:
    rule = apis(reference_of(task).setting.folder)[needed.name].mended
    pairs = zip(made, results, strict=True)
    return any(
        call.name == needed.name and result is not None and is_right(rule, result, needed.result)
        for (call, _), result in pairs
    )


def known_from(task: Task, made: list[tuple[ToolCall, str]]) -> Knowledge:
    """What was said in the whole conversation, and what calls told."""
    return told(messages_of(task), task.offered()).plus(*(text for _, text in made))


def untold(task: Task, made: list[tuple[ToolCall, str]], known: Knowledge) -> Iterator[str]:
    """What was to be found out or worked out and is not."""
    reference = reference_of(task)
    found_out = [(call, text) for call, text in made if call.name not in WORKED_OUT]
    for call in reference.needed:
        if asks(call, reference.needed) and not is_told(render(call.result["output"]), found_out):
            yield f"no call told what {call.name}{dict(call.arguments)} tells"
        if call.name in WORKED_OUT and not known.has(call.arguments["formula"]):
            yield f"not all numbers of {call.arguments['formula']!r} are known"


def unmade(task: Task, made: list[tuple[ToolCall, str]]) -> int:
    """How many needed calls no call made is equal to."""
    keys = {key_of(call.name, call.arguments) for call, _ in made}
    return sum(key_of(call.name, call.arguments) not in keys for call in reference_of(task).needed)
