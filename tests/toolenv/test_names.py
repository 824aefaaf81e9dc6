"""Wire names: field case 020 and the names of the real data."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolenv.errors import SchemaError
from toolenv.names import lookup_table, with_wire_names
from toolenv.types import ToolSpec

FIELD_020 = [
    "retrieve_detailed_historical_weather_measurements_for_location_by_hour_v1",
    "retrieve_detailed_historical_weather_measurements_for_location_by_day_v1",
    "天气 lookup",
]


def wires(names: list[str]) -> dict[str, str]:
    return {tool.name: tool.wire_name for tool in with_wire_names([ToolSpec(name) for name in names])}


def test_field_020_long_and_foreign_names() -> None:
    named = wires(FIELD_020)
    assert len(set(named.values())) == 3
    for wire in named.values():
        assert re.fullmatch("[a-zA-Z0-9_-]{1,64}", wire)
    assert named[FIELD_020[0]].startswith("retrieve_detailed_historical_weather_measurements_for")
    assert named[FIELD_020[2]].startswith("lookup_")


def test_field_020_names_are_stable_across_runs_orders_and_pools() -> None:
    code = (
        "import sys, json; from toolenv.names import with_wire_names; from toolenv.types import ToolSpec;"
        "tools = with_wire_names([ToolSpec(name) for name in json.loads(sys.argv[1])]);"
        "print(json.dumps([tool.wire_name for tool in tools]))"
    )
    command = [sys.executable, "-c", code, json.dumps(FIELD_020)]
    root = Path(__file__).parents[2]
    output = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root).stdout
    named = wires(FIELD_020)
    assert json.loads(output) == list(named.values())
    assert wires(FIELD_020[::-1]) == named
    for name in FIELD_020:
        assert wires([name, "other.tool"])[name] == named[name]


def test_field_020_calls_map_back_to_the_original() -> None:
    tools = with_wire_names([ToolSpec(name) for name in [*FIELD_020, "math.add"]])
    table = lookup_table(tools)
    assert len(table) == 8
    for tool in tools:
        assert table[tool.name] is tool
        assert table[tool.wire_name] is tool


def test_legal_names_are_kept_and_dots_become_underscores() -> None:
    assert wires(["get_weather", "math.add", "a b/c", "x" * 64]) == {
        "get_weather": "get_weather",
        "math.add": "math_add",
        "a b/c": "a_b_c",
        "x" * 64: "x" * 64,
    }


def test_a_wire_name_is_never_another_tools_own_name() -> None:
    named = wires(["math.add", "math_add", "math add"])
    assert named["math_add"] == "math_add"
    assert len(set(named.values())) == 3
    hashed = named["math.add"]
    assert re.fullmatch("math_add_[0-9a-f]{8}", hashed)
    again = wires(["math.add", "math_add", hashed])
    assert again[hashed] == hashed
    assert re.fullmatch("math_add_[0-9a-f]{16}", again["math.add"])


@pytest.mark.parametrize("names", [["a", "b", "a"], ["a.b", "a.b"]])
def test_field_020_equal_names_raise_at_build_time(names: list[str]) -> None:
    with pytest.raises(SchemaError, match=f"two tools are named '{names[0]}'"):
        wires(names)


def test_an_empty_name_is_refused() -> None:
    with pytest.raises(SchemaError, match="tool number 2 of 2 has an empty name"):
        wires(["a", ""])


def test_a_lookup_table_refuses_a_name_for_two_tools() -> None:
    with pytest.raises(SchemaError, match=r"'a_b' means two tools, 'a\.b' and 'a_b'"):
        lookup_table([ToolSpec("a.b", wire_name="a_b"), ToolSpec("a_b")])


def test_tools_without_wire_names_are_found_by_their_own() -> None:
    tool = ToolSpec("a.b")
    assert lookup_table([tool]) == {"a.b": tool}


def test_naming_again_changes_nothing() -> None:
    once = with_wire_names([ToolSpec("a.b"), ToolSpec("c")])
    assert all(again is tool for again, tool in zip(with_wire_names(once), once, strict=True))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.text(alphabet="ab._- é\ud800", min_size=1, max_size=80), unique=True, max_size=8))
def test_any_pool_gets_distinct_legal_names_in_any_order(names: list[str]) -> None:
    named = wires(names)
    assert len(set(named.values())) == len(names)
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", wire) for wire in named.values())
    assert not any(wire in names and wire != name for name, wire in named.items())
    assert wires(sorted(names)) == named


def test_every_bfcl_pool_only_swaps_dots(shared_datasets: Path) -> None:
    """Upstream replaces dots by underscores; the notes say that no pool has a collision or a long name."""
    pools = 0
    for file in sorted((shared_datasets / "bfcl/bfcl_eval/data").glob("BFCL_v4_*.json")):
        for line in file.read_text().splitlines():
            functions = json.loads(line).get("function", []) if line.startswith('{"id"') else []
            pools += bool(functions)
            for name, wire in wires([function["name"] for function in functions]).items():
                assert wire == name.replace(".", "_")
    assert pools > 3_000
