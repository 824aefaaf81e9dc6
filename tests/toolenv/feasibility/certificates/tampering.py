"""Ways to falsify the record of a task so that it still looks like one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from toolenv.feasibility.certificates.checker import CLAIMED_AGAINST
from toolenv.feasibility.certificates.records import Claim, TaskRecord
from toolenv.trace import Step, Trace
from toolenv.types import Message, Stop, ToolCall, ToolCalls, ToolResult

Tampering: TypeAlias = Callable[[TaskRecord, random.Random], TaskRecord | None]
"""Makes a false record of a good one; ``None`` where there is nothing of the kind to falsify."""

MADE_UP = "made_up_value_93517"


def tampered(
    records: Mapping[str, TaskRecord], seed: int, count: int
) -> Iterator[tuple[str, str, TaskRecord]]:
    """``count`` false records: the task's id, the way it was falsified, and the record."""
    generator = random.Random(seed)
    names, ids = sorted(WAYS), sorted(records)
    while count:
        way, task_id = generator.choice(names), generator.choice(ids)
        false = WAYS[way](records[task_id], generator)
        if false is not None:
            assert false != records[task_id], way
            count -= 1
            yield task_id, way, false


def with_first(record: TaskRecord, **changes: Any) -> TaskRecord:
    first = replace(record.certificates[0], **changes)
    return replace(record, certificates=(first, *record.certificates[1:]))


def witness_of(record: TaskRecord) -> Trace | None:
    return record.certificates[0].witness


def claim_of(record: TaskRecord) -> Claim | None:
    return record.certificates[0].claim


def with_steps(record: TaskRecord, steps: tuple[Step, ...]) -> TaskRecord:
    witness = witness_of(record)
    assert witness is not None
    return with_first(record, witness=replace(witness, steps=steps))


def on_calls(change: Callable[[ToolCall, random.Random, TaskRecord], ToolCall | None]) -> Tampering:
    """Falsify one call of a witness."""

    def tamper(record: TaskRecord, generator: random.Random) -> TaskRecord | None:
        witness = witness_of(record)
        steps = list(witness.steps) if witness is not None else []
        calling = [at for at, step in enumerate(steps) if isinstance(step.action, ToolCalls)]
        if not calling:
            return None
        at = generator.choice(calling)
        action = steps[at].action
        assert isinstance(action, ToolCalls)
        changed = change(action.calls[0], generator, record)
        if changed is None:
            return None
        steps[at] = steps[at]._replace(action=replace(action, calls=(changed, *action.calls[1:])))
        return with_steps(record, tuple(steps))

    return tamper


def change_argument(call: ToolCall, generator: random.Random, record: TaskRecord) -> ToolCall | None:
    if not call.arguments:
        return None
    name = generator.choice(sorted(call.arguments))
    return replace(call, arguments={**call.arguments, name: MADE_UP})


def add_argument(call: ToolCall, generator: random.Random, record: TaskRecord) -> ToolCall:
    return replace(call, arguments={**call.arguments, MADE_UP: True})


def use_masked_tool(call: ToolCall, generator: random.Random, record: TaskRecord) -> ToolCall:
    return replace(call, name=generator.choice(record.certificates[0].mask))


def use_no_tool(call: ToolCall, generator: random.Random, record: TaskRecord) -> ToolCall:
    return replace(call, name="a_tool_that_never_was")


def drop_step(record: TaskRecord, generator: random.Random) -> TaskRecord | None:
    witness = witness_of(record)
    if witness is None:
        return None
    at = generator.randrange(len(witness.steps))
    return with_steps(record, (*witness.steps[:at], *witness.steps[at + 1 :]))


def repeat_step(record: TaskRecord, generator: random.Random) -> TaskRecord | None:
    """A decision more than there was; the numbers of those behind it are no longer what they were."""
    witness = witness_of(record)
    if witness is None:
        return None
    at = generator.randrange(len(witness.steps))
    return with_steps(record, (*witness.steps[: at + 1], *witness.steps[at:]))


def change_result(record: TaskRecord, generator: random.Random) -> TaskRecord | None:
    witness = witness_of(record)
    steps = list(witness.steps) if witness is not None else []
    answered = [at for at, step in enumerate(steps) if step.results]
    if not answered:
        return None
    at = generator.choice(answered)
    steps[at] = steps[at]._replace(results=(ToolResult(MADE_UP), *steps[at].results[1:]))
    return with_steps(record, tuple(steps))


def say_more(record: TaskRecord, generator: random.Random) -> TaskRecord | None:
    witness = witness_of(record)
    if witness is None:
        return None
    last = witness.steps[-1]._replace(action=Message(f"Done. {MADE_UP}"))
    return with_steps(record, (*witness.steps[:-1], last))


def stop_in_the_end(record: TaskRecord, generator: random.Random) -> TaskRecord | None:
    witness = witness_of(record)
    if witness is None:
        return None
    steps = (*witness.steps[:-1], witness.steps[-1]._replace(action=Stop("cannot")))
    return with_first(record, witness=replace(witness, steps=steps, ending="stop"))


def change_trace(name: str, value: Any) -> Tampering:
    def tamper(record: TaskRecord, generator: random.Random) -> TaskRecord | None:
        witness = witness_of(record)
        return with_first(record, witness=replace(witness, **{name: value})) if witness else None

    return tamper


