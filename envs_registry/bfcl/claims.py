"""What BFCL's certificates rest on: the outcome of a trace, and claims that a user turn cannot be finished.

Claims hold for any arguments whatever, since they come from upstream's source (see
:mod:`envs_registry.bfcl.static_facts`):

``effect``
    ``{"attribute": "CLASS.NAME"}``: the ground truth changes this attribute between the last user turn that
    was checked and this one, and no tool left may do so; or, for :data:`CONTENTS`, it writes something into a
    file that no file held before.
``result``
    ``{"text": TEXT}``: a ground-truth call of this user turn returns this text, and no tool left can.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from envs_registry.bfcl.load import data_folder
from envs_registry.bfcl.multi_turn_rules import MultiTurnReference, run
from envs_registry.bfcl.shapes import Shape, Store, may_be
from envs_registry.bfcl.static_facts import BackendFacts, ToolFacts, backend_facts
from toolenv.feasibility.certificates.records import Claim
from toolenv.feasibility.certificates.telling import is_told
from toolenv.kernel.protocol import World
from toolenv.task import Score, Task
from toolenv.trace import Trace

ERROR: Final = "Error during execution: "
"""How the text of every exception begins; any tool can be made to raise one."""

_CACHES: Final = frozenset({"_flight_cost_lookup"})
"""Attributes that only save work: a tool that changes nothing else informs."""

CONTENTS: Final = "GorillaFileSystem.contents"
"""Stands for what is written in files, wherever they are; part of the state, though no attribute."""

WRITING: Final = frozenset({"echo"})
"""The tools that can make a file hold something that no file held: the others copy, move and remove."""

_OBJECTS: Final = frozenset({"GorillaFileSystem"})
"""Backends that keep more than JSON values, so that nothing is said about what they keep."""


class BFCLRules:
    """See the module."""

    version = "1"

    def outcome(self, task: Task, trace: Trace) -> Score:
        """Every checked state is reached, and what the ground truth's reading calls returned was told.

        A ground-truth call that changes something is no reading call, so that its confirmation is not asked
        for.
        """
        reference = _reference(task)
        if trace.ending == "truncated" or len(trace.checkpoints) != len(reference.ground_truth):
            return Score(False, "not every user turn was finished")
        why = next(self._failures(task, reference, trace), "")
        return Score(not why, why)

    def _failures(self, task: Task, reference: MultiTurnReference, trace: Trace) -> Iterator[str]:
        for turn, truth in enumerate(reference.ground_truth):
            if not truth:
                continue
            if trace.checkpoints[turn] != reference.checkpoints[turn]:
                yield f"turn {turn}: the state differs"
            until = replace(trace, steps=tuple(step for step in trace.steps if step.turn <= turn))
            so_far = [(call, result.text) for call, result in until.calls()]
            for text in informing(reference, turn):
                if not is_told(text, so_far):
                    yield f"turn {turn}: no call told {text!r:.300}"

    def problem(self, task: Task, claim: Claim) -> str:
        """What is wrong with a claim about a masked task; empty if it holds."""
        reference = _reference(task)
        if not 0 <= claim.turn < len(reference.ground_truth) or not reference.ground_truth[claim.turn]:
            return f"user turn {claim.turn} is none that is checked"
        if claim.kind == "effect" and set(claim.facts) == {"attribute"}:
            return self._problem_of_effect(task, claim.turn, claim.facts["attribute"])
        if claim.kind == "result" and set(claim.facts) == {"text"}:
            return self._problem_of_result(task, claim.turn, claim.facts["text"])
        return f"unknown claim {claim.kind!r} with {sorted(claim.facts)}"

    def _problem_of_effect(self, task: Task, turn: int, attribute: str) -> str:
        change = changed(_reference(task), turn).get(attribute)
        if change is None:
            return f"the ground truth does not change {attribute!r} in user turn {turn}"
        able = [name for name, tool in left(task, turn).items() if _is_able(name, tool, attribute, change)]
        return f"{able[0]} may change {attribute!r}" if able else ""

    def _problem_of_result(self, task: Task, turn: int, text: str) -> str:
        reference = _reference(task)
        if text not in reference.results[turn]:
            return f"no ground-truth call of user turn {turn} returns {text!r:.200}"
        if text.startswith(ERROR):
            return "any tool can be made to fail"
        stores = _stores(reference)
        able = [name for name, tool in left(task, turn).items() if _may_return(tool, text, stores)]
        return f"{able[0]} may return {text!r:.200}" if able else ""


RULES = BFCLRules()


def _reference(task: Task) -> MultiTurnReference:
    assert isinstance(task.reference, MultiTurnReference)
    return task.reference


def left(task: Task, turn: int) -> Mapping[str, ToolFacts]:
    """The tools offered in a user turn of a masked task; those of earlier turns are among them."""
    tools = tool_facts()
    return {tool.name: tools[tool.name] for tool in task.offered(turn)}


@cache
def tool_facts() -> Mapping[str, ToolFacts]:
    """The facts of every tool."""
    return {name: tool for backend in _facts().values() for name, tool in backend.tools.items()}


@cache
def _facts() -> Mapping[str, BackendFacts]:
    return backend_facts(data_folder("data", "code"))


@dataclass(frozen=True, slots=True)
class Change:
    """What a user turn's ground truth does to an attribute."""

    before: Any
    after: Any

    def can_come_from(self, tool: ToolFacts, name: str) -> bool:
        """Whether a tool may take part in it: it may set the attribute to this, or put in what is new."""
        if name not in tool.writes or (self.grows and name in tool.shrinks):
            return False
        return name not in tool.sets or self.after in tool.sets[name]

    @property
    def grows(self) -> bool:
        """Whether something is in a container afterwards that was not in it before."""
        if isinstance(self.after, dict) and isinstance(self.before, dict):
            return not self.after.keys() <= self.before.keys()
        if isinstance(self.after, list) and isinstance(self.before, list):
            return any(self.after.count(item) > self.before.count(item) for item in self.after)
        return False


