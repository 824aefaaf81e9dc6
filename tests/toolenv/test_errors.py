"""What an unknown name is met with."""

from __future__ import annotations

import pickle

import pytest

from toolenv.errors import UnknownNameError, nearest


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("RAY", ["local", "processes", "ray"], ["ray"]),
        ("ray", ["local", "RAY"], ["RAY"]),
        ("Max_Turn", ["masks", "max_turns", "prior"], ["max_turns"]),
        ("Straße", ["STRASSE"], ["STRASSE"]),
        ("a", ["A", "a"], ["A", "a"]),
        ("xyzzy", ["local", "processes", "ray"], []),
        ("", ["local"], []),
        ("any", [], []),
        (
            "bench",
            ["an-id-that-is-long/Bench-clean", "an-id-that-is-long/other"],
            ["an-id-that-is-long/Bench-clean"],
        ),
        ("ben", ["an-id-that-is-long/Bench-clean"], []),
        ("nothere", ["noop", "random", "vote"], []),
        ("foo", ["noop"], []),
        ("tau", ["APIBank", "TauBench"], ["TauBench"]),
        ("stable", ["StableToolBench", "vote"], ["StableToolBench"]),
        ("drift", ["output-drift"], ["output-drift"]),
        ("executor.seed", ["planner.seed", "seeds"], ["planner.seed"]),
        ("km", ["mg", "kg", "hour"], ["mg", "kg"]),
    ],
)
def test_the_nearest_names(name: str, known: list[str], near: list[str]) -> None:
    assert nearest(name, known) == near


def test_never_more_than_three() -> None:
    assert len(nearest("task-0", [f"{kind}-{at}" for kind in ("task", "TASK") for at in range(9)])) == 3


def test_the_message() -> None:
    error = UnknownNameError("runner", "RAY", ["local", "ray"], where="--runner")
    assert str(error) == "unknown runner 'RAY' in --runner; did you mean 'ray'?"
    assert str(UnknownNameError("runner", 3, ["local"])) == "unknown runner 3; known: local"
    assert str(UnknownNameError("option", "x", [])) == "unknown option 'x'; there are none"
    numbered = [f"multiple_{number}" for number in range(1, 1201)]
    assert str(UnknownNameError("task id", "foo", numbered)) == (
        "unknown task id 'foo'; there are 1,200, none like it"
    )
    assert str(UnknownNameError("task id", "foo", [*numbered, "parrot-fog", "info_123"])) == (
        "unknown task id 'foo'; there are 1,202, none like it; the nearest: 'info_123' or 'parrot-fog'"
    )
    assert isinstance(pickle.loads(pickle.dumps(error)), UnknownNameError)
