"""Which calls of τ-bench's tools somebody can make who does not guess, where these are finite in number.

A tool that asks for the key of a record answers all others alike, changes nothing then and tells nothing; so
only keys count that are there and known (``tests/envs_registry/tau_bench/test_finite.py``). Tools that take
texts, numbers or lists besides have calls without end as soon as such a key is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from envs_registry.tau_bench.database import View
from envs_registry.tau_bench.revealing import FINDING
from toolenv.feasibility.certificates.grounding import Knowledge
from toolenv.task import Task
from toolenv.types import ToolCall

KEYS: Final[Mapping[str, tuple[str, str]]] = {
    "cancel_pending_order": ("order_id", "orders"),
    "exchange_delivered_order_items": ("order_id", "orders"),
    "get_order_details": ("order_id", "orders"),
    "get_product_details": ("product_id", "products"),
    "get_user_details": ("user_id", "users"),
    "modify_pending_order_address": ("order_id", "orders"),
    "modify_pending_order_items": ("order_id", "orders"),
    "modify_pending_order_payment": ("order_id", "orders"),
    "modify_user_address": ("user_id", "users"),
    "return_delivered_order_items": ("order_id", "orders"),
    "book_reservation": ("user_id", "users"),
    "cancel_reservation": ("reservation_id", "reservations"),
    "get_reservation_details": ("reservation_id", "reservations"),
    "send_certificate": ("user_id", "users"),
    "update_reservation_baggages": ("reservation_id", "reservations"),
    "update_reservation_flights": ("reservation_id", "reservations"),
    "update_reservation_passengers": ("reservation_id", "reservations"),
}
"""The parameter that has to be the key of a record, and the table it is in."""

CHOICES: Final[Mapping[str, tuple[Mapping[str, str], ...]]] = {
    "cancel_pending_order": ({"reason": "no longer needed"}, {"reason": "ordered by mistake"}),
    "cancel_reservation": ({},),
    "get_order_details": ({},),
    "get_product_details": ({},),
    "get_reservation_details": ({},),
    "get_user_details": ({},),
}
"""All that can be given besides the key, where that is finite."""

WITHOUT_ARGUMENTS: Final = frozenset({"list_all_airports", "list_all_product_types"})

TELLING_NOTHING: Final = frozenset({"calculate", "think", "transfer_to_human_agents"})
"""They change nothing and tell nothing that was not given to them."""


def grounded_calls(task: Task, data: View, known: Knowledge) -> tuple[ToolCall, ...] | None:
    """All calls of the tools left; ``None`` where they are not finite in number."""
    found: list[ToolCall] = []
    is_known = Knowledge((known.merged(),)).has
    for tool in task.offered():
        calls = _calls(tool.name, data, is_known)
        if calls is None:
            return None
        found += (ToolCall(tool.name, arguments) for arguments in calls)
    return tuple(found)


def _calls(name: str, data: View, is_known: Any) -> list[dict[str, Any]] | None:
    if name in TELLING_NOTHING:
        return []
    if name in WITHOUT_ARGUMENTS:
        return [{}]
    if name in FINDING:
        return list(_finding(name, data, is_known))
    if name not in KEYS:
        return None
    parameter, table = KEYS[name]
    keys = [key for key, _ in data[table].items() if is_known(key)]
    if keys and name not in CHOICES:
        return None
    return [{parameter: key, **chosen} for key in keys for chosen in CHOICES.get(name, ())]


def _finding(name: str, data: View, is_known: Any) -> Iterator[dict[str, Any]]:
    names = ("email",) if name == "find_user_id_by_email" else ("first_name", "last_name", "zip")
    for _, user in data["users"].items():
        values = tuple(FINDING[name](user))
        if all(map(is_known, values)):
            yield dict(zip(names, values, strict=True))
