"""Tokens of an episode by role (paper 1, Table 11)."""

from __future__ import annotations

from toolenv.ledger import AGENT, Ledger, add_ledgers, read_ledger
from toolenv.trace import Trace
from toolenv.types import Usage


def role_usage(trace: Trace) -> dict[str, Usage]:
    """The tokens of an episode by role; together they are ``trace.usage``.

    A policy that is not made of several has one role, ``agent``; tokens of generations that led to no
    decision (``trace.lost_usage``) count there, too, unless it is known whose they were. A role inside a
    role is named ``outer/inner``.
    """
    ledgers: list[Ledger] = [read_ledger(step.action) for step in trace.steps]
    if trace.continuation is not None and trace.continuation.lost_usage is not None:
        ledgers.append({AGENT: trace.continuation.lost_usage})
    if trace.lost_usage is not None:
        ledgers.append(dict(trace.trouble.lost_by_role) or {AGENT: trace.lost_usage})
    return add_ledgers(ledgers)
