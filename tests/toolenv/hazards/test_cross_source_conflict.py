"""Conflicts: the wrong branch is wrong in a way that evidence tells, and plausible otherwise."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from tests.toolenv.hazards.depot_cases import armed, depot_subject, told
from toolenv.hazards.cross_source_conflict import KIND
from toolenv.hazards.other_values import other_value


def test_stale_says_from_when_it_is() -> None:
    found = told(armed("cross-source-conflict", "stale", "weigh", path=["weight"]))
    assert found["weight"] != 1250.5
    assert re.fullmatch(r"201[1-9]-\d\d-\d\d", found["as_of"])
    assert found["as_of"] < "2024-03-05", "older than the record itself"
    assert found["status"] == "superseded"


def test_incomplete_says_so() -> None:
    found = told(armed("cross-source-conflict", "incomplete", "weigh", path=["weight"]))
    assert (found["weight"], found["complete"]) == (None, False)


def test_inconsistent_with_the_authority() -> None:
    found = told(armed("cross-source-conflict", "inconsistent", "weigh", path=["weight"]))
    assert list(found) == ["item_code", "weight", "packed_on"]
    assert found["item_code"] == "LMP-104"
    assert found["weight"] != 1250.5


def test_inconsistent_with_what_was_asked() -> None:
    found = told(armed("cross-source-conflict", "inconsistent", "weigh", path=["weight"], echo="item_code"))
    assert re.fullmatch(r"LMP-\d\d\d", found["item_code"])
    assert found["item_code"] != "LMP-104"
    assert found["weight"] != 1250.5


def test_only_tools_with_a_second_source_are_armed() -> None:
    sites = list(KIND.sites(depot_subject()))
    assert {site.tool for site in sites} == {"weigh"}
    assert {site.mode for site in sites} == set(KIND.modes)


@pytest.mark.parametrize("value", [1, -1, 0, 3, 1250.5, 0.01, 7, 1000000, 0.333])
@pytest.mark.parametrize("draw", range(8))
def test_a_wrong_number_is_another_with_as_many_decimals(value: float, draw: int) -> None:
    wrong = other_value(value, draw)
    assert wrong != value
    assert type(wrong) is type(value)
    digits = Decimal(repr(value)).as_tuple().exponent
    assert isinstance(digits, int)
    assert Decimal(repr(wrong)).as_tuple().exponent >= digits
    assert abs(wrong - value) <= abs(value) * 0.27 + 10.0**digits


@pytest.mark.parametrize("draw", range(0, 1000, 37))
def test_other_wrong_values_have_the_form_of_the_right_ones(draw: int) -> None:
    assert re.fullmatch(r"RBK-\d{4}", other_value("RBK-2154", draw))
    assert other_value("RBK-2154", draw) != "RBK-2154"
    earlier = other_value("2024-03-05", draw)
    assert "2023-02" < earlier < "2024-02-05"
    assert other_value("Mateo Nakamura", draw) != "Mateo Nakamura"
    assert other_value("Jordan Blake", draw) != "Jordan Blake"
    assert other_value(["a", "b"], draw) == ["a"]
