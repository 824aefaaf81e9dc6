"""The multi-turn world: typed calls, upstream's texts, isolation, forks and digests."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest

from envs_registry.bfcl.backends import Backends
from envs_registry.bfcl.multi_turn_rules import run
from envs_registry.bfcl.multi_turn_world import MultiTurnWorld, parameter_names
from tests.envs_registry.bfcl.multi_turn_cases import FILES, Entry
from toolenv.errors import ToolError, UnknownNameError


class Kept:
    """A backend that keeps and returns what it is given."""

    def _load_scenario(self, scenario: Mapping[str, Any], long_context: bool = False) -> None:
        self.kept: list[Any] = []
        self.scenario = scenario
        self._private = 0

    def keep(self, value: Any = None) -> Any:
        self.kept.append(value)
        return value

    def fail(self, kind: str) -> None:
        raise {"key": KeyError("lost"), "empty": ValueError(), "stop": StopIteration(3)}[kind]

    def sorts(self) -> Any:
        return {"result": Decimal("1E+3"), "items": (1, 2)}

    def remove(self) -> str:
        return "never"

    def _hidden(self) -> str:
        return "never"


class Other(Kept):
    def keep(self, value: Any = None) -> Any:
        return "other"


@pytest.fixture
def kept() -> MultiTurnWorld:
    return MultiTurnWorld.create({"Kept": Kept}, ["Kept"], {"Kept": {"x": [1]}})


def error(world: MultiTurnWorld, name: str, **arguments: Any) -> str:
    with pytest.raises(ToolError) as caught:
        world.call(name, arguments)
    return str(caught.value)


# ---- results: what upstream's executor makes of each type, by hand ----


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        ("", ""),
        (None, "None"),
        (True, "True"),
        (1.50, "1.5"),
        ([1, "a", None], "[1, 'a', None]"),
        ({"a": 1, "é": [None, True]}, '{"a": 1, "\\u00e9": [null, true]}'),
    ],
)
def test_results_become_text(kept: MultiTurnWorld, value: Any, text: str) -> None:
    assert kept.call("keep", {"value": value}) == text


def test_a_dictionary_that_is_no_json_becomes_pythons_text(kept: MultiTurnWorld) -> None:
    assert kept.call("sorts", {}) == "{'result': Decimal('1E+3'), 'items': (1, 2)}"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("key", "Error during execution: 'lost'"),
        ("empty", "Error during execution: "),
        ("stop", "Error during execution: 3"),
    ],
)
def test_exceptions_become_text(kept: MultiTurnWorld, kind: str, text: str) -> None:
    assert error(kept, "fail", kind=kind) == text


def test_wrong_arguments_get_pythons_own_words(files: MultiTurnWorld) -> None:
    begin = "Error during execution: GorillaFileSystem."
    assert error(files, "cd", x="docs") == f"{begin}cd() got an unexpected keyword argument 'x'"
    assert error(files, "cd") == f"{begin}cd() missing 1 required positional argument: 'folder'"
    assert error(files, "cp", self=1) == f"{begin}cp() got multiple values for argument 'self'"
    assert error(files, "cd", folder=3) == "Error during execution: 'int' object has no attribute 'rstrip'"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("kill", "Function call kill is not allowed."),
        ("remove", "Function call remove is not allowed."),
        ("os.popen", "Function call popen is not allowed."),
        ("a.b.run", "name 'a' is not defined"),
        ("os.system", "name 'os' is not defined"),
        ("_hidden", "name '_hidden' is not defined"),
        ("__init__", "name '__init__' is not defined"),
        ("print", "name 'print' is not defined"),
        ("Kept.keep", "name 'Kept' is not defined"),
    ],
)
def test_what_is_no_tool_is_not_called(kept: MultiTurnWorld, name: str, reason: str) -> None:
    assert error(kept, name) == f"Error during execution: {reason}"


def test_of_equal_names_the_later_class_answers() -> None:
    both: Backends = {"Kept": Kept, "Other": Other}
    assert MultiTurnWorld.create(both, ["Kept", "Other"], {}).call("keep", {"value": "x"}) == "other"
    assert MultiTurnWorld.create(both, ["Other", "Kept"], {}).call("keep", {"value": "x"}) == "x"


def test_an_unknown_class_is_named_with_the_nearest(backends: Backends) -> None:
    with pytest.raises(
        UnknownNameError, match="unknown backend class 'TravelApi' in BFCL; did you mean 'TravelAPI'"
    ):
        MultiTurnWorld.create(backends, ["TravelApi"], {})


def test_parameters_are_in_the_order_upstream_takes_them(backends: Backends) -> None:
    names = parameter_names(backends)
    assert len(names) == 128
    assert names["post_tweet"] == ("content", "tags", "mentions")
    assert names["purchase_insurance"] == (
        "access_token",
        "insurance_type",
        "booking_id",
        "insurance_cost",
        "card_id",
    )


# ---- isolation (FIELD-015) ----


def test_field_015_episodes_share_nothing(backends: Backends) -> None:
    a, b = (MultiTurnWorld.create(backends, ["GorillaFileSystem"], FILES) for _ in range(2))
    pristine = a.digest()
    a.call("rm", {"file_name": "a.txt"})
    assert json.loads(b.call("cat", {"file_name": "a.txt"})) == {"file_content": "one\ntwo"}
    again = MultiTurnWorld.create(backends, ["GorillaFileSystem"], FILES)
    assert json.loads(again.call("cat", {"file_name": "a.txt"})) == {"file_content": "one\ntwo"}
    assert a.digest() != pristine == b.digest() == again.digest()


def test_field_015_arguments_and_scenario_are_copied() -> None:
    config = {"Kept": {"x": [1]}}
    world = MultiTurnWorld.create({"Kept": Kept}, ["Kept"], config)
    value = {"list": [1]}
    world.call("keep", {"value": value})
    before = world.digest()
    value["list"].append(2)
    config["Kept"]["x"].append(2)
    assert world.digest() == before
    assert world.view() == {"Kept": {"kept": [{"list": [1]}], "scenario": {"x": [1]}}}


def mutable_parts(value: Any, found: dict[int, Any]) -> dict[int, Any]:
    """Everything changeable within reach, by identity."""
    if isinstance(value, str | int | float | type(None)) or id(value) in found:
        return found
    if not isinstance(value, tuple):
        found[id(value)] = value
    inner = (
        value.items() if isinstance(value, dict) else value if isinstance(value, list | set | tuple) else ()
    )
    for part in [*inner, *vars(value).values()] if hasattr(value, "__dict__") else inner:
        mutable_parts(part, found)
    return found


def instances(world: MultiTurnWorld) -> Mapping[str, Any]:
    return dict(world._instances)


def test_field_015_no_two_worlds_reach_one_changeable_thing(entries: list[Entry]) -> None:
    chosen = entries[::7]
    for entry in chosen:
        worlds = [entry.reference.make_world() for _ in range(2)]
        for world in worlds:
            for turn in entry.reference.ground_truth:
                run(world, turn)
        one, other = (mutable_parts(instances(world), {}) for world in worlds)  # type: ignore[arg-type]
        shared = [one[key] for key in one.keys() & other.keys() if not hasattr(one[key], "utcoffset")]
        assert shared == [], entry.id
    assert len(chosen) > 100


def test_field_015_data_is_as_before_after_many_episodes(entries: list[Entry]) -> None:
    chosen = entries[::8]
    before = [entry.reference.make_world().digest() for entry in chosen]
    records = json.dumps([entry.record for entry in chosen])
    for entry in chosen:
        run(entry.reference.make_world(), [call for turn in entry.reference.ground_truth for call in turn])
    assert len(chosen) == 100
    assert [entry.reference.make_world().digest() for entry in chosen] == before
    assert json.dumps([entry.record for entry in chosen]) == records


def played(entry: Entry) -> tuple[Any, ...]:
    world = entry.reference.make_world()
    return tuple((run(world, turn), world.digest()) for turn in entry.reference.ground_truth)


def test_answers_do_not_depend_on_order_or_thread(entries: list[Entry]) -> None:
    chosen = [entry for entry in entries[::5]] + [
        entry for entry in entries if "MathAPI" in str(entry.record)
    ]
    alone = [played(entry) for entry in chosen]
    order = list(range(len(chosen)))
    random.Random(5).shuffle(order)
    with ThreadPoolExecutor(8) as pool:
        shuffled = list(pool.map(lambda index: played(chosen[index]), order))
    assert [alone[index] for index in order] == shuffled
