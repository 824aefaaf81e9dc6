"""The world to search in against the world that counts; outcomes and claims of BFCL tasks by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import envs_registry
from envs_registry.bfcl.claims import RULES, is_told, tool_facts
from envs_registry.bfcl.planning import PLANNER
from envs_registry.bfcl.planning_world import PlanningWorld, features_of
from toolenv.env import ToolEnv
from toolenv.errors import ToolError
from toolenv.feasibility.certificates.records import Claim
from toolenv.source import TaskSource
from toolenv.task import Task
from toolenv.trace import Trace
from toolenv.types import Action, Message, ToolCall, ToolCalls

CATEGORY = "multi_turn_base"


@pytest.fixture(scope="module")
def tasks(bfcl_package: Path) -> dict[str, Task]:
    return {task.id: task for task in envs_registry.get_suite("BFCL").tasks(CATEGORY)}


def truth(task: Task) -> list[ToolCall]:
    reference: Any = task.reference
    return [call for turn in reference.ground_truth for call in turn]


def play(task: Task, *actions: Action) -> Trace:
    suite = envs_registry.get_suite("BFCL")
    env = ToolEnv(TaskSource(suite, "clean", {task.id: task}, {}, 0.0, suite.max_turns))
    env.reset(seed=0, options={"task_id": task.id})
    for action in actions:
        *_, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            break
    return env.trace


def test_the_world_to_search_in_answers_like_the_other(tasks: dict[str, Task]) -> None:
    for task in tasks.values():
        world, own = task.metadata["make_world"](), PLANNER.start(task)
        for call in truth(task):
            before = own.fork()
            try:
                text = world.call(call.name, call.arguments)
            except ToolError as error:
                text = str(error)
            assert own.call(call.name, call.arguments) == text
            assert own.features() == features_of(world.view())
            own = before.fork()  # what the call did to one copy is not seen in the other
            assert own.call(call.name, call.arguments) == text


def test_forks_are_apart(tasks: dict[str, Task]) -> None:
    changing = PLANNER.changing(tasks["multi_turn_base_0"])
    for task in list(tasks.values())[::5]:
        world = PLANNER.start(task)
        for call in truth(task):
            key = world.key()
            fork = world.fork()
            fork.call(call.name, call.arguments)
            assert world.key() == key
            assert call.name in changing or fork.key() == key
            world = fork


def test_reading_again_gives_the_same_random_values(tasks: dict[str, Task]) -> None:
    task = next(one for one in tasks.values() if "VehicleControlAPI" in one.metadata["make_world"].args[1])
    start = PlanningWorld(task.metadata["make_world"](), tool_facts())
    first = [start.fork().call("get_outside_temperature_from_google", {}) for _ in range(2)]
    assert first[0] == first[1]
    later = start.fork()
    later.call("get_outside_temperature_from_google", {})
    assert later.call("get_outside_temperature_from_google", {}) != first[0]
    assert later.key() != start.key()


def test_whoever_satisfies_the_judge_brings_about_the_outcome(tasks: dict[str, Task]) -> None:
    for task in tasks.values():
        trace = play(task, *task.reference.solution())
        assert task.reference.score(trace).success
        assert RULES.outcome(task, trace).success


def test_doing_nothing_is_no_outcome(tasks: dict[str, Task]) -> None:
    idle = [play(task, *(Message("Done.") for _ in range(9))) for task in tasks.values()]
    brought = [
        task.id
        for task, trace in zip(tasks.values(), idle, strict=True)
        if RULES.outcome(task, trace).success
    ]
    assert brought == []


def test_an_outcome_asks_for_no_confirmation(tasks: dict[str, Task]) -> None:
    """Task 46: the drafts and their folder have to go. ``rm`` removes folders, too."""
    task = tasks["multi_turn_base_46"]
    trace = play(task, ToolCalls((ToolCall("rm", {"file_name": "Drafts"}),)), Message("Done."))
    assert not task.reference.score(trace).success
    assert RULES.outcome(task, trace).success


# ---- what is told ----

CALL = ToolCall("some_tool", {"text": "the quick brown fox jumps"})


@pytest.mark.parametrize(
    ("wanted", "result", "expected"),
    [
        ('{"fuelLevel": 5}', '{"fuelLevel": 5}', True),
        ('{"fuelLevel": 5}', '{"engineState": "running", "fuelLevel": 5}', True),
        ('{"fuelLevel": 5}', '{"fuelLevel": 6}', False),
        ('{"id": 1, "by": "me"}', '[{"id": 2}, {"id": 1, "by": "me", "tags": []}]', True),
        ('{"id": 1, "by": "me"}', '{"a": {"id": 1}, "b": {"by": "me"}}', False),
        (
            '{"file_content": "a line that is long enough"}',
            '{"last_lines": "a line that is long enough"}',
            True,
        ),
        ('{"file_content": "short"}', '{"last_lines": "short"}', False),
        ('{"text": "the quick brown fox jumps"}', '{"error": "no: the quick brown fox jumps"}', False),
        ("None", "None", True),
        ("None", "{}", False),
        ("{}", '{"a": 1}', False),
    ],
)
def test_what_a_result_tells(wanted: str, result: str, expected: bool) -> None:
    """The agent's own words in an error tell it nothing."""
    assert is_told(wanted, [(CALL, result)]) is expected


