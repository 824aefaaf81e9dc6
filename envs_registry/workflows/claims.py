"""What the certificates of Workflows rest on.

``effect``
    ``{"deed": TOOL}``: the world has to end with something done that only this masked tool does: what is done
    bears the name of the tool that did it.
``twin``
    ``{"id", "field", "value"}``, ``{"currency", "value"}`` or ``{"id", "renamed"}``: were this one thing
    otherwise, another answer or another change would be right, and all tools left would answer alike
    (:mod:`envs_registry.workflows.twins`). So nobody with these tools can tell which it is; who names the
    right one has guessed it. Renamed identifiers are neither said nor told by a tool left.
"""

from __future__ import annotations

from typing import Any, Final

from envs_registry.workflows.blueprint import Blueprint
from envs_registry.workflows.facts import Facts
from envs_registry.workflows.twins import difference_told, outcome_in, twin_of, world_of
from toolenv.errors import ToolError
from toolenv.feasibility.certificates.records import Claim
from toolenv.task import Score, Task
from toolenv.trace import Trace

_CHANGES: Final = (
    frozenset({"id", "field", "value"}),
    frozenset({"currency", "value"}),
    frozenset({"id", "renamed"}),
)


class WorkflowsRules:
    """See the module."""

    version = "1"

    def outcome(self, task: Task, trace: Trace) -> Score:
        """What the judge says: it looks at nothing but the outcome."""
        return task.reference.score(trace)

    def problem(self, task: Task, claim: Claim) -> str:
        """What is wrong with a claim about a masked task; empty if it holds."""
        if claim.turn == 0 and claim.kind == "effect" and set(claim.facts) == {"deed"}:
            return _problem_of_deed(task, claim.facts["deed"])
        if claim.turn == 0 and claim.kind == "twin" and frozenset(claim.facts) in _CHANGES:
            return _problem_of_twin(task, dict(claim.facts))
        return f"unknown claim {claim.kind!r} about turn {claim.turn} with {sorted(claim.facts)}"


RULES = WorkflowsRules()


def deeds_wanted(task: Task) -> frozenset[str]:
    """The tools that did what is done when the task is."""
    blueprint: Blueprint = task.metadata["blueprint"]
    world = world_of(task, task.metadata["facts"])
    for call in blueprint.calls:
        world.call(call.tool, call.arguments)
    return frozenset(deed["deed"] for deed in world.view()["deeds"].values())


def _problem_of_deed(task: Task, tool: Any) -> str:
    if tool not in deeds_wanted(task):
        return f"nothing that is to be done bears the name {tool!r}"
    return f"{tool} is left" if any(one.name == tool for one in task.offered()) else ""


def _problem_of_twin(task: Task, change: dict[str, Any]) -> str:
    facts: Facts = task.metadata["facts"]
    hidden = frozenset({change["id"], change["renamed"]} if "renamed" in change else ())
    said = " ".join(message.content for message in task.messages).upper()
    if any(identifier in said for identifier in hidden) or change.get("renamed") in facts.by_id:
        return f"one of {sorted(hidden)} is known"
    try:
        twin = twin_of(facts, change)
        if outcome_in(task, twin) == outcome_in(task, facts):
            return "the same answer and the same change are right there"
    except (KeyError, TypeError, ValueError, ToolError) as error:
        return f"there is no such world: {error}"
    return difference_told(task, facts, twin, hidden)
