"""What τ-bench's certificates rest on: some effect of the ground truth has no tool left to bring it about.

``effect``
    ``{"way": WAY, "place": [TABLE, KEY, …]}``: the ground truth's end state differs from the start in this
    place, and no tool left may change it in this way, to that value, whatever the arguments
    (:mod:`envs_registry.tau_bench.effects`).
``value``
    ``{"way": WAY, "place": [TABLE, KEY, …], "text": TEXT}``: the end state holds this text in such a place,
    where only an argument can have put it, and with the tools left nobody can come to know it
    (:mod:`envs_registry.tau_bench.revealing`). Who guesses it may succeed.
``exhausted``
    All calls that can be made without a guess, from all states that they lead to, are finite in number
    (:mod:`envs_registry.tau_bench.finite`), were made, and do not succeed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, get_args

from envs_registry.tau_bench.effects import (
    EFFECTS,
    GIVEN,
    GIVEN_IDS,
    MARKS,
    SETS,
    Effect,
    Place,
    Way,
    observed,
)
from envs_registry.tau_bench.finite import grounded_calls
from envs_registry.tau_bench.reference import EndStateReference
from envs_registry.tau_bench.revealing import knowable
from envs_registry.tau_bench.world import TauWorld
from toolenv.errors import ToolError
from toolenv.feasibility.certificates.grounding import Knowledge, strings
from toolenv.feasibility.certificates.records import Claim
from toolenv.kernel.protocol import World
from toolenv.task import Score, Task
from toolenv.trace import Trace
from toolenv.types import ToolCall


class TauBenchRules:
    """See the module."""

    version = "1"

    def outcome(self, task: Task, trace: Trace) -> Score:
        """What the judge says: it looks at nothing but the outcome."""
        return task.reference.score(trace)

    def problem(self, task: Task, claim: Claim) -> str:
        """What is wrong with a claim about a masked task; empty if it holds."""
        expected = _FACTS.get(claim.kind, frozenset())
        if claim.turn != 0 or not expected or frozenset(claim.facts) != expected:
            return f"unknown claim {claim.kind!r} about turn {claim.turn} with {sorted(claim.facts)}"
        way, place = claim.facts["way"], tuple(claim.facts["place"])
        if way not in get_args(Way):
            return f"unknown way {way!r}"
        effect = Effect(way, place)
        changes = wanted(task)
        if effect not in changes:
            return f"the ground truth does not bring about {way} {'/'.join(map(str, place))}"
        if claim.kind == "value":
            return _problem_of_value(task, effect, changes[effect], claim.facts["text"])
        end = end_state(task)
        able = [tool.name for tool in task.offered() if _is_able(tool.name, effect, changes[effect], end)]
        return f"{able[0]} may do that" if able else ""

    def start(self, task: Task) -> TauWorld:
        """A fresh world."""
        return _reference(task).make_world()

    def grounded_calls(self, task: Task, world: World, known: Knowledge) -> tuple[ToolCall, ...] | None:
        """See :mod:`envs_registry.tau_bench.finite`."""
        assert isinstance(world, TauWorld)
        return grounded_calls(task, world.data, known)

    def may_be_solved(self, task: Task, world: World, known: Knowledge) -> bool:
        """Whether this is the ground truth's end state, and the outputs can be said."""
        return world.view() == end_state(task) and all(map(known.can_say, _reference(task).outputs))


_FACTS: Final[Mapping[str, frozenset[str]]] = {
    "effect": frozenset({"way", "place"}),
    "value": frozenset({"way", "place", "text"}),
}


def _problem_of_value(task: Task, effect: Effect, value: Any, text: str) -> str:
    if text not in given_texts(effect, value):
        return f"no argument puts {text!r:.80} into {'/'.join(effect.place)}"
    reference = task.reference
    assert isinstance(reference, EndStateReference)
    known = knowable(task, reference.make_world().data)
    return f"{text!r:.80} can be known" if known.has(text) else ""


def given_texts(effect: Effect, value: Any) -> frozenset[str]:
    """The texts in a place that cannot be there but for an argument.

    Fields that hold arguments as they are, and the ids in items and flights, which say what was asked for.
    """
    if effect.place[-1] in GIVEN:
        return frozenset(strings(value))
    given = GIVEN_IDS.get(effect.place[-1])
    if given is None or not isinstance(value, list):
        return frozenset()
    return frozenset(item[given] for item in value if isinstance(item.get(given), str))


RULES = TauBenchRules()


def _reference(task: Task) -> EndStateReference:
    assert isinstance(task.reference, EndStateReference)
    return task.reference


def wanted(task: Task) -> Mapping[Effect, Any]:
    """What the ground truth brings about, each with the value that it leaves."""
    reference = task.reference
    assert isinstance(reference, EndStateReference)
    end = end_state(task)
    tables = reference.make_world().data.tables
    start = {
        name: {key: tables[name][key] for key in records if key in tables[name]}
        for name, records in end.items()
    }
    return dict(observed(start, end))


def end_state(task: Task) -> Mapping[str, Mapping[str, Any]]:
    """The records that the ground truth leaves otherwise than they were."""
    reference = task.reference
    assert isinstance(reference, EndStateReference)
    world = reference.make_world()
    for action in reference.actions:
        if action.name not in task.terminal_tools:
            try:
                world.call(action.name, action.arguments)
            except ToolError:
                continue  # it may have changed something all the same, as upstream's would
    return world.view()


def _is_able(tool: str, effect: Effect, value: Any, end: Mapping[str, Mapping[str, Any]]) -> bool:
    if not any(declared.covers(effect) for declared in EFFECTS.get(tool, ())):
        return False
    settable = SETS.get((tool, effect.place[-1]))
    if settable is not None and value not in settable:
        return False
    return not _would_leave_mark(tool, effect.place, end)


def _would_leave_mark(tool: str, place: Place, end: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether a tool that changed an order's payments would have left a mark that the end state lacks."""
    if tool not in MARKS or place[0] != "orders" or place[2:] != ("payment_history",):
        return False
    field, mark = MARKS[tool]
    return bool(end["orders"][place[1]].get(field) != mark)
