"""What output drift does to results: expected texts written by hand from paper 2, §3's list of its forms."""

from __future__ import annotations

from typing import Any

import pytest

from tests.toolenv.hazards.depot_cases import WEIGH, WEIGHED, answers, armed, told
from toolenv.hazards.output_drift import ENVELOPES, aliases, other_form, styled
from toolenv.types import ToolCall


def drift(mode: str, **parameters: Any) -> Any:
    return told(armed("output-drift", mode, "weigh", **parameters))


def test_wrapped_values() -> None:
    found = drift("wrapping")
    assert list(found) == ["status", next(key for key in found if key in ENVELOPES)]
    assert {"item_code": "LMP-104", "weight": 1250.5, "packed_on": "2024-03-05"} in found.values()


def test_added_units() -> None:
    assert drift("units", path=["weight"], unit="kg")["weight"] == "1250.5 kg"


def test_nested_fields() -> None:
    assert drift("nesting", path=["weight"])["weight"] == {"value": 1250.5}


def test_aliases() -> None:
    found = drift("aliases", names=["item_code", "packed_on", "weight"])
    assert list(found.values()) == ["LMP-104", 1250.5, "2024-03-05"]
    assert list(found) in (["ItemCode", "Weight", "PackedOn"], ["ITEM_CODE", "WEIGHT", "PACKED_ON"])


def test_an_alias_changes_every_key_and_no_letter() -> None:
    for draw in range(8):
        for name, alias in aliases(["unit_price", "name", "ID", "Date"], draw).items():
            assert alias != name
            assert [sign for sign in alias.casefold() if sign.isalnum()] == [
                sign for sign in name.casefold() if sign.isalnum()
            ]


@pytest.mark.parametrize(
    ("field", "form"),
    [("weight", "+1,250.5"), ("packed_on", "5 March 2024"), ("item_code", ' "LMP-104" ')],
)
def test_non_canonical_forms(field: str, form: str) -> None:
    assert drift("non-canonical", path=[field])[field] == form


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (True, "yes"),
        (False, "no"),
        (-3.5, "(3.5)"),
        (0, "+0"),
        (1234567, "+1,234,567"),
        ("2024-13-45", ' "2024-13-45" '),
        ("", ""),
        (None, None),
        ([1], [1]),
    ],
)
def test_other_forms_of_scalars(value: object, form: object) -> None:
    assert other_form(value) == form


@pytest.mark.parametrize(
    ("style", "name"),
    [("camel", "unitPrice"), ("pascal", "UnitPrice"), ("upper", "UNIT_PRICE"), ("dashed", "unit-price")],
)
def test_styles_of_keys(style: str, name: str) -> None:
    assert styled("unit_price", style) == name


def test_errors_pass_as_they_are() -> None:
    bad = ToolCall("weigh", {"item_code": "XXX-000"})
    (result,) = answers(armed("output-drift", "wrapping", "weigh"), bad)
    assert (result.content, result.kind) == ("no item code 'XXX-000'", "tool_error")
    assert result.record is not None
    assert result.record["hazard"]["fired"] is False


def test_other_tools_pass_as_they_are() -> None:
    (result,) = answers(armed("output-drift", "wrapping", "freight"), WEIGH)
    assert result.content == WEIGHED


def test_arrays_are_disturbed_item_by_item() -> None:
    from toolenv.hazards.forms import changed_at

    value = {"rows": [{"price": 1}, {"price": 2}, {"other": 3}]}
    changed = changed_at(value, ("rows", "*", "price"), lambda part: f"{part} EUR")
    assert changed == {"rows": [{"price": "1 EUR"}, {"price": "2 EUR"}, {"other": 3}]}
    assert value["rows"][0] == {"price": 1}, "the value itself is left alone"
