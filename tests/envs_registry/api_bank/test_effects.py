"""What is declared of API-Bank's APIs, held against what they do.

The expected values are the APIs' own behaviour: every recorded call of all three levels, and calls with
arguments mixed from them.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import envs_registry
from envs_registry.api_bank.claims import leaves
from envs_registry.api_bank.effects import (
    BY_EMAIL,
    CHANGES,
    COMPUTES,
    DEEDS,
    NEW_USERS,
    OWNED,
    READS,
)
from envs_registry.api_bank.outcome import Contents, contents, reference_of
from envs_registry.api_bank.registry import apis
from envs_registry.api_bank.revealing import tells
from envs_registry.api_bank.world import APIBankWorld
from toolenv.task import Task

SUBSETS = ("level-1", "level-2", "level-3")


def tasks_of(subset: str) -> tuple[Task, ...]:
    return envs_registry.get_suite("APIBank").tasks(subset)


def calls_of(subset: str) -> list[tuple[str, dict[str, Any]]]:
    calls = [call for task in tasks_of(subset) for call in reference_of(task).setting.dialogue.calls]
    return [(call.name, dict(call.arguments)) for call in calls if call.name != "ToolSearcher"]


def mixed(subset: str, count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls whose arguments come from calls of the same API, each from another."""
    generator, by_name = random.Random(2026), dict[str, list[dict[str, Any]]]()
    for name, arguments in calls_of(subset):
        by_name.setdefault(name, []).append(arguments)
    for _ in range(count):
        name = generator.choice(sorted(by_name))
        first = generator.choice(by_name[name])
        others = {key: generator.choice(by_name[name]).get(key, value) for key, value in first.items()}
        yield name, others


def worlds(subset: str, count: int, length: int) -> Iterator[list[tuple[str, dict[str, Any]]]]:
    calls = [*calls_of(subset), *mixed(subset, count)]
    random.Random(7).shuffle(calls)
    yield from (calls[at : at + length] for at in range(0, len(calls), length))


def ways_between(before: Contents, after: Contents, table: str) -> set[str]:
    """How a call changed a table, as far as its difference from the start tells.

    A record that the agent itself had added and that another one takes the place of is no shipped one that is
    removed.
    """
    then, now = before.get(table, {}), after.get(table, {})
    rise = (len(now.get("added", ())) - len(now.get("removed", ()))) - (
        len(then.get("added", ())) - len(then.get("removed", ()))
    )
    found = {
        way
        for way in ("added", "removed")
        if Counter(map(repr, now.get(way, ()))) - Counter(map(repr, then.get(way, ())))
    }
    return found | ({"more"} if rise > 0 else {"fewer"} if rise < 0 else set())


@pytest.mark.parametrize("subset", SUBSETS)
def test_no_api_changes_what_is_not_declared(subset: str) -> None:
    """Each call's change of the tables, step by step in worlds that other calls have changed before."""
    task, changed = tasks_of(subset)[0], set[str]()
    declared = CHANGES[reference_of(task).setting.folder]
    for sequence in worlds(subset, 1500, 6):
        world = reference_of(task).setting.world(0)
        before = contents(world, task)
        for name, arguments in sequence:
            world.answer(name, arguments)
            after = contents(world, task)
            for table in {*before, *after}:
                if ways := ways_between(before, after, table):
                    changed.add(name)
                    at, allowed = declared.get(name, ("", ()))
                    assert table == at, (name, arguments, table)
                    assert ways <= set(allowed), (name, arguments, ways)
            before = after
    expected = {name for name, _ in calls_of(subset) if name in declared}
    assert changed <= expected
    assert len(changed) >= 0.9 * len(expected)  # nearly every one did change something, once


def test_only_the_apis_of_new_users_and_e_mails_change_a_user_s_records_without_a_token() -> None:
    documents = reference_of(tasks_of("level-1")[0]).setting.documents
    owned = {name for name, (table, _) in CHANGES["apis"].items() if table in OWNED}
    without = {name for name in owned if "token" not in documents[name]["input_parameters"]}
    assert without == BY_EMAIL | NEW_USERS


@pytest.mark.parametrize("subset", SUBSETS)
def test_no_api_tells_what_is_not_declared(subset: str) -> None:
    """Each text and number of an output was given, is declared to be told, or is drawn."""
    task, checked = tasks_of(subset)[0], 0
    for sequence in worlds(subset, 1500, 6):
        world, given = reference_of(task).setting.world(0), ""
        for name, arguments in sequence:
            given += f" {arguments}".casefold()
            output = outcome(world, name, arguments)
            if name in COMPUTES | NEW_USERS | DEEDS or name == "AppointmentRegistration":
                continue
            for leaf in leaves(output):
                told = leaf in ("success", "") or str(leaf).casefold() in given or tells(task, name, leaf)
                checked += 1
                assert told, (name, arguments, leaf)
    assert checked > 1000


def outcome(world: APIBankWorld, name: str, arguments: Mapping[str, Any]) -> Any:
    result = world.answer(name, arguments).result
    return None if result is None else result["output"]


def test_what_is_not_read_is_not_told() -> None:
    """The check above can fail: a stock's price is told by QueryStock and by no other API."""
    task = next(one for one in tasks_of("level-1") if one.id.startswith("QueryStock"))
    price = reference_of(task).needed[0].result["output"]
    assert [name for name in apis("apis") if tells(task, name, price)] == ["QueryStock"]


@pytest.mark.parametrize("folder", ["apis", "lv3_apis"])
def test_the_declarations_are_about_apis_that_there_are(folder: Any) -> None:
    named = {*CHANGES[folder], *READS[folder]}
    assert named <= set(apis(folder))
    assert set(apis("apis")) | set(apis("lv3_apis")) >= DEEDS | COMPUTES
