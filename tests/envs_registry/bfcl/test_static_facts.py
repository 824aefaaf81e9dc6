"""What is read off upstream's source, held against what upstream's tools do.

The expected values are the tools' own behaviour: the ground truth of 600 multi-turn tasks, and many more
calls with arguments drawn from them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import envs_registry
from envs_registry.bfcl.claims import ERROR, WRITING, shapes_of, store_of, tool_facts
from envs_registry.bfcl.multi_turn_world import MultiTurnWorld
from envs_registry.bfcl.shapes import Kept, Record, Store, Value, may_be
from envs_registry.bfcl.static_facts import ToolFacts, backend_facts
from toolenv.errors import ToolError
from toolenv.task import Task

CATEGORIES = ("multi_turn_base", "multi_turn_miss_param", "multi_turn_long_context")


@pytest.fixture(scope="module")
def facts(bfcl_package: Path) -> Mapping[str, ToolFacts]:
    return tool_facts()


def attributes(world: MultiTurnWorld) -> dict[tuple[str, str], Any]:
    """Every compared attribute, and the private ones that are constants or hold no objects."""
    found: dict[tuple[str, str], Any] = {}
    for name, instance in world._instances:
        for attribute, value in MultiTurnWorld({name: instance}, {}).view()[name].items():
            found[name, attribute] = value
        for attribute, value in vars(instance).items():
            if attribute.startswith("_") and isinstance(value, int | float | str | dict):
                found[name, attribute] = dict(value) if isinstance(value, dict) else value
    return found


def check_call(
    world: MultiTurnWorld,
    name: str,
    arguments: Mapping[str, Any],
    tool: ToolFacts,
    stores: Mapping[str, Store],
) -> None:
    before = attributes(world)
    contents = file_contents(world)
    try:
        text = world.call(name, arguments)
    except ToolError as error:
        text = str(error)
        assert text.startswith(ERROR)
    else:
        possible = shapes_of(tool, stores[tool.backend])
        shapes = [shape for shape in possible if may_be(text, shape, stores[tool.backend])]
        assert shapes, (name, arguments, text[:300], tool.returns)
    after = attributes(world)
    for place, value in after.items():
        if value != before[place]:
            check_change(name, tool, place, before[place], value)
    assert name in WRITING or file_contents(world) <= contents, (name, arguments)


def check_change(name: str, tool: ToolFacts, place: tuple[str, str], before: Any, after: Any) -> None:
    backend, attribute = place
    assert backend == tool.backend, (name, place)
    assert attribute in tool.writes, (name, place)
    if attribute in tool.sets:
        assert after in tool.sets[attribute], (name, place, after)
    if attribute in tool.shrinks:
        kept = after if isinstance(after, list) else list(after)
        had = before if isinstance(before, list) else list(before)
        assert all(kept.count(item) <= had.count(item) for item in kept), (name, place)


def file_contents(world: MultiTurnWorld) -> set[str]:
    return set(contents_of(world.view().get("GorillaFileSystem")))


def contents_of(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if value.get("type") == "file" and value["content"]:
            yield repr(value["content"])
        for item in value.values():
            yield from contents_of(item)


def calls_of(task: Task) -> list[tuple[str, Mapping[str, Any]]]:
    reference: Any = task.reference
    return [(call.name, call.arguments) for turn in reference.ground_truth for call in turn]


@pytest.mark.parametrize("category", CATEGORIES)
def test_the_ground_truth_does_nothing_that_the_source_was_not_said_to_do(
    category: str, facts: Mapping[str, ToolFacts]
) -> None:
    for task in envs_registry.get_suite("BFCL").tasks(category):
        world = task.metadata["make_world"]()
        stores = {name: store_of(name, world.view()) for name, _ in world._instances}
        for name, arguments in calls_of(task):
            check_call(world, name, arguments, facts[name], stores)


@pytest.mark.parametrize("category", ["multi_turn_base", "multi_turn_long_context"])
def test_nor_do_calls_at_random(category: str, facts: Mapping[str, ToolFacts]) -> None:
    """Every tool of the pool, with values of the task's own or of the wrong type, one after the other."""
    tasks = envs_registry.get_suite("BFCL").tasks(category)
    generator = random.Random(20260101)
    for task in generator.sample(tasks, 60):
        world = task.metadata["make_world"]()
        stores = {name: store_of(name, world.view()) for name, _ in world._instances}
        values = [value for _, arguments in calls_of(task) for value in arguments.values()]
        for name, arguments in random_calls(task, values, generator):
            check_call(world, name, arguments, facts[name], stores)


def random_calls(
    task: Task, values: list[Any], generator: random.Random
) -> Iterator[tuple[str, dict[str, Any]]]:
    odd = [None, True, 0, -1, 2.5, "", "x", [], ["a", "b"], {"status": "Open"}, {}]
    truth = calls_of(task)
    for _ in range(60):
        if truth and generator.random() < 0.4:
            name, given = generator.choice(truth)
            arguments = dict(given)
        else:
            tool = generator.choice(task.tools)
            name, arguments = tool.name, {}
            for parameter, schema in tool.parameters["properties"].items():
                fitting = [value for value in values if fits(value, schema)]
                arguments[parameter] = generator.choice(fitting or odd)
        if arguments and generator.random() < 0.2:
            arguments[generator.choice(sorted(arguments))] = generator.choice(odd)
        yield name, arguments


