"""Instances of every hazard on the depot's first task, armed by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.support.depot import DepotSuite
from toolenv.agents.recovery import make
from toolenv.hazards import Instance, get_kind
from toolenv.hazards.base import Subject, candidates
from toolenv.kernel import CleanKernel, PerturbedKernel, Slot
from toolenv.recoverability.proving import subject_of
from toolenv.types import ToolCall, ToolResult

SUITE = DepotSuite()
TASK = SUITE.tasks("default")[0]
NAIVE = make("naive", {})
RECOVER = make("", {})

HAZARDS = (
    "cross-source-conflict",
    "execution-failure",
    "invocation-error",
    "output-drift",
    "specification-drift",
)

WEIGH = ToolCall("weigh", {"item_code": "LMP-104"})
WEIGHED = '{"item_code": "LMP-104", "weight": 1250.5, "packed_on": "2024-03-05"}'
FREIGHT = ToolCall("freight", {"weight": 1250.5, "zone": "north"})


def depot_subject() -> Subject:
    return subject_of(SUITE, TASK, TASK.metadata["plan"], NAIVE)


def every_instance(seed: int = 0) -> list[Instance]:
    subject = depot_subject()
    return [one for name in HAZARDS for one in candidates(get_kind(name), subject, seed)]


def armed(hazard: str, mode: str, tool: str, seed: int = 0, **parameters: Any) -> Instance:
    return Instance(TASK.id, hazard, mode, tool, seed, parameters)


def kernel_with(instance: Instance) -> PerturbedKernel:
    clean = CleanKernel(TASK, SUITE.world, "coerce", 20_000)
    return PerturbedKernel(clean, get_kind(instance.hazard).hazard(instance))


def answers(instance: Instance, *calls: ToolCall) -> list[ToolResult]:
    """The answers to calls made one after the other in one episode."""
    kernel = kernel_with(instance)
    world = kernel.start(0)
    return [kernel.call(world, call, Slot(number)) for number, call in enumerate(calls)]


def told(instance: Instance, call: ToolCall = WEIGH) -> Any:
    """The value that one call shows."""
    (result,) = answers(instance, call)
    assert result.kind == "ok", result
    return json.loads(result.content)


def facts(result: ToolResult) -> Mapping[str, Any]:
    assert result.record is not None
    found: Mapping[str, Any] = result.record["hazard"]
    return found
