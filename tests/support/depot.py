"""A small suite for tests of hazards: a depot whose weights have two sources, and what freight costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolenv.errors import ToolError
from toolenv.feasibility.manifest import MaskManifest
from toolenv.kernel.protocol import ArgumentPolicy
from toolenv.names import with_wire_names
from toolenv.plan import Contract, Given, OutputField, Plan, PlannedCall, PlannedMessage, Source, Taken
from toolenv.task import Score, Task
from toolenv.trace import Trace
from toolenv.types import Action, ChatMessage, Message, ToolCall, ToolCalls, ToolSpec

ITEM = {"type": "object", "properties": {"item_code": {"type": "string"}}, "required": ["item_code"]}
TOOLS = with_wire_names(
    [
        ToolSpec(
            "find_item",
            "Find an item by name. Returns item_code (text) and shelf (text).",
            {"type": "object", "properties": {"item_name": {"type": "string"}}, "required": ["item_name"]},
        ),
        ToolSpec(
            "weigh",
            "Weight of an item, from the scales' log. Returns item_code, weight (number, kg), packed_on. "
            "The register is authoritative.",
            ITEM,
        ),
        ToolSpec(
            "register_entry",
            "The register's entry of an item; authoritative. Returns item_code, mass (kg), date_packed.",
            ITEM,
        ),
        ToolSpec(
            "freight",
            "Freight of a parcel by weight in kg and zone. Returns charge (number, EUR) and zone.",
            {
                "type": "object",
                "properties": {"weight": {"type": "number"}, "zone": {"type": "string"}},
                "required": ["weight", "zone"],
            },
        ),
    ]
)

ITEMS: Mapping[str, Any] = {
    "lamp": {"item_code": "LMP-104", "weight": 1250.5, "packed_on": "2024-03-05", "shelf": "A3"},
    "desk": {"item_code": "DSK-077", "weight": 41.25, "packed_on": "2024-02-17", "shelf": "C1"},
}
RATES = {"north": 4, "south": 6}

CONTRACTS = {
    "find_item": Contract((OutputField("item_code", "string"), OutputField("shelf", "string"))),
    "weigh": Contract(
        (
            OutputField("item_code", "string"),
            OutputField("weight", "number", "kg"),
            OutputField("packed_on", "string"),
        ),
        (
            Source(
                "register_entry",
                {"item_code": "item_code"},
                {"item_code": "item_code", "weight": "mass", "packed_on": "date_packed"},
                authority=2,
            ),
        ),
        authority=1,
    ),
    "register_entry": Contract(
        (
            OutputField("item_code", "string"),
            OutputField("mass", "number", "kg"),
            OutputField("date_packed", "string"),
        ),
        authority=2,
    ),
    "freight": Contract((OutputField("charge", "number", "EUR"), OutputField("zone", "string"))),
}


class Depot:
    """Items, weights and rates. ``called`` counts what the tools really ran."""

    def __init__(self, called: int = 0) -> None:
        self.called = called

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        self.called += 1
        if name == "freight":
            if arguments["zone"] not in RATES:
                raise ToolError(f"no zone {arguments['zone']!r}")
            return {"charge": arguments["weight"] * RATES[arguments["zone"]], "zone": arguments["zone"]}
        if name == "find_item":
            if arguments["item_name"] not in ITEMS:
                raise ToolError(f"no item {arguments['item_name']!r}")
            item = ITEMS[arguments["item_name"]]
            return {"item_code": item["item_code"], "shelf": item["shelf"]}
        item = next((one for one in ITEMS.values() if one["item_code"] == arguments["item_code"]), None)
        if item is None:
            raise ToolError(f"no item code {arguments['item_code']!r}")
        names = ("weight", "packed_on") if name == "weigh" else ("mass", "date_packed")
        return {"item_code": item["item_code"], names[0]: item["weight"], names[1]: item["packed_on"]}

    def fork(self) -> Depot:
        return Depot(self.called)

    def digest(self) -> str:
        return ""

    def view(self) -> Any:
        return {}


def plan_for(item: str, zone: str) -> Plan:
    """Find the item, weigh it, ask for the freight, tell the charge."""
    return Plan(
        (
            (PlannedCall("find_item", {"item_name": Given(item)}),),
            (PlannedCall("weigh", {"item_code": Taken(0, ("item_code",))}),),
            (PlannedCall("freight", {"weight": Taken(1, ("weight",)), "zone": Given(zone)}),),
            PlannedMessage(("The freight is ", Taken(2, ("charge",)), " EUR.")),
        ),
        CONTRACTS,
    )


@dataclass(frozen=True)
class ChargeReference:
    """Success: the last message names the charge."""

    item: str
    zone: str
    charge: str

    def score(self, trace: Trace) -> Score:
        last = trace.steps[-1].action
        words = last.text.split() if isinstance(last, Message) else []
        return Score(self.charge in words, "" if self.charge in words else "the charge is not told")

    def solution(self) -> tuple[Action, ...]:
        facts = ITEMS[self.item]
        return (
            ToolCalls((ToolCall("find_item", {"item_name": self.item}),)),
            ToolCalls((ToolCall("weigh", {"item_code": facts["item_code"]}),)),
            ToolCalls((ToolCall("freight", {"weight": facts["weight"], "zone": self.zone}),)),
            Message(f"The freight is {self.charge} EUR."),
        )


@dataclass
class DepotSuite:
    """Two tasks, by hand: 1250.5 kg × 4 EUR and 41.25 kg × 6 EUR."""

    name: str = "Depot"
    subsets: tuple[str, ...] = ("default",)
    unavailable: Mapping[str, str] = field(default_factory=dict)
    default_subset: str = "default"
    max_turns: int = 16
    data: str = ""

    def tasks(self, subset: str) -> tuple[Task, ...]:
        return tuple(
            Task(
                f"{item}-{zone}",
                (ChatMessage("user", f"What is the freight of the {item} to the {zone}?"),),
                TOOLS,
                ChargeReference(item, zone, charge),
                metadata={"plan": plan_for(item, zone)},
            )
            for item, zone, charge in (("lamp", "north", "5002.0"), ("desk", "south", "247.5"))
        )

    def masks(self, subset: str) -> MaskManifest:
        return MaskManifest(self.name, subset, "none", "by hand", {"lamp-north": ("freight",)})

    def world(self, task: Task, seed: int) -> Depot:
        return Depot()

    def arguments(self, task: Task) -> ArgumentPolicy:
        return "coerce"

    def result_limit(self, task: Task) -> int | None:
        return 20_000


SUITE = DepotSuite()
