"""The airline tools. Section numbers are those of TOOLS.md; so is the order of the steps.

Arguments are as for :mod:`envs_registry.tau_bench.retail`. Flights never change: seats are neither taken nor
given back. Nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from envs_registry.tau_bench.airline_booking import book_reservation, take_seats
from envs_registry.tau_bench.common import (
    calculate,
    dump,
    find,
    get_user_details,
    stop,
    think,
    transfer_to_human_agents,
)
from envs_registry.tau_bench.database import Record, View

_NEW_CERTIFICATES: Final = ("certificate_3221322", "certificate_3221323", "certificate_3221324")
_AIRPORTS: Final = (
    "SFO San Francisco, JFK New York, LAX Los Angeles, ORD Chicago, DFW Dallas, DEN Denver, SEA Seattle, "
    "ATL Atlanta, MIA Miami, BOS Boston, PHX Phoenix, IAH Houston, LAS Las Vegas, MCO Orlando, EWR Newark, "
    "CLT Charlotte, MSP Minneapolis, DTW Detroit, PHL Philadelphia, LGA LaGuardia"
)


# ---- shared steps ----


def _reservation(data: View, reservation_id: Any) -> Record:
    return find(data["reservations"], reservation_id, "reservation not found")


def _method(data: View, reservation: Record, payment_id: Any) -> Record:
    """A payment method that may pay for a change of a reservation, for reading."""
    methods = data["users"][reservation["user_id"]]["payment_methods"]
    if payment_id not in methods:
        stop("payment method not found")
    method: Record = methods[payment_id]
    if method["source"] == "certificate":
        stop("certificate cannot be used to update reservation")
    return method


def _check_balance(method: Record, price: Any) -> None:
    if method["source"] == "gift_card" and method["amount"] < price:
        stop("gift card balance is not enough")


def _charge(data: View, reservation: Record, method: Record, payment_id: str, price: Any) -> None:
    if method["source"] == "gift_card":
        user = data["users"].edit(reservation["user_id"])
        user["payment_methods"][payment_id]["amount"] -= price


def _note_payment(reservation: Record, payment_id: Any, price: Any) -> None:
    if price != 0:
        reservation["payment_history"].append({"payment_id": payment_id, "amount": price})


# ---- tools that read ----


def get_reservation_details(data: View, reservation_id: Any) -> str:
    """Section 10.4, whose error text names the wrong thing."""
    return dump(find(data["reservations"], reservation_id, "user not found"))


def list_all_airports(data: View) -> str:
    """Section 10.6."""
    return dump(dict(airport.split(" ", 1) for airport in _AIRPORTS.split(", ")))


def search_direct_flight(data: View, origin: Any, destination: Any, date: Any) -> str:
    """Section 10.7."""
    found = []
    for _, flight in data["flights"].items():
        if flight["origin"] == origin and flight["destination"] == destination:
            days = flight["dates"]
            if date in days and days[date]["status"] == "available":
                found.append(_on_day(flight, date))
    return dump(found)


def search_onestop_flight(data: View, origin: Any, destination: Any, date: Any) -> str:
    """Section 10.8. After a night the second flight's seats and prices are those of the day before."""
    found = []
    for first, second in _connections(data, origin, destination):
        overnight = "+1" in first["scheduled_arrival_time_est"]
        second_date = f"2024-05-{int(date[-2:]) + 1}" if overnight else date
        if first["scheduled_arrival_time_est"] > second["scheduled_departure_time_est"]:
            continue
        if not (date in first["dates"] and second_date in second["dates"]):
            continue
        days = (first["dates"][date], second["dates"][second_date])
        if all(day["status"] == "available" for day in days):
            found.append(
                [{**_on_day(first, date), "date": date}, {**_on_day(second, date), "date": second_date}]
            )
    return dump(found)


