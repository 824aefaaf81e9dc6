"""Paired differences against published intervals.

Each interval also comes out of the formula as R's ``biostatUZH`` writes it (``confIntPairedProportion``), on
Wilson intervals of statsmodels 0.15.0, run outside the tests: the same to 1e-15, as on 3,892 random tables.
"""

from __future__ import annotations

import math

import pytest

from toolenv.metrics.paired import PairCounts, mcnemar, mean_difference, paired_difference


@pytest.mark.parametrize(
    ("cells", "value", "low", "high"),
    [
        # Newcombe 1998, Statistics in Medicine 17, 2635-2650, Table II, method 10, as others' tests cite it.
        ((36, 12, 2, 0), 0.2, 0.0569, 0.3404),
        # The example of R's `contingencytables` and `ratesci` (Bentur et al. 2009); see the module.
        ((1, 1, 7, 12), -0.2857, -0.5069, -0.0256),
        # Cavo et al. 2012, in the tests of R's `contingencytables` (chapter 8): -0.0621 (-0.1186 to -0.0046).
        ((59, 6, 16, 80), -0.0621, -0.1186, -0.0046),
        # Altman et al. 2000, Statistics with Confidence, Table 6.2, in R's `epiR`, epi.conf: 0.011 to 0.226.
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


@pytest.mark.parametrize(
    ("cells", "low", "high"),
    [
        # Both sides always or never true, tiny and huge tables: the formula of biostatUZH, see the module;
        # where a margin is 0 it has no correlation.
        ((43, 0, 0, 0), -0.08200980322579121, 0.08200980322579121),
        ((43, 0, 1, 0), -0.11807709698213287, 0.05971800835089891),
        ((5, 0, 4, 0), -0.733348706504507, -0.050931008390866894),
        ((0, 2, 0, 0), 0.06998519885519938, 1.0),
        ((10**9, 10**9, 10**9, 10**9), -2.1913063503911343e-05, 2.1913063503911343e-05),
    ],
)
def test_the_interval_at_its_ends(cells: tuple[int, int, int, int], low: float, high: float) -> None:
    found = paired_difference(PairCounts(*cells))
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)


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