# ---- claims ----


@pytest.mark.parametrize(
    ("mask", "claim", "problem"),
    [
        # Task 100 funds the account after looking up a stock.
        ("get_stock_info", Claim("effect", 1, {"attribute": "TradingBot.account_info"}), "may change"),
        ("fund_account", Claim("effect", 1, {"attribute": "TradingBot.stocks"}), "does not change"),
        ("fund_account", Claim("effect", 0, {"attribute": "TradingBot.account_info"}), "does not change"),
        (
            "fund_account",
            Claim("effect", 7, {"attribute": "TradingBot.account_info"}),
            "none that is checked",
        ),
        ("fund_account", Claim("effect", 1, {"attributes": "TradingBot.account_info"}), "unknown claim"),
        ("fund_account", Claim("wish", 1, {"attribute": "TradingBot.account_info"}), "unknown claim"),
        ("fund_account", Claim("result", 1, {"text": "made up"}), "no ground-truth call"),
        (
            "fund_account",
            Claim("result", 1, {"text": '{"status": "Account funded successfully", "new_balance": 12203.4}'}),
            "",
        ),
        (
            "get_stock_info",
            Claim("result", 1, {"text": '{"status": "Account funded successfully", "new_balance": 12203.4}'}),
            "fund_account may return",
        ),
    ],
)
def test_claims(mask: str, claim: Claim, problem: str, tasks: dict[str, Task]) -> None:
    found = RULES.problem(tasks["multi_turn_base_100"].masked(frozenset({mask})), claim)
    assert problem in found
    assert bool(problem) == bool(found)


def test_whoever_only_removes_cannot_add(tasks: dict[str, Task]) -> None:
    """Task 104 puts a stock on the watchlist; ``remove_stock_from_watchlist`` is left."""
    claim = Claim("effect", 1, {"attribute": "TradingBot.watch_list"})
    masked = tasks["multi_turn_base_104"].masked(frozenset({"add_to_watchlist"}))
    assert "remove_stock_from_watchlist" in {tool.name for tool in masked.offered(1)}
    assert RULES.problem(masked, claim) == ""


def test_no_claim_holds_of_a_task_with_all_its_tools(tasks: dict[str, Task]) -> None:
    """Its own solution would contradict it."""
    for task in tasks.values():
        unmasked = task.masked(frozenset({"a_tool_that_never_was"}))
        every = task.masked(frozenset(tool.name for tool in task.tools))
        for claim in PLANNER.claims(every):
            assert RULES.problem(unmasked, claim), (task.id, claim)