def _connections(data: View, origin: Any, destination: Any) -> Iterator[tuple[Record, Record]]:
    flights = [flight for _, flight in data["flights"].items()]
    for first in flights:
        if first["origin"] == origin:
            for second in flights:
                if second["destination"] == destination and first["destination"] == second["origin"]:
                    yield first, second


def _on_day(flight: Record, date: Any) -> Record:
    fixed = {name: value for name, value in flight.items() if name != "dates"}
    return {**fixed, **flight["dates"][date]}


# ---- tools that change a reservation or a user ----


def cancel_reservation(data: View, reservation_id: Any) -> str:
    """Section 10.3."""
    _reservation(data, reservation_id)
    reservation = data["reservations"].edit(reservation_id)
    history = reservation["payment_history"]
    history.extend([{"payment_id": paid["payment_id"], "amount": -paid["amount"]} for paid in history])
    reservation["status"] = "cancelled"
    return dump(reservation)


def send_certificate(data: View, user_id: Any, amount: Any) -> str | None:
    """Section 10.9; the fourth certificate of a user is none, and no text either."""
    methods = find(data["users"], user_id, "user not found")["payment_methods"]
    new = next((one for one in _NEW_CERTIFICATES if one not in methods), None)
    if new is None:
        return None
    methods = data["users"].edit(user_id)["payment_methods"]
    methods[new] = {"source": "certificate", "amount": amount, "id": new}
    return f"Certificate {new} added to user {user_id} with amount {amount}."


def update_reservation_baggages(
    data: View, reservation_id: Any, total_baggages: Any, nonfree_baggages: Any, payment_id: Any
) -> str:
    """Section 10.12."""
    reservation = _reservation(data, reservation_id)
    price = 50 * max(0, nonfree_baggages - reservation["nonfree_baggages"])
    method = _method(data, reservation, payment_id)
    _check_balance(method, price)
    reservation = data["reservations"].edit(reservation_id)
    reservation["total_baggages"] = total_baggages
    reservation["nonfree_baggages"] = nonfree_baggages
    _charge(data, reservation, method, payment_id, price)
    _note_payment(reservation, payment_id, price)
    return dump(reservation)


def update_reservation_flights(
    data: View, reservation_id: Any, cabin: Any, flights: Any, payment_id: Any
) -> str:
    """Section 10.13; the reservation's cabin stays what it was."""
    reservation = _reservation(data, reservation_id)
    passengers, present = reservation["passengers"], reservation["flights"]
    total = 0
    for flight in flights:
        kept = next((one for one in present if _is_same(one, flight) and cabin == reservation["cabin"]), None)
        if kept is None:
            take_seats(data, flight, cabin, passengers)
        else:
            flight.update({name: kept[name] for name in ("price", "origin", "destination")})
        total += flight["price"] * len(passengers)
    total -= sum(flight["price"] for flight in present) * len(passengers)
    method = _method(data, reservation, payment_id)
    _check_balance(method, total)
    reservation = data["reservations"].edit(reservation_id)
    _charge(data, reservation, method, payment_id, total)
    reservation["flights"] = flights
    _note_payment(reservation, payment_id, total)
    return dump(reservation)


def _is_same(present: Record, wanted: Any) -> bool:
    return bool(present["flight_number"] == wanted["flight_number"] and present["date"] == wanted["date"])


def update_reservation_passengers(data: View, reservation_id: Any, passengers: Any) -> str:
    """Section 10.14."""
    reservation = _reservation(data, reservation_id)
    if len(passengers) != len(reservation["passengers"]):
        stop("number of passengers does not match")
    reservation = data["reservations"].edit(reservation_id)
    reservation["passengers"] = passengers
    return dump(reservation)


TOOLS: Final[tuple[Callable[..., str | None], ...]] = (
    book_reservation,
    calculate,
    cancel_reservation,
    get_reservation_details,
    get_user_details,
    list_all_airports,
    search_direct_flight,
    search_onestop_flight,
    send_certificate,
    think,
    transfer_to_human_agents,
    update_reservation_baggages,
    update_reservation_flights,
    update_reservation_passengers,
)
