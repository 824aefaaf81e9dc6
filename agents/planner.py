"""``planner(SPEC)->executor(SPEC)``: one policy plans in two rounds, the other acts (§5, Appendix C)."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

from toolenv.errors import UsageError
from toolenv.ledger import MAX_KEPT
from toolenv.policy import Answer, Ask, Deliberation, Policy, PolicyFunction, as_policy
from toolenv.rendering import cut
from toolenv.task import Task
from toolenv.types import Action, Malformed, Message, Observation, Stop, ToolCalls

from .asides import Aside, with_asides
from .bill import Bill
from .composed import Composed, beginning
from .planner_prompts import PLANNER_PROMPT_VERSION, first_round, plan_message, second_round
from .stops import as_stop

MAX_EXECUTOR_TURNS = 8
"""The paper's ``max_executor_turns`` (Appendix C)."""

PLANNER, EXECUTOR = "planner", "executor"


@dataclass(frozen=True, slots=True)
class PairMemory:
    """What a pair keeps within an episode.

    Attributes:
        planner: the planner's memory at the start of the episode; every planning starts from it.
        executor: the executor's memory.
        plans: the plans so far, where the executor sees them.
        planned: whether the running user turn has been planned.
        decisions: the executor's decisions since.
        turns_left: decisions the environment had left at the last one.
        closed: whether the last decision closed a user turn.
    """

    planner: Any = None
    executor: Any = None
    plans: tuple[Aside, ...] = ()
    planned: bool = False
    decisions: int = 0
    turns_left: int = 0
    closed: bool = False

    def needs_plan(self, observation: Observation) -> bool:
        """Whether nothing is planned yet, or a user turn with an allowance of its own begins.

        What a simulated user answers is no such turn: the cap on decisions runs on.
        """
        more = observation.turns_left - self.turns_left
        return not self.planned or more > 0 or (self.closed and more == 0)


class PlannerExecutor(Composed):
    """A planner and an executor as one policy.

    The planner is asked twice, without tools it could call: to decompose the task and name the capabilities
    it requires, then to check them against the tools offered and to answer ``STOP: …`` or a plan. Its stop,
    in either round, is the pair's. Otherwise the executor sees the conversation with the plan, decides at
    most ``max_executor_turns`` times, and may stop, too; after that the pair closes the user turn with an
    empty message, which is no stop. Both are done anew wherever the environment grants a new user turn an
    allowance of decisions of its own.

    Only words make a plan: the planner's calls are not made, and without words (unreadable output, calls
    alone) the executor acts without a plan. Words cut off at the token limit count as far as they go, but
    never as a stop.

    Args:
        planner, executor: the two; may be of any kind, and the same.
        max_executor_turns: the executor's decisions in a user turn.
        name: shown in tables.

    Raises:
        UsageError: fewer than one decision.
    """

    def __init__(
        self,
        planner: Policy | PolicyFunction,
        executor: Policy | PolicyFunction,
        *,
        max_executor_turns: int = MAX_EXECUTOR_TURNS,
        name: str = "",
    ) -> None:
        if max_executor_turns < 1:
            raise UsageError(f"max_executor_turns={max_executor_turns}: give at least 1")
        self.planner, self.executor = as_policy(planner), as_policy(executor)
        self.max_executor_turns = max_executor_turns
        super().__init__(
            name or f"planner({self.planner.name})->executor({self.executor.name})",
            {PLANNER: self.planner, EXECUTOR: self.executor},
            max_executor_turns=max_executor_turns,
            planner_prompt_version=PLANNER_PROMPT_VERSION,
        )

    def begin(self, task: Task | None = None, seed: int | None = None) -> PairMemory:
        """Nothing planned, nothing decided."""
        planner = beginning(self.planner, task, seed, PLANNER)
        return PairMemory(planner, beginning(self.executor, task, seed, EXECUTOR))

    def deliberate(self, observation: Observation, memory: PairMemory | None) -> Deliberation:
        """Plan where a plan is due, then let the executor decide."""
        memory = self.begin() if memory is None else memory
        bill = Bill()
        planning: dict[str, Any] = {}
        if memory.needs_plan(observation):
            memory = replace(memory, planned=False, closed=False, turns_left=observation.turns_left)
            stop, answers = yield from self._plan(bill, observation, memory.planner)
            planning = {"planning": answers}
            if stop is not None:
                return bill.settle(stop, planning), memory
            memory = _with_plan(memory, observation, answers[-1])
        if memory.decisions >= self.max_executor_turns:
            memory = replace(memory, turns_left=observation.turns_left)
            return bill.settle(Message(""), {"closed": "max_executor_turns"}, role=EXECUTOR), memory
        action, memory = yield from self._execute(bill, observation, memory)
        return bill.settle(action, planning), memory

    def _plan(
        self, bill: Bill, observation: Observation, memory: Any
    ) -> Generator[Ask, Answer, tuple[Stop | None, list[str]]]:
        """The planner's stop, if it stops, and its words in each round."""
        seen, answers = first_round(observation), list[str]()
        for last in (False, True):
            answer, memory = yield from bill.ask(self.planner, seen, memory, role=PLANNER)
            stop = as_stop(answer)
            answers.append(cut(_words(answer), MAX_KEPT))
            if stop is not None or last:
                break
            seen = second_round(seen, answers[0])
        return stop, answers

    def _execute(self, bill: Bill, observation: Observation, memory: PairMemory) -> Deliberation:
        left = min(observation.turns_left, self.max_executor_turns - memory.decisions)
        seen = replace(with_asides(observation, memory.plans), turns_left=left)
        action, executor = yield from bill.ask(self.executor, seen, memory.executor, role=EXECUTOR)
        return action, replace(
            memory,
            executor=executor,
            decisions=memory.decisions + 1,
            turns_left=observation.turns_left,
            closed=isinstance(action, Message),
        )


def _with_plan(memory: PairMemory, observation: Observation, plan: str) -> PairMemory:
    """The running user turn is planned; without words the executor is told nothing."""
    told = (Aside(len(observation.messages), (plan_message(plan),)),) if plan.strip() else ()
    return replace(memory, plans=(*memory.plans, *told), planned=True, decisions=0)


def _words(answer: Action) -> str:
    """What the planner says in a round."""
    if isinstance(answer, Malformed):
        return answer.raw if answer.kind == "length" else ""
    if isinstance(answer, Stop):
        return f"STOP: {answer.reason}"
    return answer.text if isinstance(answer, ToolCalls | Message) else ""
