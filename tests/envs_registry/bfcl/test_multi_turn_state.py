"""The multi-turn world's state: forks, digests and views."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from envs_registry.bfcl.backends import Backends
from envs_registry.bfcl.multi_turn_rules import run
from envs_registry.bfcl.multi_turn_world import UNBOUNDED, MultiTurnWorld
from tests.envs_registry.bfcl.multi_turn_cases import FILES, Entry
from toolenv.errors import ToolError, ToolFault
from toolenv.types import ToolCall


def instances(world: MultiTurnWorld) -> Mapping[str, Any]:
    return dict(world._instances)


def error(world: MultiTurnWorld, name: str, **arguments: Any) -> str:
    with pytest.raises(ToolError) as caught:
        world.call(name, arguments)
    return str(caught.value)


# ---- forks ----


def test_a_fork_goes_its_own_way(files: MultiTurnWorld) -> None:
    files.call("cd", {"folder": "docs"})
    fork = files.fork()
    assert fork.digest() == files.digest()
    fork.call("touch", {"file_name": "b.txt"})
    assert files.view() != fork.view()
    assert json.loads(files.call("ls", {})) == {"current_directory_content": []}
    assert json.loads(fork.call("ls", {})) == {"current_directory_content": ["b.txt"]}
    files.call("touch", {"file_name": "b.txt"})
    assert fork.digest() == files.digest()


def test_a_fork_continues_the_random_stream(backends: Backends) -> None:
    world = MultiTurnWorld.create(backends, ["VehicleControlAPI"], {})
    speeds = [world.call("get_current_speed", {}) for _ in range(3)]
    fork = world.fork()
    assert fork.call("get_current_speed", {}) == world.call("get_current_speed", {}) not in speeds


def deepened(world: MultiTurnWorld, levels: int) -> None:
    for _ in range(levels):
        world.call("mkdir", {"dir_name": "d"})
        world.call("cd", {"folder": "d"})


def test_a_file_system_nested_beyond_reason_stays_usable(files: MultiTurnWorld) -> None:
    deepened(files, 30)
    assert len(files.digest()) == 64
    assert files.fork().digest() == files.digest()
    deepened(files, 400)
    assert files.digest() == UNBOUNDED
    assert "…" in json.dumps(files.view(), ensure_ascii=False)
    with pytest.raises(ToolFault, match="nested too deep to copy"):
        files.fork()


def test_a_directory_copied_into_itself_is_endless(files: MultiTurnWorld) -> None:
    files.call("cp", {"source": "docs", "destination": "docs"})
    assert files.digest() == files.fork().digest() == UNBOUNDED
    assert json.dumps(files.view())
    assert error(files, "cp", source="docs", destination="more") == (
        "Error during execution: No space left on device"
    )
    assert error(files, "find").startswith("Error during execution: maximum recursion depth exceeded")


# ---- digests and views ----


def equal_to_upstreams_check(left: MultiTurnWorld, right: MultiTurnWorld) -> bool:
    """``==`` on every public attribute of every instance, with the backends' own ``__eq__``."""
    return all(
        getattr(instances(right)[name], attribute) == value
        for name, instance in instances(left).items()
        for attribute, value in vars(instance).items()
        if not attribute.startswith("_")
    )


def test_digests_are_equal_exactly_where_the_states_are(entries: list[Entry]) -> None:
    equal = different = 0
    for entry in entries[::4]:
        calls = [call for turn in entry.reference.ground_truth for call in turn]
        world, reached = entry.reference.make_world(), []
        for call in calls[:6]:
            reached.append(world.fork())
            run(world, [call])
        for index, left in enumerate(reached):
            for right in (*reached[index:], world):
                same = equal_to_upstreams_check(left, right)
                assert (left.digest() == right.digest()) is same
                equal, different = equal + same, different + (not same)
    assert min(equal, different) > 500


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ToolCall("withdraw_funds", {"amount": 100}), ToolCall("withdraw_funds", {"amount": 100.0})),
        (ToolCall("fund_account", {"amount": True}), ToolCall("fund_account", {"amount": 1})),
    ],
)
def test_states_that_differ_in_type_alone_are_equal(
    backends: Backends, one: ToolCall, other: ToolCall
) -> None:
    config = {"TradingBot": {"authenticated": True, "market_status": "Open"}}
    worlds = [MultiTurnWorld.create(backends, ["TradingBot"], config) for _ in range(2)]
    for world, call in zip(worlds, (one, other), strict=True):
        run(world, [call])
    assert worlds[0].digest() == worlds[1].digest()


def test_what_upstream_does_not_compare_is_not_in_the_digest(files: MultiTurnWorld) -> None:
    before = files.digest()
    files.call("cd", {"folder": "docs"})
    assert files.digest() == before


def test_a_file_is_no_empty_directory(backends: Backends) -> None:
    worlds = [MultiTurnWorld.create(backends, ["GorillaFileSystem"], FILES) for _ in range(2)]
    worlds[0].call("touch", {"file_name": "x"})
    worlds[1].call("mkdir", {"dir_name": "x"})
    assert worlds[0].digest() != worlds[1].digest()


def test_views_are_json_and_show_what_is_compared(files: MultiTurnWorld, entries: list[Entry]) -> None:
    file = {"type": "file", "name": "a.txt", "content": "one\ntwo"}
    docs = {"type": "directory", "name": "docs", "contents": {}}
    root = {"type": "directory", "name": "home", "contents": {"a.txt": file, "docs": docs}}
    assert files.view() == {"GorillaFileSystem": {"long_context": False, "root": root}}
    for entry in entries[::10]:
        world = entry.reference.make_world()
        assert json.loads(json.dumps(world.view())) == world.view()


def test_a_view_keeps_keys_apart_that_differ_in_type_alone(backends: Backends) -> None:
    config = {
        "TwitterAPI": {
            "authenticated": True,
            "tweets": {"1": {"id": 1, "username": "u", "content": "c", "tags": [], "mentions": []}},
            "comments": {"1": [{"username": "v", "content": "old"}]},
            "username": "u",
        }
    }
    world = MultiTurnWorld.create(backends, ["TwitterAPI"], config)
    world.call("comment", {"tweet_id": 1, "comment_content": "new"})
    assert world.view()["TwitterAPI"]["comments"] == {
        "1": [{"username": "v", "content": "old"}],
        "1 (int)": [{"username": "u", "content": "new"}],
    }
