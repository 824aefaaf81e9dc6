"""The effects declared for τ-bench's tools, held against what the tools do.

The expected values are the tools' own behaviour: every call of the ground truth of all 685 tasks, and calls
with arguments mixed from them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

import envs_registry
from envs_registry.tau_bench.claims import RULES, end_state, wanted
from envs_registry.tau_bench.database import own_copy
from envs_registry.tau_bench.domains import DOMAINS
from envs_registry.tau_bench.effects import EFFECTS, MARKS, SETS, Effect, observed
from envs_registry.tau_bench.revealing import knowable
from envs_registry.tau_bench.world import TauWorld
from tests.envs_registry.tau_bench.conftest import answer
from toolenv.feasibility.certificates.grounding import Knowledge
from toolenv.feasibility.certificates.records import Claim
from toolenv.task import Task

SUBSETS = ("default", "retail_train", "retail_dev")


def all_tasks() -> list[Task]:
    suite = envs_registry.get_suite("TauBench")
    return [task for subset in SUBSETS for task in suite.tasks(subset)]


def actions(task: Task) -> list[tuple[str, dict[str, Any]]]:
    reference: Any = task.reference
    return [(action.name, dict(action.arguments)) for action in reference.actions]


def effects_of(world: TauWorld, name: str, arguments: Mapping[str, Any]) -> Iterator[tuple[Effect, Any]]:
    """What a call does, compared record by record with the world before it."""
    before = world.fork()
    answer(world, name, **own_copy(dict(arguments)))
    for table, records in world.data.tables.items():
        start, end = {}, {}
        for key in records.changed:
            end[key] = records[key]
            if key in before.data[table]:
                start[key] = before.data[table][key]
        yield from observed({table: start}, {table: end})


def check_call(world: TauWorld, name: str, arguments: Mapping[str, Any]) -> int:
    count = 0
    for effect, value in effects_of(world, name, arguments):
        count += 1
        assert any(one.covers(effect) for one in EFFECTS.get(name, ())), (name, arguments, effect)
        settable = SETS.get((name, effect.place[-1]))
        assert settable is None or value in settable, (name, effect, value)
        if name in MARKS and effect.place[0] == "orders" and effect.place[2:] == ("payment_history",):
            field, mark = MARKS[name]
            assert world.data["orders"][effect.place[1]][field] == mark
    return count


def test_the_ground_truth_does_what_is_declared() -> None:
    effects = 0
    for task in all_tasks():
        world = task.metadata["make_world"]()
        for name, arguments in actions(task):
            effects += check_call(world, name, arguments)
    assert effects > 2000


def test_so_do_calls_with_mixed_and_odd_arguments(new_world: Callable[[str], TauWorld]) -> None:
    generator = random.Random(20260101)
    odd: list[Any] = [None, True, 0, -3, 2.5, "", "x", [], ["a"], {}, [{}], {"a": 1}]
    effects = 0
    for domain in ("retail", "airline"):
        made = [one for task in all_tasks() if task.metadata["domain"] == domain for one in actions(task)]
        made = [one for one in made if one[0] in EFFECTS]
        for _ in range(60):
            world = new_world(domain)
            for _ in range(25):
                name, arguments = generator.choice(made)
                arguments = own_copy(arguments)
                if generator.random() < 0.5:
                    other = generator.choice(made)[1]
                    shared = [key for key in arguments if key in other]
                    arguments.update({key: other[key] for key in shared[:1]})
                if generator.random() < 0.2:
                    arguments[generator.choice(sorted(arguments))] = generator.choice(odd)
                effects += check_call(world, name, arguments)
    assert effects > 1000


@pytest.mark.parametrize("domain", ["retail", "airline"])
def test_every_tool_that_is_not_declared_only_looks(domain: str) -> None:
    looking = set(DOMAINS[domain].tools) - set(EFFECTS)
    assert {name.split("_")[0] for name in looking} <= {
        *("calculate", "find", "get", "list", "search", "think", "transfer"),
    }


def test_a_marked_order_stays_as_it_is(new_world: Callable[[str], TauWorld]) -> None:
    """Once cancelled, no tool changes the status of an order any more."""
    for task in all_tasks():
        world = task.metadata["make_world"]()
        marked: dict[str, str] = {}
        for name, arguments in actions(task):
            answer(world, name, **own_copy(arguments))
            if name in MARKS and world.data["orders"][arguments["order_id"]]["status"] == MARKS[name][1]:
                marked[arguments["order_id"]] = MARKS[name][1]
            assert all(world.data["orders"][key]["status"] == mark for key, mark in marked.items())


# ---- what can be known ----


def test_no_chain_of_grounded_looks_tells_more_than_can_be_known() -> None:
    """Every call of the ground truth whose arguments are known tells only what was said can be known."""
    for task in all_tasks()[:160:16]:
        world = task.metadata["make_world"]()
        most = Knowledge((knowable(task, world.data).merged(),))
        known = Knowledge(knowable_start(task).sources)
        for name, arguments in actions(task):
            if all(map(known.has, arguments.values())):
                text = answer(world, name, **own_copy(arguments))
                known = known.plus(str(text))
                for record in ids_in(text):
                    assert most.has(record), (task.id, name, record)


def knowable_start(task: Task) -> Knowledge:
    return Knowledge().plus(*(message.content for message in task.messages))


def ids_in(text: Any) -> Iterator[str]:
    try:
        value = json.loads(text)
    except (TypeError, ValueError):
        return
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, str):
            yield item


# ---- claims by hand ----


def retail(number: int) -> Task:
    return next(one for one in all_tasks() if one.id == f"retail_test_{number}")


def test_what_the_first_task_brings_about() -> None:
    """Task 0 exchanges two items of #W2378156; read off upstream's task by hand."""
    changes = wanted(retail(0))
    assert {effect.place[2] for effect in changes} == {
        *("status", "exchange_items", "exchange_new_items"),
        *("exchange_payment_method_id", "exchange_price_difference"),
    }
    assert changes[Effect("changed", ("orders", "#W2378156", "status"))] == "exchange requested"
    assert end_state(retail(0))["orders"]["#W2378156"]["exchange_payment_method_id"] == "credit_card_9513926"


