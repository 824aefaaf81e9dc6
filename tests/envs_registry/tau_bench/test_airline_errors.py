"""Every error text of TOOLS.md, section 10."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from envs_registry.tau_bench.world import TauWorld
from tests.envs_registry.tau_bench.conftest import answer

# mia_li_3668 has two credit cards, certificate_4856383 over 100 and certificate_7504069 over 250.
BOOKING: dict[str, Any] = {
    "user_id": "mia_li_3668",
    "origin": "DFW",
    "destination": "LAX",
    "flight_type": "one_way",
    "cabin": "economy",
    "flights": [{"flight_number": "HAT170", "date": "2024-05-22"}],  # economy: 6 seats at 147
    "passengers": [{"first_name": "Mia", "last_name": "Li", "dob": "1990-04-05"}],
    "payment_methods": [{"payment_id": "credit_card_4421486", "amount": 147}],
    "total_baggages": 0,
    "nonfree_baggages": 0,
    "insurance": "no",
}
# chen_jackson_3290's, 3 passengers, business, HAT170 on 2024-05-22 and HAT022 on 2024-05-26, nonfree 0;
# gift_card_3576581 holds 245.
CHANGE = {"reservation_id": "4WQ150", "payment_id": "gift_card_3576581"}
UNKNOWN = {"reservation_id": "4WQ151", "payment_id": "gift_card_3576581"}
BAGS = {"total_baggages": 5, "nonfree_baggages": 0}


def paid(*payments: tuple[str, Any]) -> dict[str, Any]:
    return {
        "payment_methods": [{"payment_id": payment_id, "amount": amount} for payment_id, amount in payments]
    }


def flying(number: Any, date: Any = "2024-05-22") -> dict[str, Any]:
    return {"flights": [{"flight_number": number, "date": date}]}


CASES: list[tuple[str, str, dict[str, Any], str]] = [
    # 10.1, the SEAT block included
    ("book_reservation", "10.1.1", {**BOOKING, "user_id": "mia_li"}, "user not found"),
    ("book_reservation", "SEAT 1", {**BOOKING, **flying("HAT999")}, "flight HAT999 not found"),
    (
        "book_reservation",
        "SEAT 2",
        {**BOOKING, **flying("HAT170", "2024-06-01")},
        "flight HAT170 not found on date 2024-06-01",
    ),
    (
        "book_reservation",
        "SEAT 3",
        {**BOOKING, **flying("HAT170", "2024-05-01")},
        "flight HAT170 not available on date 2024-05-01",
    ),
    (
        "book_reservation",
        "SEAT 4",
        {**BOOKING, "cabin": "business"},
        "not enough seats on flight HAT170",
    ),
    ("book_reservation", "SEAT 4, unknown cabin", {**BOOKING, "cabin": "first"}, "'first'"),
    (
        "book_reservation",
        "SEAT 4, passengers without a length",
        {**BOOKING, "passengers": 1},
        "object of type 'int' has no len()",
    ),
    (
        "book_reservation",
        "10.1.7 unknown",
        {**BOOKING, **paid(("gift_card_1", 147))},
        "payment method gift_card_1 not found",
    ),
    (
        "book_reservation",
        "10.1.7 balance",
        {**BOOKING, **paid(("certificate_4856383", 147))},
        "not enough balance in payment method certificate_4856383",
    ),
    (
        "book_reservation",
        "10.1.7 missing key",
        {**BOOKING, "payment_methods": [{"payment_id": "credit_card_4421486"}]},
        "'amount'",
    ),
    (
        "book_reservation",
        "10.1.8",
        {**BOOKING, "insurance": "yes", "nonfree_baggages": 1},
        "payment amount does not add up, total price is 227, but paid 147",
    ),
    (
        "book_reservation",
        "10.1.8 a float",
        {**BOOKING, **paid(("credit_card_4421486", 146.5))},
        "payment amount does not add up, total price is 147, but paid 146.5",
    ),
    (
        "book_reservation",
        "10.1.8 a text",
        {**BOOKING, **paid(("credit_card_4421486", "147"))},
        "unsupported operand type(s) for +: 'int' and 'str'",
    ),
    (
        "book_reservation",
        "10.1.6 a text",
        {**BOOKING, "nonfree_baggages": "1"},
        "unsupported operand type(s) for +=: 'int' and 'str'",
    ),
    (
        "book_reservation",
        "10.1.6 null",
        {**BOOKING, "nonfree_baggages": None},
        "unsupported operand type(s) for *: 'int' and 'NoneType'",
    ),
    (
        "book_reservation",
        "texts for flights",
        {**BOOKING, "flights": ["HAT170"]},
        "string indices must be integers, not 'str'",
    ),
    # 10.3 to 10.5
    ("cancel_reservation", "10.3.1", {"reservation_id": "4WQ151"}, "reservation not found"),
    ("get_reservation_details", "10.4, sic", {"reservation_id": "4WQ151"}, "user not found"),
    ("get_user_details", "10.5", {"user_id": "mia_li"}, "user not found"),
    # 10.7, 10.8
    (
        "search_direct_flight",
        "10.7 unhashable date",
        {"origin": "DFW", "destination": "LAX", "date": []},
        "unhashable type: 'list'",
    ),
    (
        "search_onestop_flight",
        "10.8.1",
        {"origin": "LGA", "destination": "SFO", "date": "2024-05-xx"},
        "invalid literal for int() with base 10: 'xx'",
    ),
    # 10.9
    ("send_certificate", "10.9.1", {"user_id": "mia_li", "amount": 1}, "user not found"),
    # 10.12
    ("update_reservation_baggages", "10.12.1", {**UNKNOWN, **BAGS}, "reservation not found"),
    (
        "update_reservation_baggages",
        "10.12.2",
        {**CHANGE, **BAGS, "nonfree_baggages": "1"},
        "unsupported operand type(s) for -: 'str' and 'int'",
    ),
    (
        "update_reservation_baggages",
        "10.12.3",
        {**CHANGE, **BAGS, "payment_id": "credit_card_1"},
        "payment method not found",
    ),
    (
        "update_reservation_baggages",
        "10.12.5",
        {**CHANGE, **BAGS, "nonfree_baggages": 5},
        "gift card balance is not enough",
    ),
    # 10.13
    (
        "update_reservation_flights",
        "10.13.1",
        {**UNKNOWN, "cabin": "economy", "flights": []},
        "reservation not found",
    ),
    (
        "update_reservation_flights",
        "10.13.2 SEAT",
        {**CHANGE, "cabin": "economy", **flying("HAT999")},
        "flight HAT999 not found",
    ),
    (
        "update_reservation_flights",
        "10.13.2 SEAT, two seats for three passengers",
        {**CHANGE, "cabin": "economy", **flying("HAT170", "2024-05-18")},
        "not enough seats on flight HAT170",
    ),
    (
        "update_reservation_flights",
        "10.13.2 missing key",
        {**CHANGE, "cabin": "economy", "flights": [{"flight_number": "HAT170"}]},
        "'date'",
    ),
    (
        "update_reservation_flights",
        "10.13.4",
        {**CHANGE, "cabin": "business", "flights": [], "payment_id": "credit_card_1"},
        "payment method not found",
    ),
    # 10.14
    (
        "update_reservation_passengers",
        "10.14.1",
        {"reservation_id": "4WQ151", "passengers": []},
        "reservation not found",
    ),
    (
        "update_reservation_passengers",
        "10.14.2",
        {"reservation_id": "4WQ150", "passengers": []},
        "number of passengers does not match",
    ),
]


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [pytest.param(tool, arguments, text, id=f"{tool} {step}") for tool, step, arguments, text in CASES],
)
def test_error_texts(
    tool: str, arguments: dict[str, Any], text: str, new_world: Callable[[str], TauWorld]
) -> None:
    world = new_world("airline")
    assert answer(world, tool, **arguments) == f"Error: {text}"
    assert world.digest() == new_world("airline").digest()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("update_reservation_baggages", {"total_baggages": 0, "nonfree_baggages": 0}),
        ("update_reservation_flights", {"cabin": "economy", "flights": []}),
    ],
)
def test_certificates_pay_for_no_change(
    tool: str, arguments: dict[str, Any], new_world: Callable[[str], TauWorld]
) -> None:
    """10.12.4 and 10.13.5, also where there is nothing to pay."""
    world = new_world("airline")
    change = {"reservation_id": "NO6JO3", "payment_id": "certificate_4856383"}
    text = "Error: certificate cannot be used to update reservation"
    assert answer(world, tool, **change, **arguments) == text


def test_10_13_6_a_gift_card_that_is_not_enough(new_world: Callable[[str], TauWorld]) -> None:
    world = new_world("airline")
    answer(world, "update_reservation_flights", **CHANGE, cabin="economy", flights=[])  # 4986 come back
    answer(world, "update_reservation_baggages", **CHANGE, total_baggages=5, nonfree_baggages=100)  # 5000
    dear = {"cabin": "economy", **flying("HAT170")}
    assert answer(world, "update_reservation_flights", **CHANGE, **dear) == (
        "Error: gift card balance is not enough"
    )


def test_a_cancelled_booking_without_a_list_of_payments(new_world: Callable[[str], TauWorld]) -> None:
    """10.3.2: an empty object passes for no payments, and then cannot be lengthened."""
    world = new_world("airline")
    free = {**BOOKING, "flights": [], "payment_methods": {}}
    assert '"payment_history": {}' in answer(world, "book_reservation", **free)
    assert answer(world, "cancel_reservation", reservation_id="HATHAT") == (
        "Error: 'dict' object has no attribute 'extend'"
    )


def test_a_long_text_for_bags_fills_no_memory(new_world: Callable[[str], TauWorld]) -> None:
    """``50 * text`` of the longest argument accepted would be 50 MB, and of a list 400 MB."""
    import tracemalloc

    world = new_world("airline")
    bags = ["x"] * 400_000
    tracemalloc.start()
    answer(world, "book_reservation", **{**BOOKING, "nonfree_baggages": bags})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000
