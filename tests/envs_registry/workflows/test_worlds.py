"""The derived tools: that they compute what they document, refuse what they must, and keep their state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy
import pytest

from envs_registry.workflows import SUITE
from envs_registry.workflows.facts import PARENTS, Facts, draw_facts, parent_of_item, positions_apart
from envs_registry.workflows.reading import subtopic_names
from envs_registry.workflows.streams import Stream
from envs_registry.workflows.toolbox import Toolbox, get_toolbox
from envs_registry.workflows.units import CURRENCIES, UNITS
from envs_registry.workflows.world import WorkflowWorld
from toolenv.errors import ToolError
from toolenv.kernel.clean import CleanKernel
from toolenv.kernel.protocol import Slot
from toolenv.names import with_wire_names
from toolenv.sampling import sample_value
from toolenv.task import Task
from toolenv.types import ToolCall

SUBTOPICS = list(subtopic_names())


def world_of(subtopic: str = "container_freight", seed: int = 0) -> WorkflowWorld:
    toolbox = get_toolbox(subtopic)
    return WorkflowWorld(draw_facts(toolbox.subtopic, Stream("test", subtopic, seed), 3), toolbox.runners)


def everything(toolbox: Toolbox, facts: Facts) -> Task:
    """A task that offers every tool of a world."""
    base = SUITE.generate(0, 0)
    tools = with_wire_names([tool.spec for tool in toolbox.tools.values()])
    return Task("all", (), tools, base.reference, metadata={"facts": facts, "subtopic": facts.subtopic.name})


# ---- what tools compute, by hand ----


def test_freight_is_weight_times_rate_plus_the_surcharge() -> None:
    world = world_of()
    arguments = {"weight_kg": 1000, "kilo_rate_usd_per_kg": 0.5, "port_surcharge_percent": 12}
    # 1000 × 0.5 = 500; plus 12 % is 560; at 0.9 that is 504.
    assert world.call("freight_charge_calculator", arguments) == {"freight_charge": 560.0}
    assert world.call("freight_charge_calculator", {**arguments, "exchange_rate": 0.9}) == {
        "freight_charge": 504.0
    }


def test_a_deadline_is_so_many_days_before_the_departure() -> None:
    arguments = {"departure": "2028-03-02", "cutoff_days": 3}
    # 2028 is a leap year: 1 March, 29 February, 28 February.
    assert world_of().call("deliver_cargo_by_calculator", arguments) == {"deliver_cargo_by": "2028-02-28"}


@pytest.mark.parametrize(
    ("subtopic", "tool", "arguments", "result"),
    [
        # 200 less 10 % is 180, plus 7.5.
        (
            "rail_journeys",
            "refund",
            {"fare_eur": 200, "cancellation_fee_percent": 10, "luggage_fee_eur": 7.5},
            187.5,
        ),
        # 300 less 20 % is 240, less 15.
        (
            "secondhand_goods",
            "payout_to_seller",
            {"asking_price_eur": 300, "margin_percent": 20, "refurbishing_cost_eur": 15},
            225.0,
        ),
        # 5 % of 1000, plus 120.
        (
            "museum_exhibits",
            "loan_cost",
            {"insured_value_chf": 1000, "premium_percent": 5, "crate_cost_chf": 120},
            170.0,
        ),
        # 1000 plus 20 % is 1200, less 80.
        (
            "supplier_invoices",
            "payable_amount",
            {"net_amount_eur": 1000, "vat_percent": 20, "retention_eur": 80},
            1120.0,
        ),
        # 8 ha of 5 t each, less a tenth.
        (
            "arable_farming",
            "net_harvest",
            {"area_ha": 8, "yield_t_per_ha": 5, "drying_loss_percent": 10},
            36.0,
        ),
    ],
)
def test_other_formulas(subtopic: str, tool: str, arguments: Mapping[str, Any], result: float) -> None:
    toolbox = get_toolbox(subtopic)
    (name,) = (name for name in toolbox.formulas if tool in name)
    assert list(world_of(subtopic).call(name, arguments).values()) == [result]


@pytest.mark.parametrize(
    ("value", "source", "target", "expected"),
    [
        # Exact by definition: 0.45359237 kg, 1609.344 m, 0.3048 m, 2.54 cm, 3.785411784 l, 3.6 MJ.
        (45.359237, "kg", "lb", 100.0),
        (160.9344, "km", "mi", 100.0),
        (30.48, "m", "ft", 100.0),
        (254, "cm", "in", 100.0),
        (378.5411784, "l", "gal", 100.0),
        (10, "kWh", "MJ", 36.0),
        (100, "°C", "°F", 212.0),
        (-40, "°F", "°C", -40.0),
        # NIST SP 811: an acre is 4046.873 m2 (survey foot); the international one is 4046.8564224 m2.
        (4046.8564224, "m2", "acres", 1.0),
        (2.5, "t", "kg", 2500.0),
    ],
)
def test_conversions(value: float, source: str, target: str, expected: float) -> None:
    arguments = {"value": value, "from_unit": source, "to_unit": target}
    assert world_of().call("convert_units", arguments) == {"value": expected, "unit": target}


def test_units_of_different_kinds_are_not_converted() -> None:
    with pytest.raises(ToolError, match="kg cannot be converted to km"):
        world_of().call("convert_units", {"value": 1, "from_unit": "kg", "to_unit": "km"})


def test_money_is_converted_at_the_rate_that_the_rate_tools_tell() -> None:
    world = world_of()
    for source, target in (("EUR", "USD"), ("SEK", "GBP"), ("CHF", "CHF")):
        pair = {"from_currency": source, "to_currency": target}
        rate = world.call("exchange_rate", pair)["rate"]
        assert world.call("ratewatch_exchange_rate", pair)["rate"] == rate
        assert world.call("convert_currency", {"amount": 200, **pair})["amount"] == round(200 * rate, 2)
    assert world.call("exchange_rate", {"from_currency": "CHF", "to_currency": "CHF"})["rate"] == 1.0


@pytest.mark.parametrize(
    ("statistic", "result"), [("total", 10.0), ("mean", 3.3333), ("highest", 5.5), ("lowest", 1.5)]
)
def test_statistics(statistic: str, result: float) -> None:
    arguments = {"values": [1.5, 5.5, 3], "statistic": statistic}
    assert world_of().call("summarise_values", arguments) == {"statistic": statistic, "result": result}


def test_ranking_pairs_ids_and_values() -> None:
    world = world_of()
    arguments = {"ids": ["A", "B", "C"], "values": [2, 9, 4], "order": "highest"}
    assert world.call("rank_by_value", arguments) == {"id": "B", "value": 9}
    assert world.call("rank_by_value", {**arguments, "order": "lowest"}) == {"id": "A", "value": 2}
    with pytest.raises(ToolError, match="2 ids and 3 values"):
        world.call("rank_by_value", {**arguments, "ids": ["A", "B"]})


def test_the_calendar() -> None:
    world = world_of()
    assert world.call("days_between", {"since": "2028-02-27", "until": "2028-03-01"}) == {"days": 3}
    assert world.call("weekday_of", {"date": "2031-03-04"}) == {"weekday": "Tuesday"}
    with pytest.raises(ToolError, match="'2031-02-30' is not a date"):
        world.call("weekday_of", {"date": "2031-02-30"})


# ---- lookups ----


def test_both_sources_tell_the_same_facts() -> None:
    for subtopic in SUBTOPICS[::6]:
        toolbox, world = get_toolbox(subtopic), world_of(subtopic)
        for level, records in enumerate(world.facts.records):
            official = toolbox.records[level]
            mirror = toolbox.contract(official).alternative
            (argument,) = toolbox.contract(official).arguments
            for record in records:
                one, other = (world.call(name, {argument: record.id}) for name in (official, mirror))
                assert one.pop("source") == toolbox.subtopic.register
                assert other.pop("source") == toolbox.subtopic.mirror
                assert one == other


def test_results_hold_exactly_the_documented_fields() -> None:
    for task in SUITE.tasks("default")[::7]:
        blueprint = task.metadata["blueprint"]
        for call in blueprint.calls:
            documented = [field.name for field in blueprint.contracts[call.tool].output]
            assert list(call.result) == documented, call.tool


def test_what_belongs_to_something_is_listed_and_says_so_itself() -> None:
    toolbox, world = get_toolbox("container_freight"), world_of()
    for vessel in world.facts.records[1]:
        listed = world.call(toolbox.lists[0], {"vessel_id": vessel.id})
        assert listed["count"] == len(listed["shipment_ids"])
        assert listed["shipment_ids"] == sorted(listed["shipment_ids"])
        for identifier in listed["shipment_ids"]:
            assert world.call("shipment_record", {"shipment_id": identifier})["vessel_id"] == vessel.id
    every = [len(world.facts.members[vessel.id]) for vessel in world.facts.records[1]]
    assert sum(every) == len(world.facts.records[0])


@pytest.mark.parametrize("family", [2, 3, 4])
def test_things_that_are_compared_differ_at_every_level(family: int) -> None:
    parents, groups = parent_of_item(family), (0, 0, 1, 2)
    assert [parents.count(parent) for parent in range(PARENTS)] == [family, 2, 1, 1]
    assert len({parents[at] for at in positions_apart(family, 0, 1)}) == 4
    assert len({groups[parents[at]] for at in positions_apart(family, 0, 2)}) == 3
    assert len({groups[at] for at in positions_apart(family, 1, 2)}) == 3


def test_names_and_ids_are_found_whatever_their_case() -> None:
    world = world_of()
    record = world.facts.records[0][0]
    found = world.call("search_shipment", {"shipper": f"  {record.name.upper()} "})
    assert found["shipment_id"] == record.id
    assert world.call("shipment_record", {"shipment_id": record.id.lower()})["shipper"] == record.name


@pytest.mark.parametrize(
    ("tool", "arguments", "problem"),
    [
        ("search_shipment", {"shipper": "Nobody"}, "no shipment is registered with the shipper 'Nobody'"),
        ("shipment_record", {"shipment_id": "SHP-0"}, "no shipment has the ID 'SHP-0'"),
        ("confirmation_details", {"confirmation": "XX-1"}, "no record has the confirmation code 'XX-1'"),
    ],
)
def test_what_does_not_exist_is_named(tool: str, arguments: Mapping[str, Any], problem: str) -> None:
    with pytest.raises(ToolError, match=problem):
        world_of().call(tool, arguments)


def test_an_identifier_of_another_kind_is_refused() -> None:
    world = world_of()
    with pytest.raises(ToolError, match="no vessel has the ID"):
        world.call("vessel_record", {"vessel_id": world.facts.records[0][0].id})


# ---- deeds ----


def test_a_moved_date_is_told_by_both_sources_and_the_last_move_counts() -> None:
    world = world_of()
    identifier = world.facts.records[0][0].id
    untouched = world.digest()
    first = world.call("move_shipment_departure", {"shipment_id": identifier, "date": "2090-05-01"})
    second = world.call("move_shipment_departure", {"shipment_id": identifier, "date": "2090-06-02"})
    assert first["confirmation"] != second["confirmation"]
    for tool in ("shipment_record", "freightwatch_shipment_record"):
        assert world.call(tool, {"shipment_id": identifier})["departure"] == "2090-06-02"
    direct = world_of()
    direct.call("move_shipment_departure", {"shipment_id": identifier, "date": "2090-06-02"})
    assert world.digest() == direct.digest() != untouched
    assert world.view()["changes"] == [{"id": identifier, "field": "departure", "value": "2090-06-02"}]


def test_a_payment_made_twice_is_one_and_another_amount_is_another() -> None:
    world = world_of()
    pay = {"shipment_id": world.facts.records[0][0].id, "amount": 1250, "currency": "EUR"}
    first = world.call("authorise_freight_payment", pay)
    once = world.digest()
    assert world.call("authorise_freight_payment", {**pay, "amount": 1250.0}) == first
    assert world.digest() == once
    world.call("authorise_freight_payment", {**pay, "amount": 1250.01})
    assert world.digest() != once
    assert len(world.view()["deeds"]) == 2


def test_a_confirmation_tells_what_it_is_about_and_who_handles_it() -> None:
    world = world_of()
    identifier = world.facts.records[0][0].id
    code = world.call("move_shipment_departure", {"shipment_id": identifier, "date": "2090-05-01"})[
        "confirmation"
    ]
    told = world.call("confirmation_details", {"confirmation": code.lower()})
    assert (told["confirmation"], told["about"]) == (code, identifier)
    assert told["recorded_on"] == world.facts.today
    assert told == world.call("confirmation_details", {"confirmation": code})
    assert len(told["handled_by"].split()) == 2


def test_nothing_is_booked_for_a_day_that_is_past() -> None:
    world = world_of()
    arguments = {"shipment_id": world.facts.records[0][0].id, "date": world.facts.today}
    with pytest.raises(ToolError, match="is not after today"):
        world.call("move_shipment_departure", arguments)


def test_field_015_forks_and_episodes_share_nothing_that_changes() -> None:
    task = next(one for one in SUITE.tasks("default") if one.metadata["blueprint"].changes_state)
    world = SUITE.world(task, 0)
    fork = world.fork()
    for call in task.metadata["blueprint"].calls:
        fork.call(call.tool, call.arguments)
    assert fork.digest() == task.metadata["blueprint"].digest
    assert world.digest() == SUITE.world(task, 1).digest() != fork.digest()
    assert fork.fork().digest() == fork.digest()


# ---- hostile calls ----


@pytest.mark.parametrize("subtopic", SUBTOPICS[::4])
def test_no_call_that_fits_a_schema_breaks_a_tool(subtopic: str) -> None:
    toolbox = get_toolbox(subtopic)
    facts = draw_facts(toolbox.subtopic, Stream("hostile", subtopic), 3)
    task = everything(toolbox, facts)
    kernel = CleanKernel(task, SUITE.world)
    world, rng = kernel.start(0), numpy.random.default_rng(0)
    for number, tool in enumerate(task.tools * 6):
        call = ToolCall(tool.name, sample_value(tool.parameters, rng))
        assert kernel.call(world, call, Slot(number)).content


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("weekday_of", {"date": "2099-12-32"}),
        ("deliver_cargo_by_calculator", {"departure": "2000-01-01", "cutoff_days": 1e9}),
        ("deliver_cargo_by_calculator", {"departure": "2099-12-31", "cutoff_days": 0.5}),
        ("convert_units", {"value": 1e308, "from_unit": "kg", "to_unit": "lb"}),
        ("convert_units", {"value": 10**400, "from_unit": "kg", "to_unit": "lb"}),
        ("authorise_freight_payment", {"shipment_id": "SHP-1", "amount": -5, "currency": "EUR"}),
        ("authorise_freight_payment", {"shipment_id": "SHP-1", "amount": 10**40, "currency": "EUR"}),
        ("summarise_values", {"values": [], "statistic": "mean"}),
        ("summarise_values", {"values": [1] * 41, "statistic": "mean"}),
        ("search_shipment", {"shipper": ""}),
        ("search_shipment", {"shipper": "x" * 100_000}),
    ],
)
def test_extreme_arguments_are_answered(tool: str, arguments: Mapping[str, Any]) -> None:
    toolbox = get_toolbox("container_freight")
    task = everything(toolbox, draw_facts(toolbox.subtopic, Stream("extreme"), 3))
    kernel = CleanKernel(task, SUITE.world)
    result = kernel.call(kernel.start(0), ToolCall(tool, arguments), Slot(0))
    assert result.kind in ("invalid_arguments", "tool_error", "ok")
    assert len(result.content) < 2000


def test_units_are_named_apart() -> None:
    assert len({unit.slug for unit in UNITS.values()}) == len(UNITS)
    assert set(CURRENCIES) <= set(UNITS)
