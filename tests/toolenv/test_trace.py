"""Traces: JSON and back, usage, version."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from toolenv import Malformed, Message, Stop, ToolCall, ToolCalls, ToolResult, Trace, Usage
from toolenv.errors import DataCorruptError
from toolenv.trace import Continuation, Step

TRACE = Trace(
    suite="Toy",
    condition="clean",
    task_id="t",
    seed=2**63,
    max_turns=4,
    steps=(
        Step(
            0,
            ToolCalls(
                (ToolCall("f.g", {"x": [1, {"y": None}]}, "a"), ToolCall("h", {}, "b", "broken")),
                "thinking",
                usage=Usage(100, 20, cached_input_tokens=80, generations=2, retried_input_tokens=10),
                raw={"reasoning": "…"},
            ),
            (ToolResult("ok", full="okay", record={"coerced": ["x"]}), ToolResult("no", "invalid_arguments")),
        ),
        Step(0, Malformed("<", "broken", "length", usage=Usage())),
        Step(1, Message("done", usage=Usage(5, 1))),
        Step(1, Stop("why", 0.5)),
    ),
    checkpoints=("d1", "d2"),
    ending="stop",
    error="e",
    lost_usage=Usage(1, 1),
)


def test_json_and_back() -> None:
    again = Trace.from_json(json.loads(json.dumps(TRACE.to_json())))
    assert again == TRACE
    # usage and raw are not part of equality, so look at them apart
    assert [step.action.usage for step in again.steps] == [step.action.usage for step in TRACE.steps]
    assert again.steps[0].action.raw == {"reasoning": "…"}


def test_another_version_is_refused() -> None:
    with pytest.raises(DataCorruptError, match="version 99"):
        Trace.from_json({**TRACE.to_json(), "version": 99})


@pytest.mark.parametrize("missing", ["steps", "task_id"])
def test_a_broken_trace_is_refused(missing: str) -> None:
    data = TRACE.to_json()
    del data[missing]
    with pytest.raises(DataCorruptError, match=missing):
        Trace.from_json(data)


@pytest.mark.parametrize(
    "changed", [{"steps": "2"}, {"steps": -1}, {"steps": None}, {"lost_usage": {"input_tokens": "7"}}]
)
def test_a_broken_continuation_is_refused(changed: dict[str, object]) -> None:
    further = Continuation("tts", 2, "message", "Go on.", 10, Usage(7, 1))
    data = replace(TRACE, continuation=further).to_json()
    assert Trace.from_json(data).continuation == further
    name = next(iter(changed))
    with pytest.raises(DataCorruptError, match=name if name == "steps" else "input_tokens"):
        Trace.from_json({**data, "continuation": {**data["continuation"], **changed}})


def test_calls_by_kind() -> None:
    assert [call.name for call, _ in TRACE.calls()] == ["f.g", "h"]
    assert [call.name for call, _ in TRACE.calls("invalid_arguments")] == ["h"]


def test_field_012_unknown_usage_makes_the_total_unknown_not_smaller() -> None:
    assert TRACE.usage.input_tokens is None
    assert TRACE.usage.total_tokens is None
    assert Trace("Toy", "clean", "t", 0, 4).usage.total_tokens == 0


def test_field_011_retries_and_lost_generations_are_part_of_the_total() -> None:
    rounds = [(100, 20), (150, 30), (220, 40)]
    steps = tuple(Step(0, Message("", usage=Usage(*pair))) for pair in rounds)
    retried = Usage(150, 10, retried_input_tokens=150, retried_output_tokens=10)
    usage = Trace("Toy", "clean", "t", 0, 4, steps, lost_usage=retried).usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens, usage.generations) == (
        620,
        100,
        720,
        4,
    )
    assert usage.retried_input_tokens + usage.retried_output_tokens == 160
