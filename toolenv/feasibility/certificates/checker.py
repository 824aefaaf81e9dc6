"""Checks certificates: plays witnesses again and derives arguments anew. Imports nothing that searches.

A certificate ``feasible`` is good if its witness, decision by decision, plays in the masked environment to
the same results and states; no call was refused; every argument could be known when it was made; and the end
meets the criterion. One ``infeasible`` is good if the suite's rules find its claim to hold. One ``unknown``
says nothing that could be wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from toolenv.errors import UsageError
from toolenv.feasibility.certificates.assumed import NOTHING_ALIKE, Assumption
from toolenv.feasibility.certificates.exhausted import problem_of_exhausted
from toolenv.feasibility.certificates.grounding import Knowledge, strings, told
from toolenv.feasibility.certificates.records import Certificate, Certificates, Criterion, Kind, TaskRecord
from toolenv.feasibility.certificates.replay import CONDITION, Stage
from toolenv.feasibility.certificates.rules import Rules
from toolenv.feasibility.manifest import MaskManifest
from toolenv.judge import judge
from toolenv.suite import Suite
from toolenv.task import Score, Task
from toolenv.trace import Step, Trace
from toolenv.types import Message, ToolCall, ToolCalls

_REFUSED = frozenset({"unknown_tool", "masked_tool", "invalid_arguments", "malformed"})


def check_file(
    certificates: Certificates, suite: Suite, rules: Rules, manifest: MaskManifest
) -> Iterator[tuple[str, str]]:
    """Check every certificate of a file; yields each task's id with its problem, empty if there is none.

    Args:
        certificates: as read, so that their hash is right.
        suite, rules: whose certificates they claim to be.
        manifest: the masks that they claim to be about.
    """
    problem = _problem_of_header(certificates, suite, rules, manifest)
    tasks = {task.id: task for task in suite.tasks(certificates.subset)} if not problem else {}
    assumption = cache(lambda: Assumption.of(suite, manifest))
    for task_id, record in certificates.tasks.items():
        found = problem or check_record(suite, rules, tasks.get(task_id), record, manifest, task_id)
        if not found and record.status == "assumed":
            found = _problem_of_assumed(assumption(), tasks[task_id], record)
        yield task_id, found


def _problem_of_header(certificates: Certificates, suite: Suite, rules: Rules, manifest: MaskManifest) -> str:
    expected = {
        "suite": suite.name,
        "rules": rules.version,
        "masks": manifest.hash,
        "data": manifest.data,
        "subset": manifest.subset,
    }
    for name, value in expected.items():
        if getattr(certificates, name) != value:
            return f"these certificates are about {name} {getattr(certificates, name)!r}, not {value!r}"
    return ""


def _problem_of_assumed(assumption: Assumption, task: Task, record: TaskRecord) -> str:
    anew = assumption.record(task, frozenset(record.certificates[0].mask))
    return "" if anew.status == "assumed" else f"assumed, but {anew.certificates[0].bound}"


def check_record(
    suite: Suite, rules: Rules, task: Task | None, record: TaskRecord, manifest: MaskManifest, task_id: str
) -> str:
    """What is wrong with a task's record; empty if nothing."""
    if task is None or task_id not in manifest.masks:
        return f"{task_id!r} is no masked task of this manifest"
    if not record.certificates or record.certificates[0].mask != tuple(sorted(manifest.masks[task_id])):
        return "the first certificate is not about the manifest's mask"
    for certificate in record.certificates:
        if problem := check(suite, rules, _as_flagged(task, manifest), certificate):
            return f"mask {list(certificate.mask)}: {problem}"
    return _problem_of_status(record)


def _as_flagged(task: Task, manifest: MaskManifest) -> Task:
    return replace(task, flags=task.flags | set(manifest.flags.get(task.id, ())))


def _problem_of_status(record: TaskRecord) -> str:
    first, standing = record.certificates[0], _of_mask(record)
    expected: Mapping[str, bool] = {
        "certified": standing is first and first.answer == "infeasible",
        "unknown": standing is first and first.answer == "unknown",
        "assumed": standing is first and first.answer == "unknown" and first.bound == NOTHING_ALIKE,
        "repaired": record.was_refuted and standing is not None and standing.answer == "infeasible",
        "dropped": record.was_refuted and record.mask is None,
    }
    return (
        "" if expected[record.status] else f"status {record.status!r} does not follow from its certificates"
    )


def _of_mask(record: TaskRecord) -> Certificate | None:
    return next((one for one in record.certificates if one.mask == record.mask), None)


def check(suite: Suite, rules: Rules, task: Task, certificate: Certificate) -> str:
    """What is wrong with a certificate about a clean task; empty if nothing."""
    pool = {tool.name for tool in task.tools}
    if certificate.task_id != task.id:
        return f"it is about task {certificate.task_id!r}, not {task.id!r}"
    if not certificate.mask or list(certificate.mask) != sorted(set(certificate.mask) & pool):
        return "its mask is not a sorted set of tools of the task's pool"
    masked = task.masked(frozenset(certificate.mask))
    if certificate.answer == "feasible":
        return _problem_of_witness(suite, rules, masked, certificate)
    if certificate.kind is not None:
        return f"{certificate.answer}, but feasible by {certificate.kind}"
    if certificate.answer == "infeasible":
        return _problem_of_claim(rules, masked, certificate)
    return "" if certificate.bound else "unknown, but no bound was reached"


