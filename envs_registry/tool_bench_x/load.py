"""A tree's entries as tasks, masks and hazards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from envs_registry.tool_bench_x.hints import hint_text, hinted_tools
from envs_registry.tool_bench_x.injection import FAIL_SEED
from envs_registry.tool_bench_x.layout import Call, Record
from envs_registry.tool_bench_x.reading import Outline, OutlineReader
from envs_registry.tool_bench_x.reference import ToolBenchXReference, closing_words
from envs_registry.tool_bench_x.tree import Entry, Perturbed, read_tree
from toolenv.canonical import digest
from toolenv.errors import DataCorruptError, DataMissingError, SchemaError
from toolenv.hazards import Instance
from toolenv.hazards.manifest import ProvedInstance
from toolenv.names import with_wire_names
from toolenv.schema import to_json_schema
from toolenv.suite import OWN_MODE
from toolenv.task import Task
from toolenv.types import ChatMessage, ToolSpec


@dataclass(frozen=True)
class Loaded:
    """A tree, ready to be played.

    Attributes:
        tasks: those with clean tools.
        perturbed: task → hazard → its perturbed tools.
        proved: task → hazard → what is armed, with the recovery path if the record has one.
        left_out: why a record is no task, by its name.
        data: names the content of the tree.
    """

    tasks: tuple[Task, ...]
    perturbed: Mapping[str, Mapping[str, Perturbed]]
    proved: Mapping[str, Mapping[str, ProvedInstance]]
    left_out: Mapping[str, str] = field(default_factory=dict)
    data: str = ""


def load(folder: Path) -> Loaded:
    """Read a tree.

    Raises:
        DataMissingError: it has no task, or none with clean tools.
        DataCorruptError: names file, record and field.
        SandboxUnavailableError: this machine cannot wall code in, so that modules cannot even be read.
    """
    entries = read_tree(folder)
    left_out = {str(one.record.key): "it has no clean tools" for one in entries if one.source is None}
    kept = [one for one in entries if one.source is not None]
    if not kept:
        example = entries[0].record.key.tools_file
        raise DataMissingError(f"{folder}: none of {len(entries)} tasks has clean tools, such as {example}")
    with OutlineReader() as reader:
        tasks = tuple(_task(one, reader) for one in kept)
        proved = {str(one.record.key): dict(_proved(one, reader)) for one in kept if one.perturbed}
    perturbed = {str(one.record.key): {each.hazard: each for each in one.perturbed} for one in kept}
    return Loaded(tasks, perturbed, proved, left_out, f"sha256:{digest([_content(one) for one in entries])}")


def _content(entry: Entry) -> list[Any]:
    """All of an entry that a result may depend on."""
    record = entry.record
    return [
        str(record.key),
        record.to_json(),
        entry.source,
        [[one.hazard, one.source, None if one.hints is None else dict(one.hints)] for one in entry.perturbed],
    ]


def _task(entry: Entry, reader: OutlineReader) -> Task:
    record = entry.record
    assert entry.source is not None
    outline = reader.read(entry.source)
    specs = [_spec(outline, name, record) for name in (*record.tools, *record.distractors)]
    return Task(
        id=str(record.key),
        messages=(ChatMessage("user", record.prompt),),
        tools=with_wire_names(specs),
        reference=ToolBenchXReference(record.answer, record.calls),
        flags=frozenset() if record.calls else frozenset({"no_reference"}),
        metadata={
            "workflow": record.key.workflow,
            "domain": record.key.topic,
            "subtopic": record.key.subtopic,
            "tool_count": len(record.tools),
            "source": entry.source,
        },
    )


def _spec(outline: Outline, name: str, record: Record) -> ToolSpec:
    if outline.problem:
        raise DataCorruptError(f"{record.key.tools_file}: {outline.problem}")
    spec = outline.spec(name)
    if spec is None:
        known = ", ".join(outline.functions) or "none"
        raise DataCorruptError(
            f"{record.place}: {record.key.tools_file} has no function {name!r:.80}, only {known:.2000}"
        )
    try:
        schema, _ = to_json_schema(dict(spec.parameters), f"{record.key.tools_file}: {name}")
    except SchemaError as error:
        raise DataCorruptError(str(error)) from error
    return ToolSpec(name, spec.description or f"Run {name}.", schema)


def _proved(entry: Entry, reader: OutlineReader) -> Iterator[tuple[str, ProvedInstance]]:
    record = entry.record
    counted = Counter(one.hazard for one in entry.perturbed)
    for one in entry.perturbed:
        if counted[one.hazard] > 1:
            raise DataCorruptError(f"{one.place}: the task has other perturbed tools of {one.hazard}")
        outline = reader.read(one.source)
        if outline.problem:
            raise DataCorruptError(f"{one.place}: {outline.problem}")
        hints = outline.hints if one.hints is None else one.hints
        tools = hinted_tools(hints, record.tools)
        instance = Instance(
            str(record.key),
            one.hazard,
            OWN_MODE,
            tools[0],
            FAIL_SEED,
            {"also": list(tools[1:]), "hint": hint_text(hints)},
        )
        path = record.recovery.get(one.hazard, ())
        yield (
            one.hazard,
            ProvedInstance(instance, _witness(path, record.answer), len(path) - len(record.calls)),
        )


def _witness(path: tuple[Call, ...], answer: str) -> tuple[Any, ...]:
    """A recovery path as manifests store it; empty where the record has none."""
    decisions = [[[call.tool, dict(call.arguments)]] for call in path]
    return (*decisions, {"say": closing_words(answer)}) if decisions else ()
