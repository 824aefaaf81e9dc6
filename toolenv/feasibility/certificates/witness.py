"""From a plan to a witness: calls grouped into decisions, played, and made as short as possible."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from toolenv.feasibility.certificates.checker import check, kind_of
from toolenv.feasibility.certificates.records import Certificate, Criterion
from toolenv.feasibility.certificates.replay import Stage
from toolenv.feasibility.certificates.rules import Rules
from toolenv.suite import Suite
from toolenv.task import Task
from toolenv.types import Action, Message, ToolCall, ToolCalls

Plan = tuple[tuple[ToolCall, ...], ...]
"""The calls of each user turn."""


def certify_plan(
    suite: Suite, rules: Rules, task: Task, plan: Plan, closing: str, criteria: tuple[Criterion, ...]
) -> Certificate | None:
    """A certificate with the plan's shortest part that still succeeds as its witness.

    Args:
        suite, rules: the suite.
        task: the masked task.
        plan: the calls of each user turn.
        closing: the last message.
        criteria: to be met, the strongest first; the first one met counts.

    Returns:
        ``None`` if the checker accepts the plan by none of the criteria.
    """
    maker = _Maker(suite, rules, task, closing)
    for criterion in criteria:
        if maker.certificate(plan, criterion) is not None:
            shortest = maker.shorten(plan, criterion)
            return maker.certificate(shortest, criterion)
    return None


class _Maker:
    def __init__(self, suite: Suite, rules: Rules, task: Task, closing: str) -> None:
        self._suite, self._rules, self._task, self._closing = suite, rules, task, closing
        self._clean = replace(task, label="feasible", mask=frozenset())
        self._stage = Stage(suite, task)

    def shorten(self, plan: Plan, criterion: Criterion) -> Plan:
        """Without the calls that are not needed, tried from the last to the first."""
        for turn in reversed(range(len(plan))):
            for at in reversed(range(len(plan[turn]))):
                calls = (*plan[turn][:at], *plan[turn][at + 1 :])
                shorter = (*plan[:turn], calls, *plan[turn + 1 :])
                if self.certificate(shorter, criterion) is not None:
                    plan = shorter
        return plan

    def certificate(self, plan: Plan, criterion: Criterion) -> Certificate | None:
        """A certificate that the checker accepts, or ``None``."""
        trace = self._stage.play(self._actions(plan))
        made = Certificate(
            task_id=self._task.id,
            mask=tuple(sorted(self._task.mask)),
            answer="feasible",
            criterion=criterion,
            witness=trace,
            kind=kind_of(self._task, [call for calls in plan for call in calls]),
        )
        return None if check(self._suite, self._rules, self._clean, made) else made

    def _actions(self, plan: Plan) -> Iterator[Action]:
        for turn, calls in enumerate(plan):
            yield from _grouped(calls, self._stage.cap - 1)
            yield Message(self._closing if turn == len(plan) - 1 else "Done.")


def _grouped(calls: tuple[ToolCall, ...], most: int) -> Iterator[ToolCalls]:
    """One call a decision where there are decisions enough, else the last ones together."""
    single = calls if len(calls) <= most else calls[: most - 1]
    yield from (ToolCalls((call,)) for call in single)
    if len(single) < len(calls):
        yield ToolCalls(calls[len(single) :])
