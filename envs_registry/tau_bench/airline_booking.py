"""Booking a reservation, the longest of the airline tools, and the seats that changing one needs too."""

from __future__ import annotations

from typing import Any, Final

from envs_registry.tau_bench.common import dump, find, stop
from envs_registry.tau_bench.database import View

_NOW: Final = "2024-05-15T15:00:00"
_NEW_RESERVATIONS: Final = ("HATHAT", "HATHAU", "HATHAV")


def take_seats(data: View, flight: Any, cabin: Any, passengers: Any) -> None:
    """Block SEAT: check a requested flight, and write its price and route into it."""
    number = flight["flight_number"]
    stored = find(data["flights"], number, f"flight {number} not found")
    date = flight["date"]
    if date not in stored["dates"]:
        stop(f"flight {number} not found on date {date}")
    day = stored["dates"][date]
    if day["status"] != "available":
        stop(f"flight {number} not available on date {date}")
    if day["available_seats"][cabin] < len(passengers):
        stop(f"not enough seats on flight {number}")
    flight["price"] = day["prices"][cabin]
    flight["origin"] = stored["origin"]
    flight["destination"] = stored["destination"]


def book_reservation(
    data: View,
    user_id: Any,
    origin: Any,
    destination: Any,
    flight_type: Any,
    cabin: Any,
    flights: Any,
    passengers: Any,
    payment_methods: Any,
    total_baggages: Any,
    nonfree_baggages: Any,
    insurance: Any,
) -> str:
    """Section 10.1."""
    find(data["users"], user_id, "user not found")
    first, second, last = _NEW_RESERVATIONS
    reservations = data["reservations"]
    reservation_id = next((one for one in (first, second) if one not in reservations), last)
    reservation = {
        "reservation_id": reservation_id,
        "user_id": user_id,
        "origin": origin,
        "destination": destination,
        "flight_type": flight_type,
        "cabin": cabin,
        "flights": flights,
        "passengers": passengers,
        "payment_history": payment_methods,
        "created_at": _NOW,
        "total_baggages": total_baggages,
        "nonfree_baggages": nonfree_baggages,
        "insurance": insurance,
    }
    total = _booking_price(data, flights, cabin, passengers, nonfree_baggages, insurance)
    _check_payments(data, user_id, payment_methods, total)
    _settle(data, user_id, payment_methods)
    reservations.put(reservation_id, reservation)
    data["users"].edit(user_id)["reservations"].append(reservation_id)
    return dump(reservation)


def _booking_price(
    data: View, flights: Any, cabin: Any, passengers: Any, nonfree_baggages: Any, insurance: Any
) -> Any:
    total = 0
    for flight in flights:
        take_seats(data, flight, cabin, passengers)
        total += flight["price"] * len(passengers)
    if insurance == "yes":
        total += 30 * len(passengers)
    total += 50 * _repeatable(nonfree_baggages)
    return total


def _check_payments(data: View, user_id: str, payments: Any, total: Any) -> None:
    """Each payment alone against the unchanged balance; then their sum, exactly."""
    methods = data["users"][user_id]["payment_methods"]
    for payment in payments:
        payment_id, amount = payment["payment_id"], payment["amount"]
        if payment_id not in methods:
            stop(f"payment method {payment_id} not found")
        method = methods[payment_id]
        if method["source"] in ("gift_card", "certificate") and method["amount"] < amount:
            stop(f"not enough balance in payment method {payment_id}")
    paid = 0
    for payment in payments:
        paid = paid + payment["amount"]  # not sum(), which from Python 3.12 on adds floats more precisely
    if paid != total:
        stop(f"payment amount does not add up, total price is {total}, but paid {paid}")


def _settle(data: View, user_id: str, payments: Any) -> None:
    """A gift card pays its amount, a certificate is used up whole."""
    methods = data["users"].edit(user_id)["payment_methods"]
    for payment in payments:
        method = methods[payment["payment_id"]]
        if method["source"] == "gift_card":
            method["amount"] -= payment["amount"]
        elif method["source"] == "certificate":
            del methods[payment["payment_id"]]


def _repeatable(value: Any) -> Any:
    """``value``, emptied if it is text or a list.

    Python repeats those when multiplied and refuses them in the addition that follows; a long one must not
    fill the memory in between.
    """
    return value[:0] if isinstance(value, str | list) else value
