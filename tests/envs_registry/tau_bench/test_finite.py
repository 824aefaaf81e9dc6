"""Keys that are not there: all tools answer alike, whatever else they are given, and change nothing."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import envs_registry
from envs_registry.tau_bench.claims import RULES
from envs_registry.tau_bench.finite import CHOICES, KEYS, TELLING_NOTHING, WITHOUT_ARGUMENTS
from envs_registry.tau_bench.revealing import FINDING
from toolenv.errors import ToolError
from toolenv.feasibility.certificates.exhausted import heard
from toolenv.task import Task

ODD: tuple[Any, ...] = ("", "a text", 0, 17.5, -1, True, None, [], ["x"], {}, [{"a": 1}])


def first_task(name: str) -> Task:
    tasks = envs_registry.get_suite("TauBench").tasks("default")
    return next(task for task in tasks if any(tool.name == name for tool in task.tools))


@pytest.mark.parametrize("name", KEYS)
def test_without_a_key_that_is_there_a_tool_tells_and_changes_nothing(name: str) -> None:
    task = first_task(name)
    parameter, _ = KEYS[name]
    tool = next(tool for tool in task.tools if tool.name == name)
    others = [one for one in tool.parameters["properties"] if one != parameter]
    texts, world = set[str](), RULES.start(task)
    before = world.digest()
    for key, odd in itertools.product(("nothing", "#W0000000", "0"), ODD):
        with pytest.raises(ToolError) as failure:
            world.call(name, {parameter: key, **dict.fromkeys(others, odd)})
        texts.add(str(failure.value))
    assert world.digest() == before
    assert len(texts) == 1
    assert not any(character.isdigit() for character in texts.pop())


@pytest.mark.parametrize("name", CHOICES)
def test_what_a_tool_takes_besides_its_key_is_all_declared(name: str) -> None:
    tool = next(tool for tool in first_task(name).tools if tool.name == name)
    for chosen in CHOICES[name]:
        assert {KEYS[name][0], *chosen} == set(tool.parameters["properties"])


def test_every_tool_but_the_flight_searches_is_declared() -> None:
    every = {
        tool.name
        for name in ("think", "book_reservation", "get_order_details")
        for tool in first_task(name).tools
    }
    known = {*KEYS, *FINDING, *WITHOUT_ARGUMENTS, *TELLING_NOTHING}
    assert every - known == {"search_direct_flight", "search_onestop_flight"}


def test_who_knows_no_key_can_call_nothing() -> None:
    """retail_test_62 without the tools that find its user: only a key would open another."""
    tasks = {task.id: task for task in envs_registry.get_suite("TauBench").tasks("retail")}
    lookups = "find_user_id_by_name_zip get_order_details get_product_details get_user_details"
    task = tasks["retail_test_62"].masked(frozenset({*lookups.split(), "list_all_product_types"}))
    assert RULES.grounded_calls(task, RULES.start(task), heard(task, 0)) == ()


def test_a_key_that_is_known_makes_calls_and_perhaps_calls_without_end() -> None:
    tasks = {task.id: task for task in envs_registry.get_suite("TauBench").tasks("retail")}
    task = tasks["retail_test_67"]  # "You are user noah_ito_3850"
    left = {
        "get_user_details",
        "get_order_details",
        "find_user_id_by_email",
        "calculate",
        "cancel_pending_order",
    }
    masked = task.masked(frozenset(tool.name for tool in task.tools) - left)
    calls = RULES.grounded_calls(masked, RULES.start(masked), heard(masked, 0))
    assert [(call.name, dict(call.arguments)) for call in calls or ()] == [
        ("get_user_details", {"user_id": "noah_ito_3850"})
    ]
    endless = task.masked(frozenset(tool.name for tool in task.tools) - {*left, "modify_user_address"})
    assert RULES.grounded_calls(endless, RULES.start(endless), heard(endless, 0)) is None
