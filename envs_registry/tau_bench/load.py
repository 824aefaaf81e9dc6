"""τ-bench's files as databases, tools and tasks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from envs_registry import DATA_FOLDER
from envs_registry.tau_bench.database import Database
from envs_registry.tau_bench.domains import DOMAINS, TERMINAL_TOOLS
from envs_registry.tau_bench.reference import EndStateReference
from envs_registry.tau_bench.splits import Split
from envs_registry.tau_bench.world import TauWorld
from toolenv.data import DataStore, read_json
from toolenv.errors import DataCorruptError
from toolenv.names import with_wire_names
from toolenv.schema import to_json_schema
from toolenv.task import Task
from toolenv.types import ChatMessage, ToolCall, ToolSpec


def data_folder() -> Path:
    """The pulled data.

    Raises:
        DataMissingError: with the command that fetches it.
    """
    return DataStore(DATA_FOLDER).require("tau-bench", "data", "derived")


@cache
def load_database(folder: Path, domain: str) -> Database:
    """The tables of a domain; the same object each time, since nothing changes it."""
    place = folder / "tau_bench" / "envs" / domain / "data"
    return Database(domain, {table: _read(place / f"{table}.json") for table in DOMAINS[domain].tables})


@cache
def load_tools(folder: Path, domain: str) -> tuple[ToolSpec, ...]:
    """The tools of a domain, the same for all its tasks, in upstream's order.

    Raises:
        DataCorruptError: the file describes other tools than those implemented here.
    """
    functions = [entry["function"] for entry in _read(folder / "derived" / f"{domain}_tools.json")]
    names = [function["name"] for function in functions]
    if names != list(DOMAINS[domain].tools):
        raise DataCorruptError(f"τ-bench {domain}: tools {names}, expected {list(DOMAINS[domain].tools)}")
    specs = [
        ToolSpec(one["name"], one["description"], to_json_schema(one["parameters"], where=one["name"])[0])
        for one in functions
    ]
    return with_wire_names(specs)


def load_split(folder: Path, split: Split) -> tuple[Task, ...]:
    """Every task of a split, in upstream's order.

    Raises:
        DataCorruptError: a file that is not JSON, another number of tasks, or a call of a tool that the
            domain lacks.
    """
    records = _read(folder / split.file)
    if len(records) != split.size:
        raise DataCorruptError(f"τ-bench {split.name}: {len(records)} tasks, expected {split.size}")
    return tuple(_task(folder, split.domain, record) for record in records)


def _task(folder: Path, domain: str, record: Mapping[str, Any]) -> Task:
    make_world = partial(TauWorld.create, DOMAINS[domain], load_database(folder, domain))
    policy = ChatMessage("system", _policy(folder, domain))
    actions = tuple(_action(domain, record["task_id"], action) for action in record["actions"])
    return Task(
        id=record["task_id"],
        messages=(policy, ChatMessage("user", record["instruction"])),
        tools=load_tools(folder, domain),
        reference=EndStateReference(make_world, actions, tuple(record["outputs"])),
        terminal_tools=TERMINAL_TOOLS,
        metadata={
            "domain": domain,
            "user_id": record["user_id"],
            "instruction": record["instruction"],
            "make_world": make_world,
        },
    )


def _action(domain: str, task_id: str, action: Mapping[str, Any]) -> ToolCall:
    if action["name"] not in DOMAINS[domain].tools:
        raise DataCorruptError(
            f"τ-bench {task_id}: the ground truth calls {action['name']!r}, an unknown tool"
        )
    return ToolCall(action["name"], action["kwargs"])


@cache
def _policy(folder: Path, domain: str) -> str:
    return (folder / "tau_bench" / "envs" / domain / "wiki.md").read_text(encoding="utf-8")


def _read(path: Path) -> Any:
    return read_json(path, "tau-bench")