def change_checkpoint(record: TaskRecord, generator: random.Random) -> TaskRecord | None:
    witness = witness_of(record)
    if witness is None:
        return None
    digests = list(witness.checkpoints)
    at = generator.randrange(len(digests))
    digests[at] = "0" * len(digests[at])
    return with_first(record, witness=replace(witness, checkpoints=tuple(digests)))


def claim_otherwise(**changes: Callable[[Claim, random.Random], Any]) -> Tampering:
    """Falsify parts of a claim."""

    def tamper(record: TaskRecord, generator: random.Random) -> TaskRecord | None:
        claim = claim_of(record)
        if claim is None:
            return None
        made = {name: make(claim, generator) for name, make in changes.items()}
        return with_first(record, claim=replace(claim, **made))

    return tamper


def without_fact(claim: Claim, generator: random.Random) -> Mapping[str, Any]:
    lost = generator.choice(sorted(claim.facts))
    return {key: value for key, value in claim.facts.items() if key != lost}


def false_fact(claim: Claim, generator: random.Random) -> Mapping[str, Any]:
    """One fact changed into what is not so; that a twin has another value yet may well be so."""
    name = generator.choice(sorted(key for key in claim.facts if (claim.kind, key) != ("twin", "value")))
    value = claim.facts[name]
    if isinstance(value, int | float):
        return {**claim.facts, name: value + 93517}
    return {**claim.facts, name: [*value[:-1], MADE_UP] if isinstance(value, list) else value[:-1] + MADE_UP}


def other_kind(claim: Claim, generator: random.Random) -> str:
    return generator.choice(sorted({*CLAIMED_AGAINST, "made up"} - {claim.kind}))


def other_criterion(record: TaskRecord, generator: random.Random) -> TaskRecord | None:
    if claim_of(record) is None:
        return None
    other = {"judge": "outcome", "outcome": "judge"}[record.certificates[0].criterion]
    return with_first(record, criterion=other)


def stronger_criterion(record: TaskRecord, generator: random.Random) -> TaskRecord | None:
    """That the judge is satisfied, where only the outcome has come about."""
    first = record.certificates[0]
    weak = first.answer == "feasible" and first.criterion == "outcome"
    return with_first(record, criterion="judge") if weak else None


def other_answer(record: TaskRecord, generator: random.Random) -> TaskRecord:
    answers = {"feasible", "infeasible"} - {record.certificates[0].answer}
    return with_first(record, answer=generator.choice(sorted(answers)))


def lose_evidence(record: TaskRecord, generator: random.Random) -> TaskRecord | None:
    proven = record.certificates[0].answer != "unknown"
    return with_first(record, witness=None, claim=None) if proven else None


def other_mask(record: TaskRecord, generator: random.Random) -> TaskRecord:
    mask = record.certificates[0].mask
    shorter = mask[:-1] if len(mask) > 1 else ("a_tool_that_never_was",)
    return with_first(record, mask=shorter)


def unsorted_mask(record: TaskRecord, generator: random.Random) -> TaskRecord | None:
    mask = record.certificates[0].mask
    return with_first(record, mask=tuple(reversed(mask))) if len(mask) > 1 else None


def other_task(record: TaskRecord, generator: random.Random) -> TaskRecord:
    return with_first(record, task_id="multi_turn_base_0_or_so")


def other_standing_mask(record: TaskRecord, generator: random.Random) -> TaskRecord:
    return replace(record, mask=("a_tool_that_never_was",))


def other_status(record: TaskRecord, generator: random.Random) -> TaskRecord:
    statuses = {"certified", "repaired", "dropped", "unknown", "assumed"} - {record.status}
    return replace(record, status=generator.choice(sorted(statuses)))  # type: ignore[arg-type]


def no_certificate(record: TaskRecord, generator: random.Random) -> TaskRecord:
    return replace(record, certificates=record.certificates[1:])


WAYS: Mapping[str, Tampering] = {
    "argument changed": on_calls(change_argument),
    "argument added": on_calls(add_argument),
    "masked tool used": on_calls(use_masked_tool),
    "unknown tool used": on_calls(use_no_tool),
    "decision dropped": drop_step,
    "decision repeated": repeat_step,
    "result changed": change_result,
    "unknown value said": say_more,
    "stopped": stop_in_the_end,
    "checkpoint changed": change_checkpoint,
    "ending changed": change_trace("ending", "truncated"),
    "suite changed": change_trace("suite", "Toy"),
    "condition changed": change_trace("condition", "clean"),
    "trace of another task": change_trace("task_id", "another"),
    "claim about a turn that is not": claim_otherwise(turn=lambda claim, _: claim.turn + 100),
    "claim about a turn before the first": claim_otherwise(turn=lambda claim, _: -1),
    "claim of another kind": claim_otherwise(kind=other_kind),
    "fact changed": claim_otherwise(facts=false_fact),
    "fact dropped": claim_otherwise(facts=without_fact),
    "criterion changed": other_criterion,
    "criterion raised": stronger_criterion,
    "answer changed": other_answer,
    "evidence lost": lose_evidence,
    "mask changed": other_mask,
    "mask out of order": unsorted_mask,
    "task changed": other_task,
    "standing mask changed": other_standing_mask,
    "status changed": other_status,
    "certificate dropped": no_certificate,
}
"""Every way to falsify a record; each makes of a good one a false one."""