STATUS = {"way": "changed", "place": ["orders", "#W2378156", "status"]}


@pytest.mark.parametrize(
    ("mask", "facts", "problem"),
    [
        ("exchange_delivered_order_items", STATUS, ""),
        ("return_delivered_order_items", STATUS, "exchange_delivered_order_items may do that"),
        ("exchange_delivered_order_items", {**STATUS, "way": "added"}, "does not bring about"),
        ("exchange_delivered_order_items", {**STATUS, "way": "made up"}, "unknown way"),
        ("exchange_delivered_order_items", {"way": "changed", "place": ["orders"]}, "does not bring about"),
        ("exchange_delivered_order_items", {"place": ["orders"]}, "unknown claim"),
    ],
)
def test_claims_about_effects(mask: str, facts: dict[str, Any], problem: str) -> None:
    found = RULES.problem(retail(0).masked(frozenset({mask})), Claim("effect", 0, facts))
    assert problem in found
    assert bool(problem) == bool(found)


def test_a_value_that_only_a_masked_tool_tells() -> None:
    """Task 2's user gives a name and a zip code: without looking these up, no payment method is known."""
    facts = {"way": "added", "place": ["orders", "#W2378156", "return_payment_method_id"]}
    claim = Claim("value", 0, {**facts, "text": "credit_card_9513926"})
    blind = retail(2).masked(frozenset({"find_user_id_by_name_zip"}))
    assert RULES.problem(blind, claim) == ""
    assert "can be known" in RULES.problem(retail(2).masked(frozenset({"think"})), claim)
    other = Claim("value", 0, {**facts, "text": "made up"})
    assert "no argument puts" in RULES.problem(blind, other)
