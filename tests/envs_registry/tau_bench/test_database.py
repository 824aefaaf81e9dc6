"""The shared base and the views over it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs_registry.tau_bench.database import Database, canonical_text, own_copy
from envs_registry.tau_bench.load import load_database, load_split
from envs_registry.tau_bench.splits import SPLITS
from envs_registry.tau_bench.world import TauWorld
from tests.envs_registry.tau_bench.conftest import answer
from tests.envs_registry.tau_bench.upstream_hash import hash_of

PAIR = Database("toy", {"a": {"1": {"n": 1}, "2": {"n": 2}}, "b": {}})


def test_a_change_undone_is_no_change() -> None:
    view, pristine = PAIR.open(), PAIR.open().digest()
    view["a"].edit("1")["n"] = 5
    assert view.digest() != pristine
    assert view.differences() == {"a": {"1": {"n": 5}}}
    view["a"].edit("1")["n"] = 1
    assert view.digest() == pristine
    assert view.differences() == {}


def test_an_order_paid_back_to_the_old_address_equals_the_pristine_one(
    new_world: Callable[[str], TauWorld],
) -> None:
    """A new address has its keys in another order; only the text shows that (TOOLS.md, 11.8)."""
    world = new_world("retail")
    old = dict(world.data["orders"]["#W1080318"]["address"])
    elsewhere = dict.fromkeys(old, "elsewhere")
    answer(world, "modify_pending_order_address", order_id="#W1080318", **elsewhere)
    assert world.digest() != new_world("retail").digest()
    text = answer(world, "modify_pending_order_address", order_id="#W1080318", **old)
    assert '"state": "FL", "country": "USA"' in text
    assert world.digest() == new_world("retail").digest()


def test_a_fork_is_independent() -> None:
    first = PAIR.open()
    first["a"].edit("1")["n"] = 5
    second = first.fork()
    second["a"].edit("1")["n"] = 6
    second["b"].put("new", {"x": []})
    assert first.differences() == {"a": {"1": {"n": 5}}}
    assert second.differences() == {"a": {"1": {"n": 6}}, "b": {"new": {"x": []}}}


def test_new_records_come_last_and_changed_ones_keep_their_place() -> None:
    view = PAIR.open()
    view["a"].put("0", {"n": 0})
    view["a"].edit("1")["n"] = 5
    assert [(key, record["n"]) for key, record in view["a"].items()] == [("1", 5), ("2", 2), ("0", 0)]


def test_equal_records_in_different_tables_are_different_states() -> None:
    left, right = PAIR.open(), PAIR.open()
    left["a"].put("k", {"n": 1})
    right["b"].put("k", {"n": 1})
    assert left.digest() != right.digest()


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [  # TOOLS.md, section 4
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ([1, 2], [2, 1], False),
        ({"a": None}, {}, False),
        (5, 5.0, False),
        (1, True, False),
        (1.0, True, False),
        (0.0, -0.0, False),
        ({}, [], True),
        ("5", 5, False),
        ({"a": {}}, {"a": []}, True),
        ([["a", 1]], {"a": 1}, True),
    ],
)
def test_equality_is_upstreams(left: Any, right: Any, equal: bool) -> None:
    assert (hash_of([left]) == hash_of([right])) is equal  # that the test's own hash says so
    assert (canonical_text(left) == canonical_text(right)) is equal


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats(-2, 2, width=16)
    | st.text("ab'\"\\é", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab", max_size=1), inner, max_size=2),
    max_leaves=4,
)


@given(JSON, JSON)
def test_texts_are_equal_exactly_if_upstreams_hashes_are(left: Any, right: Any) -> None:
    assert (canonical_text(left) == canonical_text(right)) == (hash_of([left]) == hash_of([right]))


@given(JSON)
def test_copies_are_equal_and_apart(value: Any) -> None:
    copied = own_copy(value)
    assert canonical_text(copied) == canonical_text(value)
    assert type(copied) is type(value)
    assert copied is not value or not isinstance(value, dict | list)


def test_field_015_the_pristine_data_is_unchanged_after_100_episodes(tau_folder: Path) -> None:
    """… nor does one episode see another's writes, in one thread or several."""
    databases = {domain: load_database(tau_folder, domain) for domain in ("retail", "airline")}
    before = {domain: hash_of(dict(database.tables)) for domain, database in databases.items()}
    tasks = [
        *load_split(tau_folder, SPLITS["retail_test"]),
        *load_split(tau_folder, SPLITS["airline_test"]),
    ]
    ends: list[dict[str, str]] = []

    def play() -> None:
        found = {}
        for task in tasks:
            world = task.metadata["make_world"]()
            for action in task.reference.actions:
                answer(world, action.name, **action.arguments)
            found[task.id] = world.digest()
        ends.append(found)

    play()
    threads = [threading.Thread(target=play) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(tasks) == 165
    assert ends[0] == ends[1] == ends[2]
    assert {domain: hash_of(dict(database.tables)) for domain, database in databases.items()} == before


def test_field_015_two_environments_share_nothing(new_world: Callable[[str], TauWorld]) -> None:
    """The steps of the field case, with an order that is cancelled in place of one that is deleted."""
    first, second = new_world("retail"), new_world("retail")
    answer(first, "cancel_pending_order", order_id="#W1080318", reason="no longer needed")
    assert '"status": "pending"' in answer(second, "get_order_details", order_id="#W1080318")
    first = new_world("retail")
    assert '"status": "pending"' in answer(first, "get_order_details", order_id="#W1080318")
