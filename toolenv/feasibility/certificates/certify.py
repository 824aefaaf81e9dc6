"""Deciding masked tasks, and mending masks that do not make a task infeasible."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from toolenv.feasibility.certificates.checker import CLAIMED_AGAINST
from toolenv.feasibility.certificates.hitting import hitting_sets
from toolenv.feasibility.certificates.planning import Planner
from toolenv.feasibility.certificates.records import Certificate, Claim, Criterion, TaskRecord
from toolenv.feasibility.certificates.search import Bound, OutOfBound, Search
from toolenv.feasibility.certificates.witness import certify_plan
from toolenv.suite import Suite, inert_tools
from toolenv.task import Task
from toolenv.types import ToolCalls

NO_TOOL_NEEDED = "a solution calls no tool, so no mask can take it away"
NO_MASK_LEFT = "no mask within the bound is proven to make it infeasible"


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is tried for one task.

    Attributes:
        search: the bound of each search.
        masks: how many masks are looked at, the manifest's own included.
    """

    search: Bound = field(default_factory=Bound)
    masks: int = 12

    def to_json(self) -> dict[str, int]:
        """The file form."""
        return {"states": self.search.states, "changes": self.search.changes, "masks": self.masks}


def decide(suite: Suite, planner: Planner, task: Task, bound: Bound) -> Certificate:
    """The certificate of a masked task.

    A claim against the outcome settles it at once. Otherwise solutions are looked for, those that satisfy the
    judge first unless a claim shows that there are none; then the claim against the judge counts.
    """
    claims = _holding(planner, task)
    claim = next(claims, None)
    if claim is not None and CLAIMED_AGAINST[claim.kind] == "outcome":
        return _infeasible(task, claim, 0)
    criteria: tuple[Criterion, ...] = ("outcome",) if claim is not None else ("judge", "outcome")
    search = Search(planner, task, bound)
    problem = f"no solution among the {{}} states with up to {bound.changes} changes in a user turn"
    for criterion in criteria:
        try:
            solved = search.solve(criterion)
        except OutOfBound:
            problem = f"no solution among the first {bound.states} states"
            break
        if solved is not None:
            plan, known = solved
            strongest: tuple[Criterion, ...] = ("judge", "outcome") if criterion == "judge" else ("outcome",)
            closing = planner.closing(task, known)
            found = certify_plan(suite, planner.rules, task, plan, closing, strongest)
            if found is not None:
                return replace(found, states=search.states)
    if claim is not None:
        return _infeasible(task, claim, search.states)
    return Certificate(
        task.id, _mask(task), "unknown", states=search.states, bound=problem.format(search.states)
    )


def _holding(planner: Planner, task: Task) -> Iterator[Claim]:
    return (claim for claim in planner.claims(task) if not planner.rules.problem(task, claim))


def _infeasible(task: Task, claim: Claim, states: int) -> Certificate:
    criterion = CLAIMED_AGAINST[claim.kind]
    return Certificate(task.id, _mask(task), "infeasible", criterion, claim=claim, states=states)


def _mask(task: Task) -> tuple[str, ...]:
    return tuple(sorted(task.mask))


def certify(
    suite: Suite, planner: Planner, task: Task, mask: frozenset[str], effort: Effort
) -> TaskRecord:
    """Decide a clean task under a mask; if that is refuted, look for another mask that stands.

    A refutation's witness is one more successful trace. Masks that share a tool with all of these, the
    reference solution's among them, are tried, the smallest first.
    """
    first = decide(suite, planner, task.masked(mask), effort.search)
    if first.answer == "infeasible":
        return TaskRecord("certified", first.mask, (first,))
    if first.answer == "unknown":
        return TaskRecord("unknown", first.mask, (first,))
    return _mend(suite, planner, task, first, effort)


def _mend(suite: Suite, planner: Planner, task: Task, first: Certificate, effort: Effort) -> TaskRecord:
    inert, made = inert_tools(suite), [first]
    tried = {first.mask}
    while len(made) < effort.masks:
        solutions = [_reference_tools(task) - inert, *(_tools(one) - inert for one in made if one.witness)]
        proposed = hitting_sets(solutions, frozenset(first.mask))
        mask = next((one for one in islice(proposed, effort.masks) if one not in tried), None)
        if frozenset() in solutions or mask is None:
            break
        if len(mask) == len(task.tools):
            break
        tried.add(mask)
        made.append(decide(suite, planner, task.masked(frozenset(mask)), effort.search))
        if made[-1].answer == "infeasible":
            return TaskRecord("repaired", mask, tuple(made))
    empty = any(one.answer == "feasible" and not _tools(one) - inert for one in made)
    return TaskRecord("dropped", None, tuple(made), NO_TOOL_NEEDED if empty else NO_MASK_LEFT)


def _reference_tools(task: Task) -> frozenset[str]:
    solution = task.reference.solution()
    return frozenset(
        call.name for action in solution if isinstance(action, ToolCalls) for call in action.calls
    )


def _tools(certificate: Certificate) -> frozenset[str]:
    """The tools of a witness."""
    calls = certificate.witness.calls("ok") if certificate.witness is not None else ()
    return frozenset(call.name for call, _ in calls)
