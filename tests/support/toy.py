"""A small suite for tests: a bank with two tools, a question, and one follow-up turn in some tasks."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolenv.canonical import digest
from toolenv.errors import ToolError
from toolenv.feasibility.manifest import MaskManifest
from toolenv.kernel.protocol import ArgumentPolicy
from toolenv.names import with_wire_names
from toolenv.source import TaskSource
from toolenv.task import Score, Task, Turn
from toolenv.trace import Trace
from toolenv.types import Action, ChatMessage, Message, ToolCall, ToolCalls, ToolSpec

TOOLS = with_wire_names(
    [
        ToolSpec(
            "accounts.balance",
            "The balance of an account.",
            {"type": "object", "properties": {"account": {"type": "string"}}, "required": ["account"]},
        ),
        ToolSpec(
            "pay",
            "Pay an amount from an account.",
            {
                "type": "object",
                "properties": {"account": {"type": "string"}, "amount": {"type": "integer"}},
                "required": ["account", "amount"],
            },
        ),
        ToolSpec("crash", "A tool with a bug.", {"type": "object", "properties": {}, "required": []}),
    ]
)


class Bank:
    """Accounts and their balances."""

    def __init__(self, balances: Mapping[str, int]) -> None:
        self.balances = dict(balances)

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        if name == "crash":
            raise TypeError("a bug inside the tool")
        account = arguments["account"]
        if account not in self.balances:
            raise ToolError(f"no account {account}")
        if name == "pay":
            self.balances[account] -= arguments["amount"]
        return {"account": account, "balance": self.balances[account]}

    def fork(self) -> Bank:
        return Bank(self.balances)

    def digest(self) -> str:
        return digest(self.balances)

    def view(self) -> Any:
        return copy.deepcopy(self.balances)


@dataclass(frozen=True)
class PaidReference:
    """Success: account A1 ends with this balance. The tool for it comes after ``waits`` user turns."""

    balance: int
    waits: int = 0

    def score(self, trace: Trace) -> Score:
        if trace.checkpoints[-1] == digest({"A1": self.balance, "B2": 5}):
            return Score(True)
        return Score(False, "the balance is not what it should be")

    def solution(self) -> tuple[Action, ...]:
        if self.balance == 100:
            return (Message("Nothing to do."),)
        pay = ToolCall("pay", {"account": "A1", "amount": 100 - self.balance})
        return (*[Message("Not yet.")] * self.waits, ToolCalls((pay,)), Message("Paid."))


class Toy:
    """The suite."""

    name = "Toy"
    subsets: tuple[str, ...] = ("default",)
    unavailable: Mapping[str, str] = {"gone": "it is gone"}
    default_subset = "default"
    max_turns = 4
    data = ""

    def __init__(self, arguments: ArgumentPolicy = "coerce", limit: int | None = None) -> None:
        self._arguments: ArgumentPolicy = arguments
        self._limit = limit

    def tasks(self, subset: str) -> tuple[Task, ...]:
        question = ChatMessage("user", "Pay 7 from A1.")
        late = Turn((ChatMessage("user", "Now you can pay."),), frozenset({"pay"}))
        return (
            Task("pay-7", (question,), TOOLS, PaidReference(93)),
            Task("pay-30", (ChatMessage("user", "Pay 30 from A1."),), TOOLS, PaidReference(70)),
            Task("two-turns", (question,), TOOLS, PaidReference(93, waits=1), turns=(late,)),
            Task("idle", (ChatMessage("user", "Hello."),), TOOLS, PaidReference(100)),
        )

    def masks(self, subset: str) -> MaskManifest:
        masks = {"pay-7": ("pay",), "pay-30": ("pay",), "two-turns": ("pay",)}
        return MaskManifest(
            self.name,
            subset,
            "none",
            "by hand",
            masks,
            {"idle": "no tool is used"},
            {"idle": ("do_nothing_passes",)},
        )

    def world(self, task: Task, seed: int) -> Bank:
        return Bank({"A1": 100, "B2": 5})

    def arguments(self, task: Task) -> ArgumentPolicy:
        return self._arguments

    def result_limit(self, task: Task) -> int | None:
        return self._limit


def toy_source(condition: str = "clean", suite: Toy | None = None, **keywords: Any) -> TaskSource:
    """A source of the toy suite."""
    from toolenv.source import make_source

    return make_source(suite or Toy(), condition, **keywords)
