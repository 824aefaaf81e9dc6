"""κ and AC1 against statsmodels 0.15.0, scikit-learn 1.9.1 and irrCAC 0.4.4, run outside the tests."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from toolenv.feasibility.annotation.agreement import cohen_kappa, gwet_ac1

Table = Sequence[Sequence[int]]

# (table; statsmodels' kappa and std_kappa, scikit-learn's kappa being the same to 1e-12; irrCAC's gwet and
# its se). Rows are one annotator's answers, columns the other's.
LIBRARIES: list[tuple[Table, float, float, float, float]] = [
    ([[258, 6], [6, 13]], 0.6614832535885173, 0.09123804638284214, 0.951525186634, 0.014288335042),
    ([[258, 12], [0, 13]], 0.6638954869358671, 0.08942217364383748, 0.951525186634, 0.014288335042),
    ([[258, 5], [7, 13]], 0.6615507275264102, 0.09118728874097917, 0.951525186634, 0.014288335042),
    ([[40, 10], [20, 30]], 0.3999999999999999, 0.08979977728257459, 0.405940594059, 0.092494798125),
    (
        [[20, 5, 2], [4, 15, 3], [1, 2, 8]],
        0.556135770234987,
        0.09078562206293846,
        0.584013050571,
        0.086911811428,
    ),
    ([[118, 5], [2, 0]], -0.02339181286549608, 0.012286756672845256, 0.940776337609, 0.023056964302),
    ([[80, 10], [5, 5]], 0.318181818181818, 0.13345652122383617, 0.808, 0.052392038627),
]


def pairs(table: Table) -> list[tuple[str, str]]:
    return [
        ("nyu"[row], "nyu"[column])
        for row, counts in enumerate(table)
        for column, count in enumerate(counts)
        for _ in range(count)
    ]


@pytest.mark.parametrize(("table", "kappa", "kappa_error", "ac1", "ac1_error"), LIBRARIES)
def test_other_libraries_agree(
    table: Table, kappa: float, kappa_error: float, ac1: float, ac1_error: float
) -> None:
    answers = pairs(table)
    n = len(answers)
    one, other = cohen_kappa(answers), gwet_ac1(answers)
    assert (one.n, other.n) == (n, n)
    assert one.value == pytest.approx(kappa, rel=1e-12)
    assert one.error == pytest.approx(kappa_error, rel=1e-12)
    assert other.value == pytest.approx(ac1, abs=1e-12)
    # irrCAC divides squares by n - 1, the large-sample formula by n.
    assert other.error * math.sqrt(n / (n - 1)) == pytest.approx(ac1_error, abs=1e-11)


def test_kappa_and_ac1_by_hand() -> None:
    # 50 items: 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no. Agreement 35/50 = 0.7. Yes is said by one in 25/50,
    # by the other in 30/50. κ: chance 0.5·0.6 + 0.5·0.4 = 0.5, so 0.2/0.5. AC1: mean yes 0.55, chance
    # 2·0.55·0.45 = 0.495, so 0.205/0.505.
    answers = pairs([[20, 5], [10, 15]])
    assert cohen_kappa(answers).value == pytest.approx(0.4, abs=1e-12)
    assert gwet_ac1(answers).value == pytest.approx(0.205 / 0.505, abs=1e-12)


def test_the_papers_coefficients_leave_one_diagonal() -> None:
    """Table 7: n = 283, 12 disagreements, κ = 0.66, AC1 = 0.95, whoever of the two rejected more."""
    fitting = set()
    for both_wrong in range(272):
        for only_first in range(13):
            table = [[271 - both_wrong, only_first], [12 - only_first, both_wrong]]
            answers = pairs(table)
            if round(cohen_kappa(answers).value, 2) == 0.66 and round(gwet_ac1(answers).value, 2) == 0.95:
                fitting.add((271 - both_wrong, both_wrong, only_first))
    # Both confirmed 258 and both rejected 13: with 10 of the 12 disagreements confirmed and 2 rejected, these
    # are Table 7's 268 and Appendix B.2's 15. (Its mirror image cannot have 268 confirmed.)
    fitting = {one for one in fitting if one[0] <= 268 and one[1] <= 15}
    assert {(right, wrong) for right, wrong, _ in fitting} == {(258, 13)}
    assert {only_first for *_, only_first in fitting} == set(range(13))


def test_a_category_nobody_used_does_not_count() -> None:
    # With three categories the chance agreement of AC1 would be half as large.
    assert gwet_ac1(pairs([[40, 10, 0], [20, 30, 0], [0, 0, 0]])) == gwet_ac1(pairs([[40, 10], [20, 30]]))


def test_where_nothing_tells() -> None:
    nobody, same = [cohen_kappa([]), gwet_ac1([])], pairs([[7, 0], [0, 0]])
    assert all(math.isnan(one.value) and one.n == 0 for one in nobody)
    assert math.isnan(cohen_kappa(same).value)
    assert (gwet_ac1(same).value, gwet_ac1(same).error) == (1.0, 0.0)
    perfect = pairs([[7, 0], [0, 3]])
    assert (cohen_kappa(perfect).value, cohen_kappa(perfect).error) == (1.0, 0.0)
