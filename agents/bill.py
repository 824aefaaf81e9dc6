"""What one decision of a composed policy costs, generation by generation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolenv.actions import check_action
from toolenv.deliberation import deliberation
from toolenv.errors import ContextWindowError, ServerError
from toolenv.ledger import AGENT, Ledger, add_ledgers, kept_of, read_ledger, under_role, write_ledger
from toolenv.policy import Deliberation, Policy
from toolenv.trouble import within
from toolenv.types import (
    NO_TOKENS,
    Action,
    Malformed,
    Observation,
    ToolCalls,
    Usage,
    total_usage,
)
from toolenv.usage import as_retried


class Bill:
    """Asks the parts for one decision and keeps account; made for each decision anew.

    No token is lost (FIELD-011): if a part fails, the error holds what the ones before it cost.
    """

    def __init__(self) -> None:
        self._entries: list[Ledger] = []

    @property
    def total(self) -> Usage:
        """What all that was asked so far costs."""
        return total_usage(usage for ledger in self._entries for usage in ledger.values())

    def ask(self, policy: Policy, observation: Observation, memory: Any, *, role: str = "") -> Deliberation:
        """One decision of a part, and its memory.

        Args:
            policy: the part.
            observation: what it is to see.
            memory: its own.
            role: under which its tokens are booked; ``""`` for a part that plays none.

        Raises:
            UsageError: it gave something that is no action.
        """
        try:
            action, memory = yield from deliberation(policy, observation, memory)
        except (ServerError, ContextWindowError) as error:
            own = error.ledger or {AGENT: error.usage or NO_TOKENS}
            error.ledger = add_ledgers([*self._entries, under_role(role, own)])
            error.usage, error.role = total_usage(error.ledger.values()), within(role, error.role)
            raise
        action = _with_calls(check_action(action, f"policy {policy.name!r}"))
        self._entries.append(under_role(role, read_ledger(action)))
        return action, memory

    def throw_away(self) -> None:
        """Mark what the last one asked cost as spent on an attempt that is not used."""
        self._entries[-1] = {role: as_retried(usage) for role, usage in self._entries[-1].items()}

    def settle(self, action: Action, notes: Mapping[str, Any] | None = None, *, role: str = AGENT) -> Action:
        """``action`` with the whole bill as its usage and ledger.

        Args:
            action: what is decided.
            notes: JSON values worth keeping for a reader of the trace.
            role: whose decision it is where nobody was asked for it.
        """
        entries = self._entries or [{role: NO_TOKENS}]
        return write_ledger(action, add_ledgers(entries), notes or {})


def _with_calls(action: Action) -> Action:
    """The action; calls without any call are malformed, as for the environment."""
    if not isinstance(action, ToolCalls) or action.calls:
        return action
    why = "a tool call without any call"
    return Malformed(action.text, why, usage=action.usage, record=kept_of(action))
