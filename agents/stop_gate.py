"""``stop-gate(0.5,SPEC)``: an agent whose stops pass only if it is sure enough of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from toolenv.errors import UsageError
from toolenv.policy import Deliberation, Policy, PolicyFunction, as_policy
from toolenv.task import Task
from toolenv.types import Action, Message, Observation, Stop

from .asides import Aside, about_attempt, with_asides
from .bill import Bill
from .composed import Composed, beginning
from .specs import number
from .stops import as_stop, confidence_of

STOP_GATE_PROMPT_VERSION = 1
"""Raised whenever the text below changes: scores under different versions do not compare."""

DOUBT = """\
Are you sure that the task cannot be done with the tools on offer? Go through them once more. If it can be \
done, go on with it now. If you are sure that a required tool is missing, reply with this line alone:
STOP: <the missing capability, in a few words> (confidence: <a number from 0 to 1>)"""


@dataclass(frozen=True, slots=True)
class GateMemory:
    """The inner policy's memory, and the stops it has been asked about."""

    inner: Any = None
    asides: tuple[Aside, ...] = ()


class StopGate(Composed):
    """Lets a stop pass if its confidence is at least the threshold; else the policy is asked once more.

    The confidence is the stop's own, or what its reason states (``confidence: 0.8``). The second answer is
    taken if it is no stop; a stop passes with enough confidence, or where it states none (it was then said
    twice). A second stop below the threshold is held back: the turn closes with an empty message instead,
    which is no stop. Tokens of the first answer count as retried.

    Args:
        threshold: above 0, at most 1.
        inner: whose stops are looked at.
        name: shown in tables.

    Raises:
        UsageError: the threshold does not lie there.
    """

    def __init__(self, threshold: float, inner: Policy | PolicyFunction, *, name: str = "") -> None:
        if not 0 < threshold <= 1:
            raise UsageError(f"stop-gate: threshold {threshold}; give a number above 0, at most 1")
        self.threshold, self.inner = threshold, as_policy(inner)
        super().__init__(
            name or f"stop-gate({threshold:g},{self.inner.name})",
            {"": self.inner},
            stop_gate_prompt_version=STOP_GATE_PROMPT_VERSION,
        )

    def begin(self, task: Task | None = None, seed: int | None = None) -> GateMemory:
        """Nothing asked yet."""
        return GateMemory(beginning(self.inner, task, seed))

    def deliberate(self, observation: Observation, memory: GateMemory | None) -> Deliberation:
        """The inner policy's decision, unless it is a stop it is not sure of."""
        memory = self.begin() if memory is None else memory
        bill, asides = Bill(), memory.asides
        action, inner = yield from bill.ask(self.inner, with_asides(observation, asides), memory.inner)
        first = as_stop(action)
        if first is None or self._is_sure(first):
            return bill.settle(action), GateMemory(inner, asides)
        bill.throw_away()
        asides = (*asides, about_attempt(observation, first, DOUBT))
        action, inner = yield from bill.ask(self.inner, with_asides(observation, asides), inner)
        return self._second(bill, first, action), GateMemory(inner, asides)

    def _second(self, bill: Bill, first: Stop, action: Action) -> Action:
        stop = as_stop(action)
        notes: dict[str, Any] = {"doubted": first.reason, "confidence": confidence_of(first)}
        if stop is None:
            return bill.settle(action, notes)
        confidence = confidence_of(stop)
        if confidence is None or confidence >= self.threshold:
            return bill.settle(replace(stop, confidence=confidence), notes)
        notes |= {"closed": "stop_gate", "held_back": stop.reason}
        return bill.settle(Message("", raw=stop.raw), notes)

    def _is_sure(self, stop: Stop) -> bool:
        confidence = confidence_of(stop)
        return confidence is not None and confidence >= self.threshold


def compose(arguments: Sequence[str], inner: Policy) -> StopGate:
    """``stop-gate(THRESHOLD,SPEC)``."""
    return StopGate(number("stop-gate", "THRESHOLD", arguments), inner)
