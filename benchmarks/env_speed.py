"""Steps per second of the environment itself: reset, three calls, a final message, with everything on.

Each episode is seeded anew, every call is checked against its schema, and the trace is recorded and judged.
Processor time is measured, the best of many short spans, so that other work on the machine counts little.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium

from toolenv.env import ToolEnv
from toolenv.feasibility.manifest import MaskManifest
from toolenv.kernel.protocol import ArgumentPolicy
from toolenv.names import with_wire_names
from toolenv.source import make_source
from toolenv.task import Score, Task
from toolenv.trace import Trace
from toolenv.types import NO_TOKENS, Action, ChatMessage, Message, ToolCall, ToolCalls, ToolSpec
from toolenv.wrappers import RecordReward, RecordTokens, RecordTrace

TOOLS = with_wire_names(
    [
        ToolSpec(
            "add",
            "Add two numbers.",
            {
                "type": "object",
                "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                "required": ["a", "b"],
            },
        )
    ]
)


class Adder:
    """A world without state."""

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """The sum."""
        return arguments["a"] + arguments["b"]

    def fork(self) -> Adder:
        """Itself: there is nothing to copy."""
        return self

    def digest(self) -> str:
        """Always the same."""
        return ""

    def view(self) -> Any:
        """Nothing."""
        return {}


class Called:
    """Success: three sums were made."""

    def score(self, trace: Trace) -> Score:
        """Count them."""
        return Score(len(trace.calls("ok")) == 3)

    def solution(self) -> tuple[Action, ...]:
        """Not needed here."""
        return ()


class Trivial:
    """A suite of ten equal tasks."""

    name = "Trivial"
    subsets: tuple[str, ...] = ("default",)
    unavailable: Mapping[str, str] = {}
    default_subset = "default"
    max_turns = 10
    data = ""

    def tasks(self, subset: str) -> tuple[Task, ...]:
        """The tasks."""
        question = (ChatMessage("user", "Add three times."),)
        return tuple(Task(f"add-{number}", question, TOOLS, Called()) for number in range(10))

    def masks(self, subset: str) -> MaskManifest:
        """No masks."""
        return MaskManifest(self.name, subset, "none", "none", {})

    def world(self, task: Task, seed: int) -> Adder:
        """A fresh world."""
        return Adder()

    def arguments(self, task: Task) -> ArgumentPolicy:
        """As in most suites."""
        return "coerce"

    def result_limit(self, task: Task) -> int | None:
        """As in most suites."""
        return 20_000


ACTIONS: tuple[Action, ...] = (
    *(ToolCalls((ToolCall("add", {"a": number, "b": 1}),), usage=NO_TOKENS) for number in range(3)),
    Message("Done.", usage=NO_TOKENS),
)


SPAN = 100
"""Episodes that are timed together."""


def episodes_per_second(env: gymnasium.Env[Any, Any], spans: int = 200) -> float:
    """Episodes of :data:`ACTIONS` per second of processor time."""
    step, reset = env.step, env.reset
    best = math.inf
    for number in range(spans):
        start = time.process_time()
        for seed in range(number * SPAN, (number + 1) * SPAN):
            reset(seed=seed)
            for action in ACTIONS:
                step(action)
        best = min(best, time.process_time() - start)
    return SPAN / best


def measure(report: Callable[[str], None] = print) -> dict[str, float]:
    """Steps per second, bare and with the wrappers that ``gymnasium.make`` puts on."""
    bare = ToolEnv(make_source(Trivial()))
    wrapped = RecordReward(RecordTokens(RecordTrace(ToolEnv(make_source(Trivial())))))
    found = {}
    for name, env in (("bare", bare), ("with recording wrappers", wrapped)):
        rate = episodes_per_second(env)
        found[name] = rate * len(ACTIONS)
        report(f"{name}: {found[name]:,.0f} steps/s ({rate:,.0f} episodes/s)")
    return found


if __name__ == "__main__":
    measure()
