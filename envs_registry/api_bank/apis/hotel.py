"""Hotels (APIS.md 5.10)."""

from __future__ import annotations

from typing import Any

from envs_registry.api_bank.registry import api
from envs_registry.api_bank.rules import EXACT
from envs_registry.api_bank.state import Failure, State
from envs_registry.api_bank.times import DATE, parse


@api("BookHotel", EXACT)
def book_hotel(
    state: State,
    hotel_name: Any,
    check_in_time: Any,
    check_out_time: Any,
    room_count: Any,
    adult_count: Any,
    child_count: Any,
) -> Any:
    """Book rooms; the output is the order's key."""
    start, end = parse(check_in_time, DATE), parse(check_out_time, DATE)
    if adult_count > 2 and room_count == 1:
        raise Failure("The number of adults is greater than 2. Two rooms are ordered.")
    for order in state.read("Hotel").values():
        if order["hotel_name"] == hotel_name:
            first, last = parse(order["check_in_time"], DATE), parse(order["check_out_time"], DATE)
            # An order around an existing one is not noticed upstream either.
            if first <= start < last or first < end <= last:
                raise Failure("The room is not available.")
    table = state.write("Hotel")
    key = str(len(table) + 1)
    table[key] = {
        "hotel_name": hotel_name,
        "check_in_time": check_in_time,
        "check_out_time": check_out_time,
        "room_count": room_count,
        "adult_count": adult_count,
        "child_count": child_count,
    }
    return key
