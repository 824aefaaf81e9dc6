"""``budget(20000,SPEC)``: an agent that may spend so many tokens in an episode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from toolenv.errors import PreflightError, ServerError, UnknownNameError, UsageError
from toolenv.ledger import Ledger
from toolenv.policy import Deliberation, Policy, PolicyFunction, as_policy
from toolenv.task import Task
from toolenv.types import Action, Message, Observation, Stop, total_usage

from .bill import Bill
from .composed import Composed, beginning
from .specs import whole_number

ENDINGS = ("close", "stop")
UNCOUNTED = "a token budget needs the tokens of every decision, and"


@dataclass(frozen=True, slots=True)
class BudgetMemory:
    """The inner policy's memory, and the tokens spent in this episode."""

    inner: Any = None
    spent: int = 0


class Budget(Composed):
    """Asks the inner policy until ``tokens`` are spent, input and output together; then ends by itself.

    The budget is looked at before a decision, so that the last one may overdraw it. It then closes every user
    turn with an empty message, which is no stop: running out of tokens is no sign of having recognised
    anything (FIELD-005). ``ending="stop"`` stops instead, for studies of just that.

    Args:
        tokens: at least 1.
        inner: who spends them.
        ending: ``close`` or ``stop``.
        name: shown in tables.

    Raises:
        UsageError: no budget at all, or another ending.
    """

    def __init__(
        self,
        tokens: int,
        inner: Policy | PolicyFunction,
        *,
        ending: Literal["close", "stop"] = "close",
        name: str = "",
    ) -> None:
        if tokens < 1:
            raise UsageError(f"budget: tokens={tokens}; give at least 1")
        if ending not in ENDINGS:
            raise UnknownNameError("ending", ending, ENDINGS, where="agent budget")
        self.tokens, self.inner, self.ending = tokens, as_policy(inner), ending
        shown = "" if ending == "close" else f"{ending},"
        super().__init__(name or f"budget({tokens},{shown}{self.inner.name})", {"": self.inner})

    def begin(self, task: Task | None = None, seed: int | None = None) -> BudgetMemory:
        """Nothing spent."""
        return BudgetMemory(beginning(self.inner, task, seed))

    def deliberate(self, observation: Observation, memory: BudgetMemory | None) -> Deliberation:
        """The inner policy's decision while there are tokens left.

        Raises:
            ServerError: a server did not say what a decision cost.
            UsageError: the inner policy counts no tokens.
        """
        memory = self.begin() if memory is None else memory
        bill = Bill()
        if memory.spent >= self.tokens:
            return bill.settle(self._end(memory.spent), {"closed": "budget", "spent": memory.spent}), memory
        action, inner = yield from bill.ask(self.inner, observation, memory.inner)
        return bill.settle(action), BudgetMemory(inner, memory.spent + self._cost(action))

    def preflight_by_role(self) -> Ledger:
        """The inner policy's own check.

        Raises:
            PreflightError: it failed, or showed that the server counts no tokens.
        """
        ledger = super().preflight_by_role()
        usage = total_usage(ledger.values())
        if not usage.known:
            error = PreflightError(f"{self.name}: {UNCOUNTED} the server reports none", usage)
            error.ledger = ledger
            raise error
        return ledger

    def _end(self, spent: int) -> Action:
        if self.ending == "close":
            return Message("")
        return Stop(f"the budget of {self.tokens} tokens is spent ({spent})")

    def _cost(self, action: Action) -> int:
        if action.usage is None:
            raise UsageError(f"{self.name}: {UNCOUNTED} policy {self.inner.name!r} gives none")
        if action.usage.total_tokens is None:
            raise ServerError(
                f"{self.name}: {UNCOUNTED} the server did not report them",
                action.usage,
                trouble="server/no_usage",
            )
        return action.usage.total_tokens


def compose(arguments: Sequence[str], inner: Policy) -> Budget:
    """``budget(TOKENS,SPEC)``, or ``budget(TOKENS,close|stop,SPEC)``."""
    ending = arguments[1] if len(arguments) == 2 else "close"
    tokens = whole_number("budget", "TOKENS", arguments[:1] if len(arguments) == 2 else arguments)
    return Budget(tokens, inner, ending=cast(Literal["close", "stop"], ending))
