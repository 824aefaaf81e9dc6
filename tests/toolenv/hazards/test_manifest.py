"""Hazard manifests and witnesses in their stored form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.toolenv.hazards.depot_cases import HAZARDS, SUITE, TASK, armed, depot_subject, every_instance
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
        ({"tasks": {"a": [{**ENTRY, "seed": True}]}}, "task 'a': 'seed' is True, expected a whole number"),
        ({"tasks": {"a": [{**ENTRY, "witness": "say"}]}}, "task 'a': 'witness' is 'say', expected a list"),
        ({"tasks": {"a": []}}, "task 'a' has no entry; list it as excluded"),
        ({"tasks": {"a": [ENTRY, ENTRY]}}, r"task 'a' has several entries of one seed: \[0, 0\]"),
        ({"tasks": {"a": [ENTRY]}, "excluded": {"a": "x"}}, "task 'a' is armed and excluded at once"),
        ({"excluded": {"a": 3}}, "m.json: excluded: 'a' is 3, expected a string"),
        ({"tasks": {"a": [{**ENTRY, "hazard": "output-drifts"}]}}, "did you mean 'output-drift'"),
        ({"tasks": {"a": [{**ENTRY, "mode": "transient-timeouts"}]}}, "did you mean 'transient-timeout'"),
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


@pytest.mark.parametrize(
    ("hazard", "mode", "parameters", "message"),
    [
        ("output-drift", "nesting", {}, "parameter 'path' is missing, a path with the name of a field in it"),
        (
            "output-drift",
            "nesting",
            {"path": ["*"]},
            r"parameter 'path' is \['\*'\], expected a path with the",
        ),
        (
            "output-drift",
            "units",
            {"path": [1.5], "unit": "kg"},
            r"'path' is \[1.5\], expected a path: a list",
        ),
        ("output-drift", "wrapping", {"path": []}, "unknown parameter 'path'; there are none"),
        ("output-drift", "aliases", {"names": "mass"}, "'names' is 'mass', expected a list of names"),
        ("execution-failure", "transient-parse", {"failure": 1}, "'failure'; did you mean 'failures'"),
        (
            "execution-failure",
            "transient-parse",
            {"failures": 3},
            "'failures' is 3, expected a whole number fr",
        ),
        (
            "execution-failure",
            "transient-parse",
            {"failures": True},
            "'failures' is True, expected a whole num",
        ),
        ("execution-failure", "persistent-parse", {"withdrawn": True}, "unknown parameter 'withdrawn'"),
        ("invocation-error", "defaulted", {"name": "a", "other": "b"}, "'default' is missing, a JSON value"),
        ("invocation-error", "dropped", {"name": "", "other": "b"}, "'name' is '', expected a name"),
        (
            "specification-drift",
            "shifted-units",
            {"path": ["a"], "unit": "kg", "target": "km"},
            "unknown target 'km'; did you mean 'mg' or 'kg'",
        ),
        ("specification-drift", "renamed-field", {"names": {"a": 1}}, "expected an object of a name by name"),
        ("cross-source-conflict", "stale", {"path": ["a"], "echo": "b"}, "unknown parameter 'echo'"),
    ],
)
def test_parameters_that_a_mode_does_not_take_are_refused_with_the_place(
    hazard: str, mode: str, parameters: dict[str, Any], message: str
) -> None:
    entry = {**ENTRY, "hazard": hazard, "mode": mode, "parameters": parameters}
    with pytest.raises(DataCorruptError, match=f"^m.json, task 'a', {hazard} \\({mode}\\): .*{message}"):
        ProvedInstance.from_json("a", entry, "m.json")


@pytest.mark.parametrize(
    "decision",
    [None, 3, "say", [], {}, {"say": 1}, {"repeat": -1}, {"repeat": True}, {"say": "a", "repeat": 0},
     [-1], [None], [["f"]], [["f", 1]], [{}], [{"call": "0"}], [{"call": 0, "tool": 1}],
     [{"call": 0, "names": ["a"]}], [{"call": 0, "swap": ["a"]}],
     [{"call": 0, "json": "a"}], [{"call": 0, "other": 1}]],
)  # fmt: skip
def test_a_decision_of_another_form_is_refused_with_the_place(decision: Any) -> None:
    entry = {**ENTRY, "witness": [[0], decision]}
    with pytest.raises(
        DataCorruptError, match=r"^m\.json, task 'a': witness\[1\] is .*, expected a list of ca"
    ):
        ProvedInstance.from_json("a", entry, "m.json")


def test_every_place_where_a_hazard_fits_is_one_that_a_manifest_takes() -> None:
    instances = every_instance()
    assert {one.hazard for one in instances} == set(HAZARDS)
    for one in instances:
        entry = json.loads(json.dumps(ProvedInstance(one, PROVED.witness, 0).to_json()))
        assert ProvedInstance.from_json(TASK.id, entry).instance.parameters == entry["parameters"]


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
        DataCorruptError,
        match=r"m\.json: these are hazards of Depot-execution-failure, not of Depot-output-dr",
    ):
        both.check("Depot", "output-drift", "m.json")


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
