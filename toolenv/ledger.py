"""Tokens by role: who, inside a policy made of several, spent those of one decision (Table 11).

The ledger of a decision is part of what it keeps for readers of a trace (its ``raw``; ``record`` of a
malformed one): ``{"roles": {"planner": {…}, "executor": {…}}}``, each entry the fields of a
:class:`~toolenv.types.Usage`. A role inside a role is written ``outer/inner``. The entries add up to the
decision's own usage; a ledger that does not is none, since a model's reply may hold any key.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, TypeAlias

from toolenv.actions import own_words
from toolenv.hygiene import clean_raw
from toolenv.json_values import UnusableValueError, clean_json
from toolenv.rendering import cut
from toolenv.types import LARGEST_COUNT, Action, Malformed, Usage, total_usage

Ledger: TypeAlias = dict[str, Usage]

AGENT = "agent"
"""The role of whatever was spent outside any named one: all of it, where a policy is not made of several."""

ROLES_KEY = "roles"
MAX_KEPT = 20_000
"""Characters of a record that are kept as text where it is no JSON value or too large for one."""

_FIELDS = frozenset(field.name for field in fields(Usage))
_LATER = frozenset({"recalled_input_tokens", "recalled_output_tokens"})
"""What the ledgers of earlier versions lack."""


def read_ledger(action: Action) -> Ledger:
    """The tokens behind one decision by role; all under :data:`AGENT` where it has no sound ledger."""
    usage = action.usage or Usage()
    kept = kept_of(action)
    roles = kept.get(ROLES_KEY) if isinstance(kept, Mapping) else None
    ledger = ledger_from_json(roles) if roles else None
    return ledger if ledger and total_usage(ledger.values()) == usage else {AGENT: usage}


def ledger_from_json(roles: object) -> Ledger | None:
    """The ledger that :func:`ledger_to_json` wrote; ``None`` of anything else."""
    if not isinstance(roles, Mapping):
        return None
    ledger = {str(role): _usage(entry) for role, entry in roles.items()}
    known = {role: entry for role, entry in ledger.items() if entry is not None}
    return known if len(known) == len(ledger) else None


def ledger_to_json(ledger: Mapping[str, Usage]) -> dict[str, dict[str, Any]]:
    """``{ROLE: {"input_tokens": …, …}, …}``."""
    return {role: _plain(usage) for role, usage in ledger.items()}


def write_ledger(action: Action, ledger: Mapping[str, Usage], notes: Mapping[str, Any]) -> Action:
    """``action`` with the ledger's total as its usage, and ledger and notes in what it keeps for readers.

    What it kept before stays beside them; under ``inner`` where it has one of their names already.
    """
    plain = ledger_to_json(ledger)
    told = dict(notes) if set(ledger) == {AGENT} else {ROLES_KEY: plain, **notes}
    before = kept_of(action)
    if before is None:
        kept: Any = told or None
    elif isinstance(before, Mapping):
        earlier = {key: value for key, value in before.items() if key != ROLES_KEY}
        kept = {"inner": earlier, **told} if earlier.keys() & told.keys() else {**earlier, **told}
    else:
        kept = {"inner": before, **told}
    return with_kept(action, _bounded(kept, told), total_usage(ledger.values()))


def add_ledgers(ledgers: Iterable[Mapping[str, Usage]]) -> Ledger:
    """Several ledgers as one, role by role."""
    parts: dict[str, list[Usage]] = {}
    for ledger in ledgers:
        for role, usage in ledger.items():
            parts.setdefault(role, []).append(usage)
    return {role: total_usage(usages) for role, usages in parts.items()}


def under_role(role: str, ledger: Mapping[str, Usage]) -> Ledger:
    """The ledger of a policy that plays ``role`` in another; ``""`` leaves it as it is."""
    if not role:
        return dict(ledger)
    return {role if inner == AGENT else f"{role}/{inner}": usage for inner, usage in ledger.items()}


def kept_of(action: Action) -> Any:
    """What an action keeps for readers of the trace: a plain dict as it is, else a JSON value or text."""
    kept = action.record if isinstance(action, Malformed) else action.raw
    return kept if type(kept) is dict else clean_raw(kept)


def with_kept(action: Action, kept: Any, usage: Usage) -> Action:
    """``action`` with another usage, and other things kept for readers of the trace."""
    if isinstance(action, Malformed):
        return replace(action, usage=usage, record=kept)
    return replace(action, usage=usage, raw=kept)


def _bounded(kept: Any, told: Mapping[str, Any]) -> Any:
    """``kept`` if a trace can hold it; else the ledger and notes in full and the rest as short text."""
    try:
        return clean_json(kept)[0]
    except UnusableValueError:
        return {"inner": cut(own_words(kept), MAX_KEPT), **told}


def _plain(usage: Usage) -> dict[str, Any]:
    """The fields of a usage as JSON; counts may be whole numbers of numpy or torch."""
    values = {field.name: getattr(usage, field.name) for field in fields(Usage)}
    return {
        name: value if value is None or isinstance(value, bool) else operator.index(value)
        for name, value in values.items()
    }


def _usage(entry: object) -> Usage | None:
    """The usage that an entry of a ledger holds; ``None`` if it is none."""
    if not isinstance(entry, Mapping) or not (_FIELDS - _LATER <= entry.keys() <= _FIELDS):
        return None
    counts = {name: value for name, value in entry.items() if name != "estimated"}
    totals = ("input_tokens", "output_tokens")
    sound = all(_is_count(value) or (value is None and name in totals) for name, value in counts.items())
    return Usage(**entry) if sound and isinstance(entry["estimated"], bool) else None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_COUNT