def _problem_of_claim(rules: Rules, task: Task, certificate: Certificate) -> str:
    if certificate.claim is None or certificate.witness is not None:
        return "infeasible, but not by a claim alone"
    if certificate.criterion != CLAIMED_AGAINST.get(certificate.claim.kind):
        return (
            f"a claim of kind {certificate.claim.kind!r} is not against criterion {certificate.criterion!r}"
        )
    if certificate.claim.kind == "exhausted":
        return problem_of_exhausted(rules, task, certificate.claim)
    try:
        return rules.problem(task, certificate.claim)
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        # Facts come from a file: what they cannot be looked up or compared by is no fact of this task.
        return f"facts that are none of a claim of this kind: {type(error).__name__}: {error}"


CLAIMED_AGAINST: Mapping[str, Criterion] = {
    "effect": "outcome",
    "deed": "outcome",
    "value": "outcome",
    "twin": "outcome",
    "exhausted": "outcome",
    "result": "judge",
    "call": "judge",
}
"""The kinds of claims, and the weakest criterion that nothing can meet if the claim holds.

``effect``: a change of the state that no tool left can make. ``deed``: something done that leaves no trace
and that no tool left does. ``value``: a value that has to be given in a call or to be found out, and that
nothing left can tell; it holds of all who do not guess, the others of all agents whatever. ``twin``: another
world in which another answer is right and all tools left answer alike. ``exhausted``: all grounded calls from
every state that they lead to were made (:mod:`toolenv.feasibility.certificates.exhausted`). ``result``: a
result that the judge wants and that no tool left can return. ``call``: a call that the judge wants, of a
masked tool.
"""


def _problem_of_witness(suite: Suite, rules: Rules, task: Task, certificate: Certificate) -> str:
    witness = certificate.witness
    if witness is None or certificate.claim is not None:
        return "feasible, but not by a witness alone"
    if (witness.suite, witness.condition, witness.task_id) != (suite.name, CONDITION, task.id):
        return f"the witness is of {witness.suite}-{witness.condition}, task {witness.task_id!r}"
    stage = Stage(suite, task)
    try:
        played = stage.play(step.action for step in witness.steps)
    except UsageError as error:
        return f"the witness cannot be played: {error}"
    if problem := _difference(witness, played):
        return problem
    score = score_by(certificate.criterion, rules, task, played)
    if not score.success:
        return f"the witness does not meet criterion {certificate.criterion!r}: {score.why}"
    kind = kind_of(task, [call for call, _ in played.calls()])
    if certificate.kind != kind:
        return f"kind {certificate.kind!r}; by its witness it is {kind!r}"
    return next(_refusals(played), "") or next(ungrounded(task, played), "")


def kind_of(task: Task, made: Sequence[ToolCall]) -> Kind:
    """How these calls do without the masked tools; see :data:`records.Kind`."""
    if not made:
        return "do-nothing"
    reference = [
        call for action in task.reference.solution() if isinstance(action, ToolCalls) for call in action.calls
    ]
    if not {call.name for call in made} <= {call.name for call in reference}:
        return "semantic-redundancy"
    said = told([one for one in task.messages if one.role == "user"], ())
    used = [text for call in made for text in strings(dict(call.arguments))]
    return "query-grounded" if used and all(map(said.has, used)) else "not-needed"


def _difference(recorded: Trace, played: Trace) -> str:
    if len(recorded.steps) != len(played.steps):
        return f"the witness has {len(recorded.steps)} decisions, its episode ends after {len(played.steps)}"
    for number, (one, other) in enumerate(zip(recorded.steps, played.steps, strict=True)):
        if one != other:
            return f"decision {number} plays otherwise than recorded"
    return "" if recorded == played else "the witness ends otherwise than recorded"


def score_by(criterion: Criterion, rules: Rules, task: Task, trace: Trace) -> Score:
    """Whether an episode of a masked task meets a criterion."""
    verdict = judge(task, trace)
    if verdict.decision == "infeasible":
        return Score(False, "the witness stops")
    if criterion == "outcome":
        return rules.outcome(task, trace)
    return Score(verdict.success, verdict.why)


def _refusals(trace: Trace) -> Iterator[str]:
    for call, result in trace.calls():
        if result.kind in _REFUSED:
            yield f"call {call.name} is refused ({result.kind})"


def ungrounded(task: Task, trace: Trace) -> Iterator[str]:
    """The arguments of an episode that could not be known when they were used, a line each."""
    said, known = -1, Knowledge()
    for step in trace.steps:
        if step.turn != said:
            said = step.turn
            known = _heard(task, said, known)
        yield from _unknown_in(step, known)
        known = known.plus(*(result.content for result in step.results))


def _heard(task: Task, turn: int, known: Knowledge) -> Knowledge:
    """With the messages that open a user turn and the tools offered in it."""
    messages = task.turns[turn - 1].messages if turn else task.messages
    opened = told(messages, task.offered(turn))
    return Knowledge((*known.sources, *opened.sources))


def _unknown_in(step: Step, known: Knowledge) -> Iterator[str]:
    if isinstance(step.action, Message) and not known.has(step.action.text.removeprefix("Done.")):
        yield f"message {step.action.text!r:.80} says what is not known"
    if isinstance(step.action, ToolCalls):
        for call in step.action.calls:
            for name, value in call.arguments.items():
                if not known.has(value):
                    yield f"call {call.name}: {name}={value!r:.80} is not known"
