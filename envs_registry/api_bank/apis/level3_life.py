"""Level 3: travel, weather, work and daily life (APIS.md 6)."""

from __future__ import annotations

from typing import Any, Final

from envs_registry.api_bank.registry import SUCCESS, Folder, api, own_table
from envs_registry.api_bank.rules import (
    EXACT,
    MEETING,
    NAMED,
    OUTCOME,
    Result,
    argument,
    arguments,
    equal,
    every,
    other_arguments_equal,
)
from envs_registry.api_bank.state import Failure, State
from envs_registry.api_bank.times import DATE, DATETIME, parse

LEVEL_3: Final[Folder] = "lv3_apis"
STRICT = every(NAMED, EXACT)

PLACES: Final = {
    "New York City": (40.7128, 74.0060),
    "San Francisco": (37.7749, 122.4194),
    "London": (51.5074, 0.1278),
    "Paris": (48.8566, 2.3522),
    "Tokyo": (35.6762, 139.6503),
}
"""Upstream's longitudes lack their signs."""

WEATHER: Final = dict(
    zip(
        PLACES.values(),
        ((10, 0.5, "Clear"), (20, 0.8, "Cloudy"), (5, 0.9, "Rainy"), (15, 0.7, "Sunny"), (25, 0.6, "Rainy")),
        strict=True,
    )
)
"""Temperature, humidity and description at each place."""

FLIGHTS: Final = (
    ("New York", "San Francisco", "2022-01-01"),
    ("Los Angeles", "San Francisco", "2022-01-02"),
    ("London", "San Francisco", "2022-01-03"),
    ("New York", "London", "2022-01-04"),
    ("New York", "Los Angeles", "2022-01-05"),
)
"""From, to and day; each departs at noon and arrives at three."""

HOTELS: Final = tuple(("San Francisco", f"2022-01-0{day}", f"2022-01-0{day + 1}") for day in range(1, 6))
"""Place, first and last day."""

RESTAURANTS: Final = tuple(
    {"coordinates": list(PLACES[place]), "name": f"Restaurant {letter}"}
    for letter, place in zip("ABCD", ("New York City", "San Francisco") * 2, strict=True)
)

SALARIES: Final = {
    "Financial Analyst": 100_000,
    "Software Engineer": 120_000,
    "Data Scientist": 150_000,
    "Product Manager": 130_000,
    "Doctor": 200_000,
}

TAX_RATES: Final = ((5000, 0.3), (3000, 0.2), (1000, 0.1), (0, 0.0))
"""Lowest salary and rate, the highest first."""

CLOTHES: Final = (
    (10, ("Warm coat", "Hat", "Gloves")),
    (20, ("Light jacket", "Long-sleeved shirt")),
    (30, ("T-shirt", "Shorts")),
)
"""What to wear below a temperature."""

HOT_CLOTHES: Final = ("Sun hat", "Sunglasses", "Loose-fitting clothes")
BOOKED: Final = "Level3Meetings"

own_table(BOOKED, {})


@api("Geocoding", STRICT, folder=LEVEL_3)
def geocoding(state: State, address: Any) -> Any:
    """Where a city is."""
    latitude, longitude = PLACES[address]
    return {"latitude": latitude, "longitude": longitude}


@api("GetWeatherForCoordinates", EXACT, folder=LEVEL_3)
def get_weather_for_coordinates(state: State, latitude: Any, longitude: Any) -> Any:
    """The weather at a place; upstream's own error for others leaves the call, here it is a failure."""
    if (latitude, longitude) not in WEATHER:
        raise Failure("'NoneType' object is not subscriptable")
    temperature, humidity, description = WEATHER[latitude, longitude]
    return {"temperature": temperature, "humidity": humidity, "description": description}


@api("ClothingRecommendation", STRICT, folder=LEVEL_3)
def clothing_recommendation(state: State, temperature: Any, humidity: Any, weather_conditions: Any) -> Any:
    """What to wear."""
    options = list(next((clothes for limit, clothes in CLOTHES if temperature < limit), HOT_CLOTHES))
    if humidity > 70:
        options += ["Umbrella", "Waterproof shoes"]
    if "rain" in weather_conditions.lower():
        options.append("Raincoat")
    return {"clothing_options": options}


