"""Wrong values are those of decimal arithmetic, however they are computed."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest

from toolenv.hazards.other_values import other_value

PERCENT = (-23, -17, -12, -8, 9, 13, 18, 26)


def by_decimals(value: int | float, draw: int) -> int | float:
    """A tenth to a quarter more or less, rounded half to even at the number's own last decimal."""
    exact, percent = Decimal(repr(value)), PERCENT[draw % 8]
    exponent = exact.as_tuple().exponent
    assert isinstance(exponent, int)
    step = Decimal(1).scaleb(exponent)
    moved = (exact + exact * percent / 100).quantize(step)
    if moved == exact:
        moved += step if percent > 0 else -step
    return int(moved) if isinstance(value, int) else float(moved)


def test_numbers_are_moved_as_decimals_are() -> None:
    draws = random.Random(5)
    values: list[int | float] = [0, -0.0, 1, -1, 5, 0.5, 2.0**60, 10**20, -(10**25), 1e-7, 1.5e300]
    for _ in range(3000):
        values += [draws.randrange(-(10**6), 10**6), draws.uniform(-1, 1) * 10 ** draws.randrange(-20, 20)]
        values.append(round(draws.uniform(-(10**5), 10**5), draws.randrange(4)))
    for value in values:
        draw = draws.randrange(2**32)
        moved = other_value(value, draw)
        assert (moved, type(moved)) == (by_decimals(value, draw), type(value)), (value, draw)
        assert moved != value


@pytest.mark.parametrize(
    ("value", "draw", "other"),
    [
        ("RSV-1290", 0, "RSV-2301"),  # each digit one further
        ("A9٣", 2, "A2٣"),  # three further; other scripts' digits stay
        ("Jordan Blake", 0, "Alexis Moreau"),
        ("Mira Sol", 0, "Jordan Blake"),
        ([1, 2, 3], 0, [1, 2]),
        (None, 0, None),
    ],
)
def test_by_hand(value: object, draw: int, other: object) -> None:
    assert other_value(value, draw) == other
