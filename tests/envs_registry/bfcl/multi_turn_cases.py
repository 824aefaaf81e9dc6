"""BFCL's multi-turn entries, played on our world: what several test modules need."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from envs_registry.bfcl.backends import Backends
from envs_registry.bfcl.multi_turn_rules import MultiTurnReference, parse_call
from envs_registry.bfcl.multi_turn_world import MultiTurnWorld, parameter_names
from toolenv.errors import ToolError
from toolenv.task import Score
from toolenv.trace import Step, Trace
from toolenv.types import Message, ToolCall, ToolCalls, ToolResult

CATEGORIES = ("base", "miss_func", "miss_param", "long_context")

FILES = {
    "GorillaFileSystem": {
        "root": {
            "home": {
                "type": "directory",
                "contents": {
                    "a.txt": {"type": "file", "content": "one\ntwo"},
                    "docs": {"type": "directory", "contents": {}},
                },
            }
        }
    }
}
"""A file and an empty directory, for upstream's file system."""


@dataclass(frozen=True)
class Entry:
    """One entry of the data set, as upstream has it and as we do."""

    record: Mapping[str, Any]
    answers: list[list[str]]
    reference: MultiTurnReference
    tools: tuple[str, ...]

    @property
    def id(self) -> str:
        return str(self.record["id"])


@dataclass(frozen=True)
class Played:
    """A model's calls, what our world answered, and our verdict."""

    entry: Entry
    model: list[list[list[ToolCall]]]
    texts: list[list[str]]
    score: Score


def load_entries(package: Path, backends: Backends) -> list[Entry]:
    """All 800, in upstream's order."""
    return [
        make_entry(backends, record, truths[record["id"]])
        for category in CATEGORIES
        for truths in [{line["id"]: line["ground_truth"] for line in lines(answers_file(package, category))}]
        for record in lines(package / "data" / f"BFCL_v4_multi_turn_{category}.json")
    ]


def make_entry(backends: Backends, record: Mapping[str, Any], answers: list[list[str]]) -> Entry:
    classes = record["involved_classes"]
    names = parameter_names({name: backends[name] for name in classes})
    world = partial(
        MultiTurnWorld.create, backends, classes, record["initial_config"], "long_context" in record["id"]
    )
    truth = tuple(tuple(parse_call(call, names) for call in turn) for turn in answers)
    return Entry(record, answers, MultiTurnReference(truth, world), tuple(names))


def answers_file(package: Path, category: str) -> Path:
    return package / "data/possible_answer" / f"BFCL_v4_multi_turn_{category}.json"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def solved(entry: Entry) -> list[list[list[ToolCall]]]:
    """The ground truth, a call a decision."""
    return [[[call] for call in turn] for turn in entry.reference.ground_truth]


def play(entry: Entry, model: list[list[list[ToolCall]]]) -> Played:
    """Run a model's calls as an environment would, and judge the trace."""
    world, steps, checkpoints, texts = entry.reference.make_world(), [], [], []
    for turn, decisions in enumerate(model):
        texts.append([])
        for calls in decisions:
            results = tuple(result_of(world, call) for call in calls)
            texts[-1] += [result.text for result in results]
            steps.append(Step(turn, ToolCalls(tuple(calls)), results))
        steps.append(Step(turn, Message("")))
        checkpoints.append(world.digest())
    trace = Trace("BFCL", "clean", entry.id, 0, 10, tuple(steps), tuple(checkpoints), "message")
    return Played(entry, model, texts, entry.reference.score(trace))


def result_of(world: Any, call: ToolCall) -> ToolResult:
    try:
        return ToolResult(world.call(call.name, call.arguments))
    except ToolError as error:
        return ToolResult(str(error), "tool_error")
