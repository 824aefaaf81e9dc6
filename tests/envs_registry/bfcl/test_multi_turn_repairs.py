"""What is changed in upstream's backends: precision, sums, shared state and size."""

from __future__ import annotations

import decimal
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import mpmath
import pytest

from envs_registry.bfcl.backend_repairs import MAX_DIGITS, MAX_ENTRIES
from envs_registry.bfcl.backends import Backends
from envs_registry.bfcl.multi_turn_world import MultiTurnWorld
from toolenv.errors import ToolError

# From tables of constants (OEIS A007524 and A002193).
LOG10_OF_2 = (
    "0.301029995663981195213738894724493026768189881462108541310427461127108189274424509486927252118186"
)
SQRT_OF_2 = Decimal(
    "1.4142135623730950488016887242096980785696718753769480731766797379907324784621070388503875343276"
)


def world_of(backends: Backends, *classes: str, config: Any = None, long: bool = False) -> MultiTurnWorld:
    return MultiTurnWorld.create(backends, classes, config or {}, long)


# ---- precision ----


def logarithm(world: MultiTurnWorld, precision: int) -> str:
    return world.call("logarithm", {"value": 2, "base": 10, "precision": precision})


def root(world: MultiTurnWorld, precision: int) -> str:
    return world.call("square_root", {"number": 2, "precision": precision})


def test_precision_is_each_calls_own_in_any_order_and_thread(backends: Backends) -> None:
    world = world_of(backends, "MathAPI")
    wanted = [precision for precision in range(3, 60) for _ in range(4)]
    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as pool:
            logarithms = list(pool.map(lambda precision: logarithm(world, precision), wanted))
            roots = list(pool.map(lambda precision: root(world, precision), reversed(wanted)))
    finally:
        sys.setswitchinterval(switching)
    for precision, text in zip(wanted, logarithms, strict=True):
        found = Decimal(text.split("'")[3])
        assert abs(found - Decimal(LOG10_OF_2)) < Decimal(10) ** -precision
        assert len(text.split("'")[3]) <= precision + 6
        assert text == logarithm(world, precision)
    for precision, text in zip(reversed(wanted), roots, strict=True):
        rounded = decimal.Context(prec=precision).plus(SQRT_OF_2)
        assert text == f"{{'result': Decimal('{rounded}')}}"


def test_precision_does_not_reach_the_rest_of_the_process(backends: Backends) -> None:
    world = world_of(backends, "MathAPI")
    before = mpmath.mp.dps, decimal.getcontext().prec
    logarithm(world, 7)
    root(world, 7)
    assert (mpmath.mp.dps, decimal.getcontext().prec) == before


def test_the_processs_decimal_settings_do_not_reach_the_tools(backends: Backends) -> None:
    world = world_of(backends, "MathAPI")
    call = "square_root", {"number": 1e-30, "precision": 5}
    plain = world.call(*call)
    with decimal.localcontext(decimal.Context(prec=2, capitals=0, rounding=decimal.ROUND_UP, Emin=-5)):
        assert world.call(*call) == plain
    assert plain == "{'result': Decimal('1.0000E-15')}"


def test_sums_are_rounded_as_in_upstreams_python_in_every_version(backends: Backends) -> None:
    """Python 3.11 says ``sum([0.1] * 10) == 0.9999999999999999``, 3.12 says 1.0."""
    world = world_of(backends, "MathAPI")
    assert world.call("sum_values", {"numbers": [0.1] * 10}) == '{"result": 0.9999999999999999}'
    assert (
        world.call("sum_values", {"numbers": [1, "x"]})
        == '{"error": "All elements in the list must be numbers"}'
    )


# ---- state shared by instances (FIELD-015) ----


def test_field_015_tweets_of_two_episodes_share_no_list(backends: Backends) -> None:
    config = {"TwitterAPI": {"authenticated": True}}
    one, other = (world_of(backends, "TwitterAPI", config=config) for _ in range(2))
    for world in (one, other):
        world.call("post_tweet", {"content": "a"})
    one.call("post_tweet", {"content": "b"})
    one.call("mention", {"tweet_id": 0, "mentioned_usernames": ["@x"]})
    assert one.view()["TwitterAPI"]["tweets"]["0"]["mentions"] == ["@x"]
    assert one.view()["TwitterAPI"]["tweets"]["1"]["mentions"] == []
    assert other.view()["TwitterAPI"]["tweets"]["0"]["mentions"] == []
    assert json.loads(other.call("post_tweet", {"content": "c"}))["mentions"] == []


