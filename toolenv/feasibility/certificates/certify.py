"""Deciding masked tasks, and mending masks that do not make a task infeasible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice

from toolenv.feasibility.certificates.assumed import Assumption
from toolenv.feasibility.certificates.checker import CLAIMED_AGAINST
from toolenv.feasibility.certificates.exhaust import exhaust
from toolenv.feasibility.certificates.hitting import hitting_sets
from toolenv.feasibility.certificates.planning import Planner
from toolenv.feasibility.certificates.records import (
    Certificate,
    Certificates,
    Claim,
    Criterion,
    TaskRecord,
)
from toolenv.feasibility.certificates.search import Bound, OutOfBound, Search, never
from toolenv.feasibility.certificates.witness import certify_plan
from toolenv.feasibility.manifest import MaskManifest
from toolenv.suite import Suite, inert_tools
from toolenv.task import Task
from toolenv.types import ToolCalls

NO_TOOL_NEEDED = "a solution calls no tool, so no mask can take it away"
NOT_REACHED = "the time of the run was up"
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


def decide(
    suite: Suite, planner: Planner, task: Task, bound: Bound, is_late: Callable[[], bool] = never
) -> Certificate:
    """The certificate of a masked task.

    A claim against the outcome settles it at once. Otherwise solutions are looked for, those that satisfy the
    judge first unless a claim shows that there are none. Then a finite space is searched to its end, which is
    a claim against the outcome; else the claim against the judge counts.
    """
    claims = _holding(planner, task)
    claim = next(claims, None)
    if claim is not None and CLAIMED_AGAINST[claim.kind] == "outcome":
        return _infeasible(task, claim, 0)
    criteria: tuple[Criterion, ...] = ("outcome",) if claim is not None else ("judge", "outcome")
    search = Search(planner, task, bound, is_late)
    problem = f"no solution among the {{}} states with up to {bound.changes} changes in a user turn"
    for criterion in criteria:
        try:
            solved = search.solve(criterion)
        except OutOfBound:
            problem = NOT_REACHED if is_late() else f"no solution among the first {bound.states} states"
            break
        if solved is not None:
            plan, known = solved
            strongest: tuple[Criterion, ...] = ("judge", "outcome") if criterion == "judge" else ("outcome",)
            closing = planner.closing(task, known)
            found = certify_plan(suite, planner.rules, task, plan, closing, strongest)
            if found is not None:
                return replace(found, states=search.states)
    finite, tried = exhaust(planner.rules, task, len(task.turns), bound.states)
    claim = finite or claim
    if claim is not None:
        return _infeasible(task, claim, search.states + tried)
    return Certificate(
        task.id, _mask(task), "unknown", states=search.states + tried, bound=problem.format(search.states)
    )


def _holding(planner: Planner, task: Task) -> Iterator[Claim]:
    return (claim for claim in planner.claims(task) if not planner.rules.problem(task, claim))


def _infeasible(task: Task, claim: Claim, states: int) -> Certificate:
    criterion = CLAIMED_AGAINST[claim.kind]
    return Certificate(task.id, _mask(task), "infeasible", criterion, claim=claim, states=states)


def _mask(task: Task) -> tuple[str, ...]:
    return tuple(sorted(task.mask))


def certify_all(
    suite: Suite,
    planner: Planner | None,
    tasks: Iterable[Task],
    manifest: MaskManifest,
    effort: Effort,
    is_late: Callable[[], bool],
) -> Iterator[tuple[str, TaskRecord]]:
    """The record of each task, in order.

    Args:
        suite: whose tasks.
        planner: the suite's; ``None`` if it has none.
        tasks: clean tasks that the manifest has masks for.
        manifest: the masks.
        effort: how much is tried for each.
        is_late: asked before each task and within; once it says so, what is left stays unknown.
    """
    assumption = cache(lambda: Assumption.of(suite, manifest))
    for task in tasks:
        mask = frozenset(manifest.masks[task.id])
        if is_late():
            late = Certificate(task.id, tuple(sorted(mask)), "unknown", bound=NOT_REACHED)
            yield task.id, TaskRecord("unknown", late.mask, (late,))
        elif planner is not None and planner.covers(task):
            yield task.id, certify(suite, planner, task, mask, effort, is_late)
        else:
            yield task.id, assumption().record(task, mask)


def certificates_of(
    suite: Suite,
    planner: Planner | None,
    tasks: Iterable[Task],
    manifest: MaskManifest,
    effort: Effort,
    is_late: Callable[[], bool] = lambda: False,
    watched: Callable[[Iterator[tuple[str, TaskRecord]]], Iterable[tuple[str, TaskRecord]]] = iter,
) -> Certificates:
    """The certificates of a manifest's masks; the arguments are those of :func:`certify_all`.

    Args:
        suite, planner, tasks, manifest, effort, is_late: see there.
        watched: passes the records on, e.g. with a progress bar.
    """
    return Certificates(
        suite=suite.name,
        subset=manifest.subset,
        data=manifest.data,
        masks=manifest.hash,
        rules="none" if planner is None else planner.rules.version,
        bound=effort.to_json(),
        tasks=dict(watched(certify_all(suite, planner, tasks, manifest, effort, is_late))),
    )


def certify(
    suite: Suite,
    planner: Planner,
    task: Task,
    mask: frozenset[str],
    effort: Effort,
    is_late: Callable[[], bool] = never,
) -> TaskRecord:
    """Decide a clean task under a mask; if that is refuted, look for another mask that stands.

    A refutation's witness is one more successful trace. Minimal masks that share a tool with all of these,
    the reference solution's among them, are tried, the smallest first; then the refuted mask with each of
    them.
    """
    first = decide(suite, planner, task.masked(mask), effort.search, is_late)
    if first.answer == "infeasible":
        return TaskRecord("certified", first.mask, (first,))
    if first.answer == "unknown":
        return TaskRecord("unknown", first.mask, (first,))
    return _mend(suite, planner, task, first, effort, is_late)


def _mend(
    suite: Suite,
    planner: Planner,
    task: Task,
    first: Certificate,
    effort: Effort,
    is_late: Callable[[], bool],
) -> TaskRecord:
    inert, made = inert_tools(suite), [first]
    while len(made) < effort.masks and not is_late():
        solutions = [_reference_tools(task), *(_tools(one) for one in made if one.witness)]
        proposed = _proposed([tools - inert for tools in solutions], frozenset(first.mask), effort.masks)
        tried = {one.mask for one in made}
        mask = next((one for one in proposed if one not in tried and len(one) < len(task.tools)), None)
        if mask is None:
            break
        made.append(decide(suite, planner, task.masked(frozenset(mask)), effort.search, is_late))
        if made[-1].answer == "infeasible":
            return TaskRecord("repaired", mask, tuple(made))
    needs_none = any(one.witness and not _tools(one) - inert for one in made)
    unfinished = NOT_REACHED if is_late() else NO_MASK_LEFT
    return TaskRecord("dropped", None, tuple(made), NO_TOOL_NEEDED if needs_none else unfinished)


def _proposed(
    solutions: Sequence[frozenset[str]], mask: frozenset[str], most: int
) -> Iterator[tuple[str, ...]]:
    """Minimal sets that hit every solution; then the same together with the first mask."""
    minimal = list(islice(hitting_sets(solutions, mask), most))
    yield from minimal
    for one in minimal:
        yield tuple(sorted(mask.union(one)))


def _reference_tools(task: Task) -> frozenset[str]:
    solution = task.reference.solution()
    return frozenset(
        call.name for action in solution if isinstance(action, ToolCalls) for call in action.calls
    )


def _tools(certificate: Certificate) -> frozenset[str]:
    """The tools of a witness."""
    calls = certificate.witness.calls("ok") if certificate.witness is not None else ()
    return frozenset(call.name for call, _ in calls)