def fits(value: Any, schema: Mapping[str, Any]) -> bool:
    kinds: dict[str, tuple[type, ...]] = {
        **{"string": (str,), "integer": (int,), "number": (int, float)},
        **{"array": (list,), "object": (dict,)},
    }
    return isinstance(value, kinds.get(schema.get("type", ""), ()))


# ---- hand-read facts: what a person reads in upstream's source ----


@pytest.mark.parametrize(
    ("tool", "writes"),
    [
        ("get_stock_info", set()),
        ("view_messages_sent", set()),
        ("displayCarStatus", set()),
        ("cd", {"_current_dir"}),
        ("fillFuelTank", {"fuelLevel"}),
        ("pressBrakePedal", {"brakePedalStatus", "_brakePedalForce"}),
        ("place_order", {"orders", "order_counter"}),
        ("send_message", {"generated_ids", "inbox", "message_count"}),
        ("add_to_watchlist", {"watch_list"}),
        ("mention", {"tweets"}),
        ("close_ticket", {"ticket_queue"}),
        ("cancel_booking", {"booking_record", "credit_card_list"}),
    ],
)
def test_what_tools_write(tool: str, writes: set[str], facts: Mapping[str, ToolFacts]) -> None:
    assert facts[tool].writes == writes


def test_what_tools_only_take_from(facts: Mapping[str, ToolFacts]) -> None:
    taking = {name: set(tool.shrinks) for name, tool in facts.items() if tool.shrinks}
    assert taking["remove_stock_from_watchlist"] == {"watch_list"}
    assert taking["unfollow_user"] == {"following_list"}
    assert "add_to_watchlist" not in taking


def test_what_tools_set(facts: Mapping[str, ToolFacts]) -> None:
    assert facts["releaseBrakePedal"].sets["brakePedalStatus"] == ("released",)
    assert set(facts["pressBrakePedal"].sets["brakePedalStatus"]) == {"released", "pressed"}
    assert facts["logout"].sets["current_user"] == (None,)
    assert "current_user" not in facts["ticket_login"].sets


@pytest.mark.parametrize(
    ("text", "tools"),
    [
        ("{\"result\": \"'a' moved to 'b'\"}", {"mv"}),
        ('{"result": "\'a\' removed"}', {"rm", "rmdir"}),
        ('{"file_content": "x"}', {"cat"}),
        ("None", {"mkdir", "touch", "echo"}),
    ],
)
def test_which_file_tools_can_return_a_text(
    text: str, tools: set[str], facts: Mapping[str, ToolFacts]
) -> None:
    store = Store({}, frozenset(), {}, frozenset(), frozenset())
    files = {name: tool for name, tool in facts.items() if tool.backend == "GorillaFileSystem"}
    able = {name for name, tool in files.items() if any(may_be(text, one, store) for one in tool.returns)}
    assert able == tools


def test_every_backend_is_read(bfcl_package: Path) -> None:
    sizes = {name: len(backend.tools) for name, backend in backend_facts(bfcl_package).items()}
    # The number of documented tools of each class (datasets/bfcl/NOTES.md).
    assert sizes == {
        "GorillaFileSystem": 18,
        "MathAPI": 17,
        "MessageAPI": 10,
        "TwitterAPI": 14,
        "TicketAPI": 9,
        "TradingBot": 20,
        "TravelAPI": 18,
        "VehicleControlAPI": 22,
    }


# ---- shapes ----


def store(**given: Any) -> Store:
    plain: dict[str, Any] = {
        "initial": {"orders": {"1": {"id": 1, "status": "Open"}}, "names": ["x"]},
        "written": frozenset({"orders"}),
        "puts": {"orders": (Record((("id", Value()), ("amount", Value("number")))),)},
        "later": frozenset({"status"}),
        "adjusted": frozenset(),
    }
    return Store(**{**plain, **given})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"id": 2, "status": "Closed"}', True),  # the first one, changed
        ('{"id": 2, "amount": 3}', True),  # one put in
        ('{"id": 2, "amount": 3, "status": "Open"}', True),  # one put in, with a key set later
        ('{"id": 2, "amount": "3"}', False),  # amounts are numbers
        ('{"id": 2}', False),
        ('{"status": "Open", "id": 1}', False),  # in another order
        ('{"price": 2}', False),
        ("None", False),
    ],
)
def test_what_an_item_kept_may_be(text: str, expected: bool) -> None:
    assert may_be(text, Kept("orders", 1), store()) is expected


def test_what_never_changes_is_one_of_the_first_values() -> None:
    assert may_be("x", Kept("names", 1), store())
    assert not may_be("y", Kept("names", 1), store())
    assert may_be("['x']", Kept("names", 0), store())


def test_what_cannot_be_said_may_be_anything() -> None:
    assert may_be("whatever", Kept("unknown", 1), store())
    assert may_be("whatever", Kept("orders", 1), store(puts={"orders": None}))
    assert may_be('{"any": 1}', Kept("orders", 1), store(later=None))


def test_a_dictionary_that_is_no_json_is_written_by_str() -> None:
    shape = Record((("result", Value()),))
    assert may_be("{'result': mpf('2.0')}", shape, store())
    assert not may_be("{'other': mpf('2.0')}", shape, store())