@api("FlightSearch", STRICT, folder=LEVEL_3)
def flight_search(state: State, source: Any, destination: Any, travel_dates: Any) -> Any:
    """Flights of a day. Upstream's break at a second search; these do not."""
    day = parse(travel_dates, DATE).strftime(DATE)
    return {"flights": [_flight(*flight) for flight in FLIGHTS if flight == (source, destination, day)]}


def _flight(source: str, destination: str, day: str) -> dict[str, str]:
    times = {"departure_date": f"{day} 12:00:00", "arrival_date": f"{day} 15:00:00"}
    return {"source": source, "destination": destination, **times}


def _same_hotels(tested: Result, recorded: Result) -> bool:
    return bool(tested["output"]["hotels"] == recorded["output"]["hotels"])


@api(
    "HotelAvailability",
    every(NAMED, arguments("destination", "check_in_date", "check_out_date"), _same_hotels),
    folder=LEVEL_3,
)
def hotel_availability(state: State, destination: Any, check_in_date: Any, check_out_date: Any) -> Any:
    """Hotels that are free. Upstream's break at a second search; these do not."""
    start, end = parse(check_in_date, DATE), parse(check_out_date, DATE)
    names = ("destination", "check_in_date", "check_out_date")
    return {
        "hotels": [
            dict(zip(names, hotel, strict=True))
            for hotel in HOTELS
            if hotel[0] == destination and start >= parse(hotel[1], DATE) and end <= parse(hotel[2], DATE)
        ]
    }


@api("NearbyRestaurants", every(NAMED, equal("input")), folder=LEVEL_3)
def nearby_restaurants(state: State, latitude: Any, longitude: Any, distance: Any) -> Any:
    """The same restaurants everywhere."""
    return {"restaurants": list(RESTAURANTS)}


@api("GetOccupationSalary", STRICT, folder=LEVEL_3)
def get_occupation_salary(state: State, occupation: Any) -> Any:
    """What an occupation pays."""
    if occupation not in SALARIES:
        raise Failure("The occupation is not in the database.")
    return {"salary": SALARIES[occupation]}


def _same_net_salary(tested: Result, recorded: Result) -> bool:
    return bool(tested["output"]["salary_after_tax"] == recorded["output"]["salary_after_tax"])


@api("TaxCalculator", every(NAMED, argument("salary"), _same_net_salary, equal("exception")), folder=LEVEL_3)
def tax_calculator(state: State, salary: Any) -> Any:
    """A salary after tax; upstream's message for a negative one is empty."""
    rate = next((rate for lowest, rate in TAX_RATES if salary >= lowest), None)
    if rate is None:
        raise Failure("")
    return {"salary_after_tax": salary - salary * rate}


@api("AddMeeting", MEETING, folder=LEVEL_3)
def add_meeting(
    state: State, meeting_topic: Any, start_time: Any, end_time: Any, location: Any, attendees: Any
) -> Any:
    """Add a meeting."""
    parse(start_time, DATETIME)
    parse(end_time, DATETIME)
    if meeting_topic.strip() == "":
        raise Failure("Meeting Topic should not be null")
    table = state.write(BOOKED)
    table[len(table)] = (meeting_topic, start_time, end_time, location, attendees)
    return SUCCESS


@api(
    "EmailReminder",
    every(
        NAMED,
        lambda tested, recorded: "content" in recorded["input"],
        other_arguments_equal("content"),
        OUTCOME,
    ),
    folder=LEVEL_3,
)
def email_reminder(state: State, content: Any, time: Any, location: Any, recipient: Any) -> Any:
    """Send a reminder, which nobody keeps."""
    parse(time, DATETIME)
    if content.strip() == "":
        raise Failure("Content should not be empty")
    return SUCCESS
