"""Paired differences against published intervals."""

from __future__ import annotations

import math

import pytest

from toolenv.metrics.paired import PairCounts, mcnemar, mean_difference, paired_difference


@pytest.mark.parametrize(
    ("cells", "value", "low", "high"),
    [
        # Newcombe 1998, Statistics in Medicine 17, 2635-2650, method 10.
        ((36, 12, 2, 0), 0.2, 0.0569, 0.3404),
        # Bentur et al. 2009, in Fagerland, Lydersen and Laake 2014, Statistics in Medicine 33, 2850-2875.
        ((1, 1, 7, 12), -0.2857, -0.5069, -0.0256),
        # Cavo et al. 2012, the same book's R package `contingencytables`, its own test of this interval.
        ((59, 6, 16, 80), -0.0621, -0.1186, -0.0046),
        # Altman et al. 2000, Statistics with Confidence, Table 6.2.
        ((14, 5, 0, 22), 0.122, 0.011, 0.226),
        # No correlation: the interval of independent rates, statsmodels 0.14 (method "newcomb").
        ((36, 14, 0, 0), 0.28, 0.15283952, 0.41665124),
        ((0, 30, 0, 0), 1.0, 0.83946782, 1.0),
    ],
)
def test_newcombe_s_interval(cells: tuple[int, int, int, int], value: float, low: float, high: float) -> None:
    found = paired_difference(PairCounts(*cells))
    digits = 1e-8 if round(low, 4) != low else 10 ** -len(str(abs(low)).partition(".")[2])
    assert (found.value, found.low, found.high) == pytest.approx((value, low, high), abs=digits * 0.55)
    assert found.n == sum(cells)


def test_the_sides_are_exchangeable() -> None:
    one, other = (paired_difference(PairCounts(*cells)) for cells in ((5, 9, 2, 4), (5, 2, 9, 4)))
    assert (one.value, one.low, one.high) == pytest.approx((-other.value, -other.high, -other.low))


def test_an_interval_holds_its_point_and_stays_within_bounds() -> None:
    for cells in ((0, 0, 1, 0), (1, 0, 0, 0), (0, 0, 0, 7), (0, 3, 0, 9), (0.5, 0.5, 1, 0)):
        found = paired_difference(PairCounts(*cells))
        assert -1 <= found.low <= found.value <= found.high <= 1


def test_no_pairs_are_no_data_and_negative_ones_a_mistake() -> None:
    found = paired_difference(PairCounts(0, 0, 0, 0))
    assert math.isnan(found.value)
    assert found.n == 0
    with pytest.raises(ValueError, match="fewer than none"):
        paired_difference(PairCounts(1, -1, 0, 0))


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [
        (1, 7, 0.0703125),  # Bentur: 2 × (1 + 8) / 2⁸
        (6, 16, 0.052479),  # Cavo, in `contingencytables`
        (0, 0, 1.0),
        (3, 3, 1.0),
        (0, 5, 0.0625),  # 2 / 2⁵
    ],
)
def test_mcnemar_s_exact_test(first: int, second: int, p: float) -> None:
    assert mcnemar(first, second) == pytest.approx(p, abs=1e-6)


def test_a_mean_difference_by_hand() -> None:
    """Differences 1, 2, 6: mean 3, s = √7, t(2) = 4.302653 at 97.5%: 3 ± 4.302653 √(7/3) = 3 ± 6.5724."""
    found = mean_difference([("a", 1), ("b", 2), ("c", 6)])
    assert (found.value, found.low, found.high) == pytest.approx((3, -3.5724, 9.5724), abs=1e-4)
    assert math.isnan(mean_difference([("a", 1)]).low)
    assert mean_difference([]).n == 0
