"""BFCL's files as tasks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from envs_registry import DATA_FOLDER
from envs_registry.bfcl.categories import Category
from envs_registry.bfcl.ground_truth import join_by_id
from envs_registry.bfcl.single_turn import AcknowledgingWorld, CallReference, RelevanceReference
from toolenv.data import DataStore, read_json_lines
from toolenv.errors import DataCorruptError, SchemaError
from toolenv.names import with_wire_names
from toolenv.schema import to_json_schema
from toolenv.task import Task
from toolenv.types import ChatMessage, ToolSpec


def data_folder(*parts: str) -> Path:
    """The ``bfcl_eval`` folder of the pulled wheel; ``parts`` are those needed, e.g. ``code``.

    Raises:
        DataMissingError: with the command that fetches it.
    """
    return DataStore(DATA_FOLDER).require("bfcl", *parts) / "bfcl_eval"


def load_category(package: Path, category: Category) -> tuple[Task, ...]:
    """Every task of a category, in upstream's order.

    Raises:
        DataMissingError: a file is absent; named with its path.
        DataCorruptError: a line is not JSON, entries and answers do not join by id, or an entry lacks a
            field.
    """
    entries = read_lines(package / category.file)
    try:
        if category.kind == "multi_turn":
            return _multi_turn(package, category, entries)
        if category.kind == "calls":
            answers = join_by_id(entries, read_lines(package / category.answers), category.name)
            return tuple(_single_turn(category, entry, answers[entry["id"]]) for entry in entries)
        return tuple(_single_turn(category, entry, None) for entry in entries)
    except KeyError as error:
        raise DataCorruptError(f"BFCL {category.name} in {package}: an entry has no field {error}") from error


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The JSON lines of a file.

    Raises:
        DataMissingError: it is absent; named with its path.
        DataCorruptError: a line is no JSON object; named with its number.
    """
    return read_json_lines(path, "bfcl")


def _single_turn(category: Category, entry: Mapping[str, Any], answer: Any) -> Task:
    documents = entry["function"]
    if category.kind == "calls":
        reference: CallReference | RelevanceReference = CallReference(
            category.name, documents, answer["ground_truth"]
        )
    else:
        reference = RelevanceReference("call" if category.kind == "call_expected" else "no_call")
    natural = category.kind == "no_call_expected"
    return Task(
        id=entry["id"],
        messages=_messages(entry["question"][0]),
        tools=_pool(documents, entry["id"]),
        reference=reference,
        label="infeasible" if natural else "feasible",
        flags=frozenset({"natural_negative"} if natural else ()),
        metadata={"category": category.name, "kind": category.kind, "make_world": AcknowledgingWorld},
    )


def _multi_turn(package: Path, category: Category, entries: Sequence[Mapping[str, Any]]) -> tuple[Task, ...]:
    from envs_registry.bfcl.multi_turn import multi_turn_task

    answers = join_by_id(entries, read_lines(package / category.answers), category.name)
    return tuple(
        multi_turn_task(package, category, entry, answers[entry["id"]]["ground_truth"]) for entry in entries
    )


def _messages(messages: Sequence[Mapping[str, str]]) -> tuple[ChatMessage, ...]:
    return tuple(ChatMessage(message["role"], message["content"]) for message in messages)  # type: ignore[arg-type]


def _pool(documents: Sequence[Mapping[str, Any]], where: str) -> tuple[ToolSpec, ...]:
    """A task's tools. Many tasks share a pool, so a pool is converted once."""
    try:
        return _converted_pool(json.dumps(documents))
    except SchemaError as error:
        raise SchemaError(f"BFCL task {where}: {error}") from error


@cache
def _converted_pool(documents: str) -> tuple[ToolSpec, ...]:
    return with_wire_names([tool_spec(document) for document in json.loads(documents)])


def tool_spec(document: Mapping[str, Any]) -> ToolSpec:
    """One of upstream's function documents as a tool."""
    schema, _ = to_json_schema(document["parameters"], where=document["name"])
    return ToolSpec(document["name"], document["description"], schema)
