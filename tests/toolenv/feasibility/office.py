"""A small suite for tests: files and orders, so that some lookups are needed and some are not.

Moving can be done by copying and removing (FIELD-019); an order's item has to be looked up; ``think`` is
inert.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from toolenv.canonical import digest
from toolenv.env import ToolEnv
from toolenv.errors import ToolError
from toolenv.feasibility.manifest import MaskManifest
from toolenv.feasibility.successful_traces import SuccessfulTrace, Traces
from toolenv.kernel.protocol import ArgumentPolicy
from toolenv.names import with_wire_names
from toolenv.rollout import rollout
from toolenv.source import TaskSource
from toolenv.task import Score, Task
from toolenv.trace import Trace
from toolenv.types import Action, ChatMessage, Message, Observation, ToolCall, ToolCalls, ToolSpec

FILES = {"log.txt": "one", "archive/old.txt": "two"}
USERS = {"mia@example.com": "mia_li_3668"}
ORDERS = {
    "#W100": {"user": "mia_li_3668", "item": "lamp_4711", "price": "1,250.50", "state": "pending"},
    "#W200": {"user": "mia_li_3668", "item": "desk_0815", "price": "99.00", "state": "pending"},
}


def _tool(name: str, description: str, **parameters: str) -> ToolSpec:
    properties = {key: {"type": "string", "description": text} for key, text in parameters.items()}
    return ToolSpec(
        name, description, {"type": "object", "properties": properties, "required": list(parameters)}
    )


TOOLS = with_wire_names(
    [
        _tool("ls", "List all files."),
        _tool("mv", "Move a file from one path to another.", source="The file.", destination="The path."),
        _tool("cp", "Copy a file from one path to another.", source="The file.", destination="The path."),
        _tool("rm", "Remove a file.", path="The file."),
        _tool("think", "Write down a thought.", thought="The thought."),
        _tool("find_user", "Find a user's id by email.", email="The email."),
        _tool("list_orders", "The ids of a user's orders.", user_id="The user."),
        _tool("get_order", "The details of an order.", order_id="The order."),
        _tool("cancel_item", "Cancel an item of an order.", order_id="The order.", item="The item's id."),
    ]
)


class Office:
    """The world."""

    def __init__(self, files: Mapping[str, str] = FILES, orders: Mapping[str, Any] = ORDERS) -> None:
        self.files, self.orders = dict(files), copy.deepcopy(dict(orders))

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        return getattr(self, f"_{name}")(**arguments)

    def _ls(self) -> Any:
        return sorted(self.files)

    def _mv(self, source: str, destination: str) -> Any:
        self._cp(source, destination)
        return self._rm(source)

    def _cp(self, source: str, destination: str) -> Any:
        if source not in self.files:
            raise ToolError(f"no file {source}")
        self.files[destination] = self.files[source]
        return "done"

    def _rm(self, path: str) -> Any:
        if self.files.pop(path, None) is None:
            raise ToolError(f"no file {path}")
        return "done"

    def _think(self, thought: str) -> Any:
        return "noted"

    def _find_user(self, email: str) -> Any:
        if email not in USERS:
            raise ToolError("no such user")
        return USERS[email]

    def _list_orders(self, user_id: str) -> Any:
        return [number for number, order in self.orders.items() if order["user"] == user_id]

    def _get_order(self, order_id: str) -> Any:
        if order_id not in self.orders:
            raise ToolError("no such order")
        return {"order": order_id, **self.orders[order_id]}

    def _cancel_item(self, order_id: str, item: str) -> Any:
        if self.orders.get(order_id, {}).get("item") != item:
            raise ToolError("no such item")
        self.orders[order_id]["state"] = "cancelled"
        return "cancelled"

    def fork(self) -> Office:
        return Office(self.files, self.orders)

    def digest(self) -> str:
        return digest([self.files, self.orders])

    def view(self) -> Any:
        return {"files": dict(self.files), "orders": copy.deepcopy(self.orders)}


@dataclass(frozen=True)
class EndState:
    """Success: the state the calls below lead to, and these texts said."""

    calls: tuple[ToolCall, ...]
    said: tuple[str, ...] = ()

    def score(self, trace: Trace) -> Score:
        world = Office()
        for call in self.calls:
            world.call(call.name, call.arguments)
        if trace.checkpoints[-1] != world.digest():
            return Score(False, "another state")
        words = " ".join(step.action.text for step in trace.steps if isinstance(step.action, Message))
        missing = [text for text in self.said if text not in words]
        return Score(not missing, f"not said: {missing}" if missing else "")

    def solution(self) -> tuple[Action, ...]:
        return (ToolCalls(self.calls), Message(" ".join(("Done.", *self.said))))


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name, arguments)


MOVE = call("mv", source="log.txt", destination="archive/log.txt")
COPY = call("cp", source="log.txt", destination="archive/log.txt")
REMOVE = call("rm", path="log.txt")
LIST = call("ls")
THINK = call("think", thought="I have to move log.txt.")
FIND = call("find_user", email="mia@example.com")
ORDER_LIST = call("list_orders", user_id="mia_li_3668")
LOOK = call("get_order", order_id="#W100")
LOOK_ELSEWHERE = call("get_order", order_id="#W200")
CANCEL = call("cancel_item", order_id="#W100", item="lamp_4711")


def _task(name: str, query: str, reference: EndState, **more: Any) -> Task:
    return Task(name, (ChatMessage("user", query),), TOOLS, reference, **more)


TASKS = (
    _task("put-away", "Put log.txt into archive/log.txt.", EndState((MOVE,))),
    _task("cancel", "I am mia@example.com. Cancel the lamp of my order #W100.", EndState((CANCEL,))),
    _task("cancel-any", "I am mia@example.com. Cancel the lamp I ordered.", EndState((CANCEL,))),
    _task("known-id", "I am mia_li_3668 (mia@example.com). Cancel my lamp.", EndState((CANCEL,))),
    _task("price", "What did my order #W100 cost?", EndState((), ("1,250.50",))),
    _task("hello", "Hello.", EndState(())),
    _task("shipped", "Do what cannot be done.", EndState(()), label="infeasible"),
)


class OfficeSuite:
    """The suite."""

    name = "Office"
    subsets: tuple[str, ...] = ("default",)
    unavailable: Mapping[str, str] = MappingProxyType({})
    default_subset = "default"
    max_turns = 10
    data = ""
    inert_tools = frozenset({"think"})

    def tasks(self, subset: str) -> tuple[Task, ...]:
        return TASKS

    def masks(self, subset: str) -> MaskManifest:
        return MaskManifest(self.name, subset, "none", "by hand", {"put-away": ("mv",)})

    def world(self, task: Task, seed: int) -> Office:
        return Office()

    def arguments(self, task: Task) -> ArgumentPolicy:
        return "record"

    def result_limit(self, task: Task) -> int | None:
        return None


SUITE = OfficeSuite()


def task_named(name: str) -> Task:
    return next(task for task in TASKS if task.id == name)


def play(task_id: str, decisions: Iterable[ToolCall | Sequence[ToolCall]], words: str = "Done.") -> Trace:
    """The trace of making calls, one a decision or several together, and then saying something."""
    task = task_named(task_id)
    actions: list[Action] = [
        ToolCalls((one,) if isinstance(one, ToolCall) else tuple(one)) for one in decisions
    ]
    script = iter([*actions, Message(words)])

    def follow(observation: Observation) -> Action:
        return next(script)

    env = ToolEnv(TaskSource(SUITE, "clean", {task.id: task}, {}, 0.0, len(actions) + 1))
    played = rollout(env, follow, seed=0, task_id=task_id)
    assert played.episode.success is True, played.trace
    return played.trace


def traces_of(task_id: str, **agents: Sequence[ToolCall] | Trace) -> Traces:
    """What is known when each of these agents was run once on a task, successfully."""
    made = {
        agent: calls if isinstance(calls, Trace) else play(task_id, calls) for agent, calls in agents.items()
    }
    successes = [SuccessfulTrace(agent, 0, trace, "a-run") for agent, trace in made.items()]
    return Traces({task_id: successes}, {task_id: dict.fromkeys(agents, 1)})
