"""Hazard manifests and witnesses in their stored form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.toolenv.hazards.depot_cases import SUITE, TASK, armed, depot_subject
from toolenv.agents.recovery import make
from toolenv.errors import DataCorruptError, DataMissingError, UnknownNameError, UsageError
from toolenv.hashed_json import sealed
from toolenv.hazards.manifest import HazardManifest, ProvedInstance, RecoveryReference
from toolenv.hazards.witness import restored, stored
from toolenv.recoverability.proving import try_instance
from toolenv.types import Action, Message, ToolCall, ToolCalls

SOLUTION = TASK.reference.solution()
PROVED = try_instance(
    SUITE,
    depot_subject(),
    armed("execution-failure", "transient-timeout", "freight", failures=2),
    make("trusting", {}),
)
assert PROVED is not None


def manifest(**tasks: tuple[ProvedInstance, ...]) -> HazardManifest:
    excluded = {"desk-south": "it was raining"}
    return HazardManifest(
        "Depot", "execution-failure", "none", "by hand", tasks or {TASK.id: (PROVED,)}, excluded
    )


def test_a_manifest_read_back_is_equal(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "execution-failure.json"
    manifest().write(path)
    assert HazardManifest.read(path) == manifest()
    assert HazardManifest.read(path).hash == manifest().hash
    lines = path.read_text(encoding="utf-8").splitlines()
    assert sum(TASK.id in line for line in lines) == 1, "one task a line"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: {**data, "version": 9}, "version 9, expected 1"),
        (lambda data: {**data, "suite": "Other"}, "does not match its content"),
        (lambda data: [data], "not a list"),
    ],
)
def test_damaged_manifests_are_refused(damage: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps(damage(manifest().to_json())), encoding="utf-8")
    with pytest.raises(DataCorruptError, match=message):
        HazardManifest.read(path)


ENTRY = manifest().to_json()["tasks"][TASK.id][0]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"tasks": None}, "m.json: 'tasks' is None, expected an object"),
        ({"excluded": ["x"]}, r"m.json: 'excluded' is \['x'\], expected an object"),
        ({"tasks": {"a": "x"}}, "m.json: 'a' is 'x', expected a list"),
        ({"tasks": {"a": [3]}}, "m.json, task 'a': 3, expected an object"),
        ({"tasks": {"a": [{}]}}, "m.json, task 'a': 'hazard' is missing"),
        ({"tasks": {"a": [{**ENTRY, "mode": ["x"]}]}}, r"task 'a': 'mode' is \['x'\], expected a string"),
        ({"tasks": {"a": [{**ENTRY, "seed": "0"}]}}, "task 'a': 'seed' is '0', expected a whole number"),
        ({"tasks": {"a": [{**ENTRY, "witness": "say"}]}}, "task 'a': 'witness' is 'say', expected a list"),
    ],
)
def test_a_whole_manifest_of_another_form_is_refused_with_the_place(
    changed: dict[str, Any], message: str, tmp_path: Path
) -> None:
    """One that somebody made: its hash is right."""
    path = tmp_path / "m.json"
    body = {name: one for name, one in manifest().to_json().items() if name != "hash"}
    path.write_text(json.dumps(sealed({**body, **changed})), encoding="utf-8")
    with pytest.raises(DataCorruptError, match=message):
        HazardManifest.read(path)


def test_a_missing_manifest_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataMissingError, match="nowhere"):
        HazardManifest.read(tmp_path / "nowhere.json")


def test_choosing() -> None:
    other = ProvedInstance(armed("output-drift", "wrapping", "weigh", seed=5), PROVED.witness, 0)
    both = manifest(**{TASK.id: (PROVED, other)})
    assert both.choose([TASK.id, "else"], None, None) == {TASK.id: PROVED}
    assert both.choose([TASK.id], None, 5) == {TASK.id: other}
    with pytest.raises(UnknownNameError, match="known: 0, 5"):
        both.choose([TASK.id], None, 7)
    with pytest.raises(UsageError, match=r"'desk-south' is not in Depot-execution-failure: it was raining"):
        both.choose([TASK.id, "desk-south"], ["desk-south"], None)
    with pytest.raises(UsageError, match="none of the subset's tasks"):
        both.choose(["else"], None, None)
    with pytest.raises(
        DataCorruptError, match="hazards of Depot-execution-failure, not of Depot-output-drift"
    ):
        both.check("Depot", "output-drift")


def test_a_witness_is_told_by_the_solution() -> None:
    """No argument of a data set is copied into a manifest."""
    assert PROVED.witness == ([0], [1], [2], [2], [2], {"repeat": 0})
    assert RecoveryReference(TASK.reference, PROVED.witness).solution() == restored(PROVED.witness, SOLUTION)
    assert PROVED.extra_calls == 2


CALL = ToolCall("f", {"a": "x", "b": "y", "c": 12.7})


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (CALL, 0),
        (ToolCall("g", {"a": "x", "b": "y", "c": 12.7}), {"call": 0, "tool": "g"}),
        (ToolCall("f", {"a": "x", "z": "y", "c": 12.7}), {"call": 0, "names": {"b": "z"}}),
        (ToolCall("g", {"q": "x", "b": "y", "c": 12.7}), {"call": 0, "tool": "g", "names": {"a": "q"}}),
        (ToolCall("f", {"a": "y", "b": "x", "c": 12.7}), {"call": 0, "swap": ["a", "b"]}),
        (ToolCall("f", {"a": "x", "b": "y", "c": "12.7"}), {"call": 0, "json": ["c"]}),
        (ToolCall("f", {"a": "x"}), ["f", {"a": "x"}]),
        (ToolCall("f", {"a": "x", "b": "y", "c": True}), ["f", {"a": "x", "b": "y", "c": True}]),
    ],
)
def test_calls_in_terms_of_the_solutions(call: ToolCall, told: Any) -> None:
    solution: tuple[Action, ...] = (ToolCalls((CALL,)), Message("Done."))
    witness = stored([ToolCalls((call,)), Message("Done."), Message("Other.")], solution)
    assert witness == ([told], {"repeat": 0}, {"say": "Other."})
    again = restored(tuple(json.loads(json.dumps(witness))), solution)
    assert again == (ToolCalls((call,)), Message("Done."), Message("Other."))
