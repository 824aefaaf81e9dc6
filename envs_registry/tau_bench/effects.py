"""What each tool of τ-bench may change, as declared here by hand.

A place is ``(table, key, field, …)``; ``*`` stands for any part of it. What is added or removed is a key of
an object; a list changes as a whole. ``tests/envs_registry/tau_bench/test_effects.py`` holds the declarations
against what the tools do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

Place: TypeAlias = tuple[str, ...]
Way: TypeAlias = Literal["added", "changed", "removed"]


@dataclass(frozen=True, slots=True)
class Effect:
    """One thing that happens to a record: in which way, and where."""

    way: Way
    place: Place

    def covers(self, other: Effect) -> bool:
        """Whether a declared effect allows for one that was observed."""
        return (
            self.way == other.way
            and len(self.place) == len(other.place)
            and all(mine in ("*", part) for mine, part in zip(self.place, other.place, strict=True))
        )


def _effects(way: Way, *places: str) -> tuple[Effect, ...]:
    return tuple(Effect(way, tuple(place.split("/"))) for place in places)


_GIFT_CARD: Final = _effects("changed", "users/*/payment_methods/*/balance")
_AIRLINE_CARD: Final = _effects("changed", "users/*/payment_methods/*/amount")
_ADDRESS: Final = ("address1", "address2", "city", "state", "country", "zip")

EFFECTS: Final[Mapping[str, tuple[Effect, ...]]] = {
    # retail
    "cancel_pending_order": (
        *_effects("changed", "orders/*/status", "orders/*/payment_history"),
        *_effects("added", "orders/*/cancel_reason"),
        *_GIFT_CARD,
    ),
    "exchange_delivered_order_items": (
        *_effects("changed", "orders/*/status"),
        *_effects(
            "added",
            "orders/*/exchange_items",
            "orders/*/exchange_new_items",
            "orders/*/exchange_payment_method_id",
            "orders/*/exchange_price_difference",
        ),
    ),
    "modify_pending_order_address": _effects("changed", *(f"orders/*/address/{part}" for part in _ADDRESS)),
    "modify_pending_order_items": (
        *_effects("changed", "orders/*/status", "orders/*/payment_history", "orders/*/items"),
        *_GIFT_CARD,
    ),
    "modify_pending_order_payment": (*_effects("changed", "orders/*/payment_history"), *_GIFT_CARD),
    "modify_user_address": _effects("changed", *(f"users/*/address/{part}" for part in _ADDRESS)),
    "return_delivered_order_items": (
        *_effects("changed", "orders/*/status"),
        *_effects("added", "orders/*/return_items", "orders/*/return_payment_method_id"),
    ),
    # airline
    "book_reservation": (
        *_effects("added", "reservations/*"),
        *_effects("removed", "users/*/payment_methods/*"),
        *_effects("changed", "users/*/reservations"),
        # The third new reservation is overwritten by those that follow.
        *(
            effect
            for way in get_args(Way)
            for effect in _effects(way, "reservations/HATHAV/*", "reservations/HATHAV/*/*")
        ),
        *_AIRLINE_CARD,
    ),
    "cancel_reservation": (
        *_effects("changed", "reservations/*/payment_history"),
        *_effects("added", "reservations/*/status"),
        *_effects("changed", "reservations/*/status"),
    ),
    "send_certificate": _effects("added", "users/*/payment_methods/*"),
    "update_reservation_baggages": (
        *_effects(
            "changed",
            "reservations/*/total_baggages",
            "reservations/*/nonfree_baggages",
            "reservations/*/payment_history",
        ),
        *_AIRLINE_CARD,
    ),
    "update_reservation_flights": (
        *_effects("changed", "reservations/*/flights", "reservations/*/payment_history"),
        *_AIRLINE_CARD,
    ),
    "update_reservation_passengers": _effects("changed", "reservations/*/passengers"),
}
"""What each tool may change; the tools that are not here change nothing."""

SETS: Final[Mapping[tuple[str, str], frozenset[Any]]] = {
    ("cancel_pending_order", "status"): frozenset({"cancelled"}),
    ("exchange_delivered_order_items", "status"): frozenset({"exchange requested"}),
    ("modify_pending_order_items", "status"): frozenset({"pending (item modified)"}),
    ("return_delivered_order_items", "status"): frozenset({"return requested"}),
    ("cancel_reservation", "status"): frozenset({"cancelled"}),
}
"""All values to which a tool may set a field."""

MARKS: Final[Mapping[str, tuple[str, str]]] = {
    "cancel_pending_order": ("status", "cancelled"),
    "modify_pending_order_items": ("status", "pending (item modified)"),
}
"""What stays for good in an order whose payments one of these tools has changed: no tool changes the status
of such an order, since all ask for ``pending`` or ``delivered``."""


GIVEN: Final = frozenset(
    {
        "exchange_items",
        "exchange_new_items",
        "exchange_payment_method_id",
        "return_items",
        "return_payment_method_id",
        "passengers",
        *_ADDRESS,
    }
)
"""Fields whose texts are arguments as they were given."""

GIVEN_IDS: Final[Mapping[str, str]] = {
    "items": "item_id",
    "flights": "flight_number",
    "payment_history": "payment_method_id",
}
"""Fields that hold lists of objects, and the part of these objects that is an argument."""


def observed(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[Effect, Any]]:
    """What happened between two states of some tables, with the value that is there now."""
    for table in sorted({*before, *after}):
        yield from _in_object(before.get(table, {}), after.get(table, {}), (table,))


def _in_object(
    before: Mapping[str, Any], after: Mapping[str, Any], place: Place
) -> Iterator[tuple[Effect, Any]]:
    for key in sorted({*before, *after}):
        here = (*place, key)
        if key not in before:
            yield Effect("added", here), after[key]
        elif key not in after:
            yield Effect("removed", here), None
        elif isinstance(before[key], dict) and isinstance(after[key], dict):
            yield from _in_object(before[key], after[key], here)
        elif before[key] != after[key]:
            yield Effect("changed", here), after[key]