def _is_able(name: str, tool: ToolFacts, attribute: str, change: Change) -> bool:
    if attribute == CONTENTS:
        return name in WRITING
    backend, _, own = attribute.partition(".")
    return tool.backend == backend and change.can_come_from(tool, own)


def changed(reference: MultiTurnReference, turn: int) -> Mapping[str, Change]:
    """The attributes that differ between the last user turn checked before ``turn``, and ``turn``."""
    world = reference.make_world()
    before = _attributes(world)
    for at, truth in enumerate(reference.ground_truth[: turn + 1]):
        run(world, truth)
        if truth and at < turn:
            before = _attributes(world)
    after = _attributes(world)
    changes = {name: Change(before[name], after[name]) for name in after}
    return {
        name: change
        for name, change in changes.items()
        if (change.grows if name == CONTENTS else change.before != change.after)
    }


def _attributes(world: World) -> dict[str, Any]:
    view = world.view()
    found = {
        f"{backend}.{name}": value
        for backend, attributes in view.items()
        for name, value in attributes.items()
    }
    return {**found, CONTENTS: sorted(set(_contents(view.get("GorillaFileSystem"))))}


def _contents(value: Any) -> Iterator[str]:
    """What is written in files; an empty file holds nothing."""
    if not isinstance(value, dict):
        return
    if value.get("type") == "file" and value.get("content"):
        yield str(value["content"])
    for item in value.values():
        yield from _contents(item)


def _stores(reference: MultiTurnReference) -> Mapping[str, Store]:
    view = reference.make_world().view()
    return {name: store_of(name, view) for name in _facts()}


def store_of(backend: str, view: Mapping[str, Mapping[str, Any]]) -> Store:
    """What a backend may keep in a world that began with this view."""
    facts = _facts()[backend]
    return Store(
        initial={} if backend in _OBJECTS else view.get(backend, {}),
        written=facts.written,
        puts=facts.puts,
        later=facts.later,
        adjusted=facts.adjusted,
    )


def _may_return(tool: ToolFacts, text: str, stores: Mapping[str, Store]) -> bool:
    store = stores[tool.backend]
    return any(may_be(text, shape, store) for shape in shapes_of(tool, store))


def shapes_of(tool: ToolFacts, store: Store) -> tuple[Shape, ...]:
    """What a tool can return in such a world."""
    is_short = store.initial.get("long_context") is False and "long_context" not in store.written
    return tool.short_returns if is_short else tool.returns


def informing(reference: MultiTurnReference, turn: int) -> Iterator[str]:
    """What the reading calls of a user turn's ground truth returned."""
    tools = tool_facts()
    for call, text in zip(reference.ground_truth[turn], reference.results[turn], strict=True):
        if tools[call.name].writes <= _CACHES:
            yield text
