"""What the request layer does to calls, one test for each of paper 2, §3's six ways."""

from __future__ import annotations

import json

import pytest

from tests.toolenv.hazards.depot_cases import FREIGHT, WEIGH, answers, armed, facts
from toolenv.hazards.invocation_error import coerced, from_json_text, truncated
from toolenv.types import ToolCall


def test_dropped() -> None:
    instance = armed("invocation-error", "dropped", "weigh", name="item_code", other="item_key")
    lost, through = answers(instance, WEIGH, ToolCall("weigh", {"item_key": "LMP-104"}))
    assert lost.kind == "invalid_arguments"
    assert lost.content.endswith(
        "[request received: {}; 'item_code' is not forwarded by this version; 'item_key' is]"
    )
    assert "1250.5" in facts(lost)["clean"]
    assert json.loads(through.content)["weight"] == 1250.5
    assert facts(through)["fired"] is False


def test_rejected() -> None:
    instance = armed("invocation-error", "rejected", "weigh", name="item_code", other="item_key")
    refused, through = answers(instance, WEIGH, ToolCall("weigh", {"item_key": "LMP-104"}))
    assert refused.kind == "tool_error"
    assert refused.content == (
        "Error: request refused. 'item_code' is not accepted here; it is accepted as 'item_key'"
    )
    assert through.kind == "ok"


def test_defaulted_is_silent_but_for_the_note() -> None:
    instance = armed("invocation-error", "defaulted", "freight", name="weight", other="mass", default=0)
    wrong, through = answers(instance, FREIGHT, ToolCall("freight", {"mass": 1250.5, "zone": "north"}))
    assert wrong.kind == "ok"
    told = json.loads(wrong.content)
    assert told["charge"] == 0
    assert told["request"]["received"] == {"weight": 0, "zone": "north"}
    assert json.loads(through.content) == {"charge": 5002.0, "zone": "north"}


def test_renamed_binds_two_parameters_to_each_others_names() -> None:
    instance = armed("invocation-error", "renamed", "freight", name="weight", other="zone")
    (wrong,) = answers(instance, FREIGHT)
    assert wrong.kind == "invalid_arguments"
    assert '[request received: {"zone": 1250.5, "weight": "north"}; ' in wrong.content


def test_coerced_comes_through_as_json_text() -> None:
    instance = armed("invocation-error", "coerced", "freight", name="weight")
    wrong, through = answers(instance, FREIGHT, ToolCall("freight", {"weight": "1250.5", "zone": "north"}))
    assert json.loads(wrong.content)["charge"] == 5000
    assert json.loads(through.content)["charge"] == 5002.0


def test_truncated_comes_through_as_json_text() -> None:
    instance = armed("invocation-error", "truncated", "weigh", name="item_code")
    wrong, through = answers(instance, WEIGH, ToolCall("weigh", {"item_code": '"LMP-104"'}))
    assert wrong.content.startswith("no item code 'LMP-'")
    assert json.loads(through.content)["weight"] == 1250.5


def test_resending_the_same_call_never_helps() -> None:
    for mode in ("dropped", "rejected", "truncated"):
        instance = armed("invocation-error", mode, "weigh", name="item_code", other="item_key")
        contents = {result.content for result in answers(instance, *[WEIGH] * 5)}
        assert len(contents) == 1


def test_calls_without_the_parameter_pass() -> None:
    empty = ToolCall("weigh", {})
    for mode in ("dropped", "rejected", "defaulted", "coerced", "truncated"):
        instance = armed("invocation-error", mode, "weigh", name="item_code", other="item_key", default="")
        (result,) = answers(instance, empty)
        assert facts(result)["fired"] is False


@pytest.mark.parametrize(
    ("value", "read"), [(12.7, 12), ("007", 7), (["a", "b"], "a, b"), ("abc", "abc"), (3, 3)]
)
def test_careless_reading(value: object, read: object) -> None:
    assert coerced(value) == read


@pytest.mark.parametrize(("value", "cut"), [("LMP-104", "LMP-"), (["a", "b"], ["a"]), (12, 12)])
def test_cutting(value: object, cut: object) -> None:
    assert truncated(value) == cut


@pytest.mark.parametrize(
    ("text", "value"),
    [('"007"', "007"), ("[1, 2]", [1, 2]), ("12.7", 12.7), ("007", None), ("2024-03-05", None), ("x", None)],
)
def test_json_text(text: str, value: object) -> None:
    assert from_json_text(text) == value
    assert from_json_text("[" * 100_000) is None, "hostile depth is no JSON text"
