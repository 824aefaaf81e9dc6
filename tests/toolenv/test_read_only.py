"""What many share cannot be changed in place, and is JSON all the same."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import gymnasium
import pytest

import toolenv
from toolenv.read_only import frozen, thawed

SCHEMA = {
    "type": "object",
    "properties": {"size": {"type": "string", "enum": ["s", "m", "l"]}, "at": {"type": ["number", "null"]}},
    "required": ["size"],
}

DICT_EDITS: list[Callable[[Any], object]] = [
    lambda value: value.__setitem__("type", "array"),
    lambda value: value.__delitem__("type"),
    lambda value: value.update(type="array"),
    lambda value: value.setdefault("x", 1),
    lambda value: value.pop("type"),
    lambda value: value.popitem(),
    lambda value: value.clear(),
    lambda value: value.__ior__({"x": 1}),
    lambda value: value["properties"].pop("size"),
]
LIST_EDITS: list[Callable[[Any], object]] = [
    lambda value: value.append("at"),
    lambda value: value.extend(["at"]),
    lambda value: value.insert(0, "at"),
    lambda value: value.remove("size"),
    lambda value: value.pop(),
    lambda value: value.clear(),
    lambda value: value.reverse(),
    lambda value: value.sort(),
    lambda value: value.__setitem__(0, "at"),
    lambda value: value.__delitem__(0),
    lambda value: value.__iadd__(["at"]),
    lambda value: value.__imul__(2),
]


@pytest.mark.parametrize("edit", DICT_EDITS, ids=range(len(DICT_EDITS)))
def test_no_way_to_edit_a_dict_works(edit: Callable[[Any], object]) -> None:
    value = frozen(SCHEMA)
    with pytest.raises(TypeError, match=r"read-only; copy\.deepcopy\(\) gives one"):
        edit(value)
    assert value == SCHEMA


@pytest.mark.parametrize("edit", LIST_EDITS, ids=range(len(LIST_EDITS)))
def test_no_way_to_edit_a_list_works(edit: Callable[[Any], object]) -> None:
    value = frozen(SCHEMA)
    with pytest.raises(TypeError, match="read-only"):
        edit(value["required"])
    assert value == SCHEMA


def test_it_is_json_and_equal_to_what_it_was_made_of() -> None:
    value = frozen(SCHEMA)
    assert json.dumps(value) == json.dumps(SCHEMA)
    assert (value, repr(value)) == (SCHEMA, repr(SCHEMA))
    assert isinstance(value, dict)
    assert isinstance(value["required"], list)
    assert frozen(value) is value
    assert frozen(MappingProxyType(SCHEMA)) == SCHEMA


COPIES: dict[str, Callable[[Any], Any]] = {
    "thawed": thawed,
    "deepcopy": copy.deepcopy,
    "json": lambda value: json.loads(json.dumps(value)),
}


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_copies_are_plain_all_through(copied: Callable[[Any], Any]) -> None:
    value = frozen(SCHEMA)
    plain = copied(value)
    assert plain == SCHEMA
    assert {type(plain), type(plain["properties"]["size"])} == {dict}
    assert type(plain["required"]) is list
    plain["properties"]["size"]["enum"].append("xl")
    assert value == SCHEMA


def test_it_survives_pickling_and_stays_read_only() -> None:
    for value in (frozen(SCHEMA), frozen(SCHEMA)["required"], frozen(SCHEMA)["properties"]):
        again = pickle.loads(pickle.dumps(value))
        assert again == value
        assert type(again) is type(value)


def test_a_shallow_copy_is_plain_outside() -> None:
    assert {type(copy.copy(frozen(SCHEMA))), type(frozen(SCHEMA).copy())} == {dict}
    assert {type(copy.copy(frozen(["a"]))), type(frozen(["a"]).copy())} == {list}


def test_an_agent_cannot_change_the_tools_of_others() -> None:
    env = gymnasium.make("ToolFeas/Workflows-clean-v0", tasks="rail_journeys-sequential-0-0")
    observation, _ = env.reset(seed=0)
    tool = observation.tools[0]
    with pytest.raises(TypeError, match="read-only"):
        tool.parameters["properties"]["anything"] = {"type": "string"}  # type: ignore[index]
    sent = tool.to_openai()["function"]["parameters"]
    assert sent == tool.parameters
    sent["properties"].clear()
    assert env.reset(seed=0)[0].tools[0].to_openai()["function"]["parameters"] == tool.parameters != sent


def test_a_spec_takes_no_part_in_what_it_was_made_of() -> None:
    mine: dict[str, Any] = copy.deepcopy(SCHEMA)
    tool = toolenv.ToolSpec("order", parameters=mine)
    mine["properties"].clear()
    assert tool.parameters == SCHEMA
