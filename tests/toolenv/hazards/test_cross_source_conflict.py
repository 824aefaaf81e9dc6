"""Conflicts: the wrong branch is wrong in a way that evidence tells, and plausible otherwise."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from tests.toolenv.hazards.depot_cases import armed, depot_subject, told
from toolenv.hazards.cross_source_conflict import KIND, other_number


def test_stale_says_from_when_it_is() -> None:
    found = told(armed("cross-source-conflict", "stale", "weigh", path=["weight"]))
    assert found["weight"] != 1250.5
    assert re.fullmatch(r"201[5-9]-\d\d-\d\d", found["as_of"])
    assert found["as_of"] < "2024-03-05", "older than the record itself"
    assert found["status"] == "superseded"


def test_incomplete_says_so() -> None:
    found = told(armed("cross-source-conflict", "incomplete", "weigh", path=["weight"]))
    assert (found["weight"], found["complete"]) == (None, False)


def test_inconsistent_shows_only_beside_the_authority() -> None:
    found = told(armed("cross-source-conflict", "inconsistent", "weigh", path=["weight"]))
    assert list(found) == ["item_code", "weight", "packed_on"]
    assert found["weight"] != 1250.5


def test_only_tools_with_a_second_source_are_armed() -> None:
    assert {site.tool for site in KIND.sites(depot_subject())} == {"weigh"}


@pytest.mark.parametrize("value", [1, -1, 3, 1250.5, 0.01, 7, 1000000, 0.333])
@pytest.mark.parametrize("draw", range(8))
def test_a_wrong_number_is_another_with_as_many_decimals(value: float, draw: int) -> None:
    wrong = other_number(value, draw)
    assert wrong != value
    assert type(wrong) is type(value)
    digits = Decimal(repr(value)).as_tuple().exponent
    assert isinstance(digits, int)
    assert Decimal(repr(wrong)).as_tuple().exponent >= digits
    assert abs(wrong - value) <= abs(value) * 0.27 + 10.0**digits