def test_field_015_long_contexts_cards_are_each_episodes_own(backends: Backends) -> None:
    card = "1000000790000000"  # from upstream's padding, balance 6,000
    config = {"TravelAPI": {"access_token": "t", "token_expires_in": 1}}
    flight = {
        "access_token": "t",
        "card_id": card,
        "travel_date": "2026-03-01",
        "travel_from": "LAX",
        "travel_to": "SFO",
        "travel_class": "economy",
    }
    for _ in range(100):
        world = world_of(backends, "TravelAPI", config=config, long=True)
        before = world.digest()
        assert json.loads(world.call("book_flight", flight))["booking_status"] is True
        assert world.view()["TravelAPI"]["credit_card_list"][card]["balance"] < 6_000
    assert world_of(backends, "TravelAPI", config=config, long=True).digest() == before
    assert config == {"TravelAPI": {"access_token": "t", "token_expires_in": 1}}


def test_weather_reports_do_not_mix_between_threads(backends: Backends) -> None:
    def reports(seed: int) -> list[str]:
        config = {"VehicleControlAPI": {"random_seed": seed}}
        world = world_of(backends, "VehicleControlAPI", config=config, long=True)
        return [world.call("get_outside_temperature_from_google", {}) for _ in range(20)]

    alone = [reports(seed) for seed in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(reports, range(8))) == alone
    assert len({texts[0] for texts in alone}) == 8


def test_a_weather_report_stays_as_it_was_given(backends: Backends) -> None:
    vehicle = backends["VehicleControlAPI"]()
    vehicle._load_scenario({}, long_context=True)
    first = vehicle.get_outside_temperature_from_google()
    temperature = first["outsideTemperature"]
    assert vehicle.get_outside_temperature_from_google()["outsideTemperature"] != temperature
    assert first["outsideTemperature"] == temperature


# ---- size ----


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("power", {"base": 10, "exponent": 10**12}),
        ("power", {"base": -3, "exponent": 10**9}),
        ("power", {"base": 2, "exponent": 15_000}),
    ],
)
def test_a_power_too_long_to_write_fails_as_pythons_own(
    backends: Backends, name: str, arguments: dict[str, Any]
) -> None:
    with pytest.raises(ToolError, match=r"^Error during execution: Exceeds the limit \(4300 digits\)"):
        world_of(backends, "MathAPI").call(name, arguments)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"base": 1, "exponent": 10**12}, '{"result": 1}'),
        ({"base": -1, "exponent": 10**12 + 1}, '{"result": -1}'),
        ({"base": 0, "exponent": 10**12}, '{"result": 0}'),
        ({"base": 2, "exponent": -1}, '{"result": 0.5}'),
        ({"base": 2, "exponent": 100}, '{"result": 1267650600228229401496703205376}'),
        ({"base": 2.0, "exponent": 3}, '{"result": 8.0}'),
        ({"base": "2", "exponent": 3}, '{"error": "Both inputs must be numbers"}'),
    ],
)
def test_other_powers_are_computed(backends: Backends, arguments: dict[str, Any], text: str) -> None:
    assert world_of(backends, "MathAPI").call("power", arguments) == text


@pytest.mark.parametrize("precision", [MAX_DIGITS + 1, 10**15, str(10**9), 1e9])
def test_precision_has_a_limit(backends: Backends, precision: Any) -> None:
    world = world_of(backends, "MathAPI")
    for name, argument in (("logarithm", {"value": 2, "base": 10}), ("square_root", {"number": 2})):
        with pytest.raises(ToolError, match="precision is limited to 10000 digits"):
            world.call(name, {**argument, "precision": precision})


def test_rounding_far_left_of_the_point_gives_zero_at_once(backends: Backends) -> None:
    call = "round_number", {"number": 12_345, "decimal_places": -(10**12)}
    assert world_of(backends, "MathAPI").call(*call) == '{"result": 0}'


def double(world: MultiTurnWorld, levels: int) -> None:
    """Put two copies of directory ``a0`` into a new one, ``a1``, two of that into ``a2``, and so on."""
    for level in range(levels):
        world.call("mkdir", {"dir_name": f"a{level + 1}"})
        for name in ("b", "c"):
            world.call("cp", {"source": f"a{level}", "destination": f"{name}{level}"})
            world.call("mv", {"source": f"{name}{level}", "destination": f"a{level + 1}"})


def test_directories_cannot_be_doubled_without_end(backends: Backends) -> None:
    world = world_of(backends, "GorillaFileSystem")
    world.call("mkdir", {"dir_name": "a0"})
    with pytest.raises(ToolError, match=r"^Error during execution: No space left on device$"):
        double(world, 40)
    assert MAX_ENTRIES < len(json.loads(world.call("find", {}))["matches"]) < 4 * MAX_ENTRIES
