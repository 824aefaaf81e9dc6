from __future__ import annotations

import pytest

from tests.toolenv.feasibility.annotation.samples import PAPER
from toolenv.errors import UsageError
from toolenv.feasibility.annotation.size import allocate, cochran


def test_the_papers_283_of_1036() -> None:
    # §3.3: 95% confidence, 5% margin, p = 0.5. The formula gives 280.4, rounded up 281; Appendix A's 283 is
    # the sum of its four shares, rounded up.
    assert sum(PAPER.values()) == 1036
    assert cochran(1036) == 281
    sizes = allocate(281, PAPER)
    assert sizes == {"BFCL": 121, "StableToolBench": 82, "API-Bank": 50, "TauBench": 30}
    assert sum(sizes.values()) == 283


@pytest.mark.parametrize(
    ("population", "size"),
    [(10, 10), (100, 80), (200, 132), (300, 169), (1000, 278), (10_000, 370), (1_000_000, 384)],
)
def test_krejcie_and_morgans_table(population: int, size: int) -> None:
    # Krejcie and Morgan (1970), Table 1: the same formula. (Rows that they rounded down are left out.)
    assert cochran(population) == size


def test_the_correction_by_hand() -> None:
    # n₀ = 1.96² · 0.25 / 0.1² = 96.04; 96.04 / (1 + 95.04 / 100) = 49.24. With n₀ for n₀ - 1: 48.99.
    assert cochran(100, margin=0.1) == 50


def test_cochran_without_a_limit_is_385() -> None:
    # Cochran (1977): 1.96² · 0.25 / 0.05² = 384.16
    assert cochran(10**12) == 385
    # 2.576² · 0.25 / 0.05² = 663.6 and 1.96² · 0.09 / 0.03² = 384.1
    assert cochran(10**12, confidence=0.99) == 664
    assert cochran(10**12, margin=0.03, share=0.1) == 385


@pytest.mark.parametrize("population", [1, 2, 3, 50])
def test_no_more_than_there_are(population: int) -> None:
    for margin in (0.001, 0.05, 0.9):
        assert 1 <= cochran(population, margin=margin) <= population


@pytest.mark.parametrize(
    ("keywords", "named"),
    [
        ({"population": 0}, "population of 0"),
        ({"population": 9, "confidence": 1.0}, "confidence=1.0"),
        ({"population": 9, "margin": 0.0}, "margin=0.0"),
        ({"population": 9, "share": -0.1}, "p=-0.1"),
        ({"population": 9, "margin": float("nan")}, "margin=nan"),
    ],
)
def test_numbers_that_make_no_sense_are_named(keywords: dict[str, float], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        cochran(**keywords)  # type: ignore[arg-type]


def test_shares_are_never_below_proportion_nor_above_the_stratum() -> None:
    for size in range(1, 1037):
        sizes = allocate(size, PAPER)
        for name, members in PAPER.items():
            assert size * members / 1036 <= sizes[name] <= members
            assert sizes[name] < size * members / 1036 + 1
    assert allocate(1, {"large": 999, "small": 1}) == {"large": 1, "small": 1}
