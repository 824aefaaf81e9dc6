"""Call lists made by changing ground truth."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from envs_registry.bfcl.backends import Backends
from envs_registry.bfcl.multi_turn_world import parameter_names
from tests.envs_registry.bfcl.multi_turn_cases import Entry
from toolenv.types import ToolCall

Calls: TypeAlias = list[list[ToolCall]]
"""A model's calls, turn by turn."""

READING = ("get_", "ls", "pwd", "du", "find", "list_", "view_", "posting_get", "trading_get", "travel_get")
ANY = (
    0,
    1,
    -1,
    2.5,
    1.0,
    True,
    False,
    None,
    "",
    "x",
    "1",
    "..",
    "/",
    "café",
    [],
    [1, 2],
    ["a"],
    {},
    {"a": 1},
)


class Mutator:
    """Changes ground truth, a little or a lot, the same way every time."""

    def __init__(self, entries: Sequence[Entry], backends: Backends) -> None:
        self.random = random.Random(20260101)
        self.parameters = parameter_names(backends)
        self.values: dict[str, list[Any]] = {}
        for entry in entries:
            for call in (call for turn in entry.reference.ground_truth for call in turn):
                for name, value in call.arguments.items():
                    self.values.setdefault(name, []).append(value)
        self.changes: tuple[Callable[[Calls, Entry], None], ...] = (
            self.drop,
            self.duplicate,
            self.reorder,
            self.move,
            self.alter,
            self.retype,
            self.add,
            self.add_reading,
            self.misname,
            self.add_argument,
            self.drop_argument,
            self.empty,
        )

    def mutated(self, entry: Entry) -> list[list[list[ToolCall]]]:
        """Calls by turn and decision: the ground truth with one to three changes."""
        calls = [list(turn) for turn in entry.reference.ground_truth]
        for change in self.random.choices(self.changes, k=self.random.choice((1, 1, 2, 3))):
            change(calls, entry)
        return [self.decisions(turn) for turn in calls]

    def decisions(self, turn: list[ToolCall]) -> list[list[ToolCall]]:
        """The calls of a turn, one or several at a time."""
        grouped: list[list[ToolCall]] = []
        for call in turn:
            if grouped and self.random.random() < 0.3:
                grouped[-1].append(call)
            else:
                grouped.append([call])
        return grouped

    def place(self, calls: Calls) -> tuple[list[ToolCall], int] | None:
        """A call, as a turn and an index in it."""
        places = [(turn, index) for turn in calls for index in range(len(turn))]
        return self.random.choice(places) if places else None

    def insert(self, calls: Calls, call: ToolCall) -> None:
        turn = self.random.choice(calls)
        turn.insert(self.random.randint(0, len(turn)), call)

    def replace_call(self, calls: Calls, change: Callable[[ToolCall], ToolCall]) -> None:
        if place := self.place(calls):
            turn, index = place
            turn[index] = change(turn[index])

    def drop(self, calls: Calls, entry: Entry) -> None:
        if place := self.place(calls):
            del place[0][place[1]]

    def duplicate(self, calls: Calls, entry: Entry) -> None:
        if place := self.place(calls):
            place[0].insert(place[1], place[0][place[1]])

    def reorder(self, calls: Calls, entry: Entry) -> None:
        self.random.shuffle(self.random.choice(calls))

    def move(self, calls: Calls, entry: Entry) -> None:
        if place := self.place(calls):
            self.insert(calls, place[0].pop(place[1]))

    def alter(self, calls: Calls, entry: Entry) -> None:
        self.replace_call(calls, lambda call: self.with_value(call, self.altered))

    def retype(self, calls: Calls, entry: Entry) -> None:
        self.replace_call(calls, lambda call: self.with_value(call, self.retyped))

    def add(self, calls: Calls, entry: Entry) -> None:
        name = self.random.choice(entry.tools)
        self.insert(calls, ToolCall(name, {key: self.value(key) for key in self.parameters[name]}))

    def add_reading(self, calls: Calls, entry: Entry) -> None:
        reading = [name for name in entry.tools if name.startswith(READING) and not self.parameters[name]]
        self.insert(calls, ToolCall(self.random.choice(reading or ["no_such_tool"])))

    def misname(self, calls: Calls, entry: Entry) -> None:
        names = ("no_such_tool", "_load_scenario", "kill", "remove", "os.system", "self.run")
        self.insert(calls, ToolCall(self.random.choice(names), {"value": 1}))

    def add_argument(self, calls: Calls, entry: Entry) -> None:
        name = self.random.choice(("extra", "self", *self.values))
        self.replace_call(
            calls, lambda call: replace(call, arguments={**call.arguments, name: self.value(name)})
        )

    def drop_argument(self, calls: Calls, entry: Entry) -> None:
        def change(call: ToolCall) -> ToolCall:
            gone = self.random.choice(list(call.arguments) or [""])
            return replace(
                call, arguments={key: value for key, value in call.arguments.items() if key != gone}
            )

        self.replace_call(calls, change)

    def empty(self, calls: Calls, entry: Entry) -> None:
        self.random.choice(calls).clear()

    def with_value(self, call: ToolCall, change: Callable[[Any], Any]) -> ToolCall:
        if not call.arguments:
            return call
        name = self.random.choice(list(call.arguments))
        return replace(call, arguments={**call.arguments, name: change(call.arguments[name])})

    def value(self, name: str) -> Any:
        """A value that the parameter has somewhere in the ground truth, or any."""
        known = self.values.get(name)
        return self.random.choice(known) if known and self.random.random() < 0.9 else self.random.choice(ANY)

    def altered(self, value: Any) -> Any:
        """Another value of the same type."""
        if isinstance(value, bool):
            return not value
        if isinstance(value, int | float):
            return value + self.random.choice((1, -1, 0.5, 1000, -100_000))
        if isinstance(value, str):
            others = [one for values in self.values.values() for one in values if isinstance(one, str)]
            return self.random.choice((value + "x", value.upper(), "", value[1:], self.random.choice(others)))
        return (
            type(value)(self.random.sample(list(value), k=len(value) // 2)) if isinstance(value, list) else {}
        )

    def retyped(self, value: Any) -> Any:
        """The value as another type; some of the results are equal to it."""
        if isinstance(value, bool):
            return self.random.choice((int(value), str(value), None))
        if isinstance(value, int | float):
            return self.random.choice((float(value), int(value), str(value), [value], None))
        if isinstance(value, str):
            return self.random.choice(
                (int(value) if value.isdecimal() else 0, [value], {"value": value}, None)
            )
        return self.random.choice((str(value), None, 0))
