"""What an agent can come to know with some of τ-bench's tools, at the most.

Records are told to those who know their keys. Starting from the conversation and the documentation, whatever
a tool can tell of what is known so far is added, until nothing new comes. Tools that change a record tell it,
too; what they change in it was an argument, and so known before, or comes from other records.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from envs_registry.tau_bench.database import Record, View
from toolenv.feasibility.certificates.grounding import Knowledge, told
from toolenv.task import Task

_TELLS: Final[Mapping[str, tuple[str, ...]]] = {
    "cancel_pending_order": ("orders",),
    "exchange_delivered_order_items": ("orders",),
    "get_order_details": ("orders",),
    "get_product_details": ("products",),
    "get_user_details": ("users",),
    "modify_pending_order_address": ("orders",),
    "modify_pending_order_items": ("orders", "products"),
    "modify_pending_order_payment": ("orders",),
    "modify_user_address": ("users",),
    "return_delivered_order_items": ("orders",),
    "book_reservation": ("flights",),
    "cancel_reservation": ("reservations",),
    "get_reservation_details": ("reservations",),
    "update_reservation_baggages": ("reservations",),
    "update_reservation_flights": ("reservations", "flights"),
    "update_reservation_passengers": ("reservations",),
}
"""The tables of which a tool tells the records whose keys it is given."""

_TELLS_ALL: Final[Mapping[str, str]] = {
    "search_direct_flight": "flights",
    "search_onestop_flight": "flights",
}
"""Tools that tell of a whole table, and so are taken to tell all of it."""

NEW_KEYS: Final = (
    "certificate_3221322 certificate_3221323 certificate_3221324 HATHAT HATHAU HATHAV 2024-05-15T15:00:00"
)
"""What tools put into new records of their own accord."""


def knowable(task: Task, data: View) -> Knowledge:
    """All that can be known with the tools of a masked task.

    Args:
        task: the task.
        data: the database before the first call.
    """
    tools = {tool.name for tool in task.offered()}
    known = told(task.messages, task.offered()).plus(NEW_KEYS)
    open_tables = {table for tool in tools for table in _TELLS.get(tool, ())}
    known = known.plus(*(_dump(data, table) for tool, table in _TELLS_ALL.items() if tool in tools))
    if "list_all_product_types" in tools:
        known = known.plus(*(f"{one['name']} {one['product_id']}" for _, one in data["products"].items()))
    seen: set[tuple[str, str]] = set()
    while found := list(_told_next(tools, open_tables, data, known, seen)):
        known = known.plus(*found)
    return known


def _told_next(
    tools: set[str], open_tables: set[str], data: View, known: Knowledge, seen: set[tuple[str, str]]
) -> Iterator[str]:
    is_known = _any_word_of(known)
    for table in sorted(open_tables):
        for key, record in data[table].items():
            if (table, key) not in seen and is_known(key):
                seen.add((table, key))
                yield json.dumps(record)
    for tool, asks in FINDING.items():
        if tool in tools:
            for key, user in data["users"].items():
                if (tool, key) not in seen and all(map(is_known, asks(user))):
                    seen.add((tool, key))
                    yield key


def _any_word_of(known: Knowledge) -> Callable[[str], bool]:
    """:meth:`Knowledge.has`, fast for many texts."""
    merged = Knowledge((known.merged(),))
    return merged.has


FINDING: Final[Mapping[str, Callable[[Record], Iterable[str]]]] = {
    "find_user_id_by_email": lambda user: (user["email"],),
    "find_user_id_by_name_zip": lambda user: (
        user["name"]["first_name"],
        user["name"]["last_name"],
        user["address"]["zip"],
    ),
}
"""What has to be known of a user to be told the user's id."""


@lru_cache(maxsize=8)
def _dump_of(records: tuple[str, ...]) -> str:
    return "\n".join(records)


def _dump(data: View, table: str) -> str:
    records: Any = data[table].items()
    return _dump_of(tuple(json.dumps(record) for _, record in records))
