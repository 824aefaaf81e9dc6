"""What specification drift does: expected texts written by hand from paper 2, §3's list of its forms."""

from __future__ import annotations

from typing import Any

import pytest

from tests.toolenv.hazards.depot_cases import WEIGH, answers, armed, facts, kernel_with, told
from toolenv.hazards.newer_names import newer_name
from toolenv.hazards.specification_drift import other_shape
from toolenv.types import ToolCall
from toolenv.units import convert


def drift(mode: str, **parameters: Any) -> Any:
    return told(armed("specification-drift", mode, "weigh", **parameters))


def test_renamed_field() -> None:
    assert list(drift("renamed-field", names={"weight": "mass"})) == ["item_code", "mass", "packed_on"]


def test_changed_type() -> None:
    assert drift("changed-type", path=["weight"])["weight"] == [1250.5]


def test_altered_output_shape() -> None:
    assert drift("output-shape") == [
        {"field": "item_code", "value": "LMP-104"},
        {"field": "weight", "value": 1250.5},
        {"field": "packed_on", "value": "2024-03-05"},
    ]


def test_a_table_comes_as_columns_and_rows() -> None:
    assert other_shape([{"a": 1, "b": 2}, {"a": 3, "b": 4}]) == {
        "columns": ["a", "b"],
        "rows": [[1, 2], [3, 4]],
    }
    assert other_shape([{"a": 1}, {"b": 2}]) == [{"a": 1}, {"b": 2}]
    assert other_shape([]) == []


def test_shifted_units_are_named_in_the_result() -> None:
    found = drift("shifted-units", path=["weight"], unit="kg", target="g")
    assert (found["weight"], found["weight_unit"]) == (1250500.0, "g")


def test_a_documented_name_that_is_outdated_is_refused_with_the_right_one() -> None:
    instance = armed(
        "specification-drift", "renamed-parameter", "weigh", name="item_code", documented="item_key"
    )
    (tool,) = (one for one in kernel_with(instance).tools() if one.name == "weigh")
    assert list(tool.parameters["properties"]) == ["item_key"]
    assert tool.parameters["required"] == ["item_key"]
    refused, told_now = answers(instance, ToolCall("weigh", {"item_key": "LMP-104"}), WEIGH)
    assert refused.kind == "invalid_arguments"
    assert refused.content == "Error: weigh does not take 'item_key'; it takes 'item_code'"
    assert "1250.5" in facts(refused)["clean"]
    assert told_now.kind == "ok"
    assert facts(told_now)["fired"] is False


@pytest.mark.parametrize(
    ("value", "unit", "target", "expected"),
    [
        (0.7, "kg", "g", 700.0),
        (2, "kg", "g", 2000),
        (700, "g", "kg", 0.7),
        (90, "min", "h", 1.5),
        (12.34, "EUR", "EUR cents", 1234.0),
        (1, "kg", "m", None),
        (1, "furlong", "m", None),
    ],
)
def test_units(value: float, unit: str, target: str, expected: float | None) -> None:
    assert convert(value, unit, target) == expected
    assert type(convert(value, unit, target)) is type(expected)


def test_a_newer_name_meets_no_other() -> None:
    assert newer_name("price", ["price", "name"]) == "unit_amount"
    assert newer_name("price", ["price", "unitAmount"]) == "unit_amount_v2"
    assert newer_name("warehouse_zone", []) == "attr_wrhs_zn"
