"""Multi-turn BFCL entries as tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from envs_registry.bfcl.backends import TASK_DATE, load_backends
from envs_registry.bfcl.categories import Category
from envs_registry.bfcl.load import read_lines, tool_spec
from envs_registry.bfcl.multi_turn_rules import MultiTurnReference, parse_call
from envs_registry.bfcl.multi_turn_world import MultiTurnWorld, parameter_names
from toolenv.errors import DataCorruptError
from toolenv.names import with_wire_names
from toolenv.task import Task, Turn
from toolenv.types import ChatMessage, ToolSpec

DOCUMENTS: Mapping[str, str] = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}
"""Upstream's class names, and the files that document their tools."""

MORE_TOOLS = ChatMessage("user", "More tools are available to you now. Please carry on with them.")
"""What a user turn says that only brings the functions missed before."""


def multi_turn_task(
    package: Path, category: Category, entry: Mapping[str, Any], ground_truth: Sequence[Sequence[str]]
) -> Task:
    """One entry. Tools come from the documents of the classes it involves, in their order."""
    classes = tuple(entry["involved_classes"])
    tools = _pool(package, classes)
    parameters = tool_parameters(package)
    make_world = partial(
        _make_world, package, classes, entry["initial_config"], "long_context" in category.name
    )
    turns = [
        _turn(messages, entry.get("missed_function", {}).get(str(index), ()))
        for index, messages in enumerate(entry["question"])
    ]
    return Task(
        id=entry["id"],
        messages=(*_date(classes), *turns[0].messages),
        tools=tools,
        reference=MultiTurnReference(
            ground_truth=tuple(tuple(parse_call(call, parameters) for call in turn) for turn in ground_truth),
            make_world=make_world,
        ),
        turns=tuple(turns[1:]),
        metadata={"category": category.name, "kind": category.kind, "make_world": make_world},
    )


def _date(classes: Sequence[str]) -> tuple[ChatMessage, ...]:
    """Travel is booked for dates that a reader of today may find past, so those tasks say what day it is."""
    if "TravelAPI" not in classes:
        return ()
    return (ChatMessage("system", f"Today is {TASK_DATE.isoformat()}."),)


def _turn(messages: Sequence[Mapping[str, str]], adds: Sequence[str]) -> Turn:
    said = tuple(ChatMessage("user", message["content"]) for message in messages)
    return Turn(said or (MORE_TOOLS,), frozenset(adds))


def _make_world(
    package: Path, classes: Sequence[str], initial_config: Mapping[str, Any], long_context: bool
) -> MultiTurnWorld:
    return MultiTurnWorld.create(load_backends(package), classes, initial_config, long_context)


@cache
def _documents(package: Path, name: str) -> tuple[Mapping[str, Any], ...]:
    if name not in DOCUMENTS:
        raise DataCorruptError(f"BFCL: no tool documents for class {name!r}; known: {', '.join(DOCUMENTS)}")
    return tuple(read_lines(package / f"data/multi_turn_func_doc/{DOCUMENTS[name]}.json"))


@cache
def _pool(package: Path, classes: tuple[str, ...]) -> tuple[ToolSpec, ...]:
    return with_wire_names(
        [tool_spec(document) for name in classes for document in _documents(package, name)]
    )


@cache
def tool_parameters(package: Path) -> Mapping[str, tuple[str, ...]]:
    """The parameters of each tool in order, for ground-truth calls with positional arguments."""
    return parameter_names(load_backends(package))
