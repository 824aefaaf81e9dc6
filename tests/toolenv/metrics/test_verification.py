from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import count

import pytest

from tests.toolenv.feasibility.annotation.samples import make_item
from toolenv.feasibility.annotation.answers import Answer, Choice
from toolenv.feasibility.annotation.verdict import Judged
from toolenv.metrics.stats import wilson
from toolenv.metrics.verification import Verification, verify
from toolenv.report.verification import verification_to_json

Answers = tuple[Choice | None, Choice | None, Choice | None]
"""Of the two annotators and the adjudication."""

AGREED_RIGHT: Answers = ("no", "no", None)
AGREED_WRONG: Answers = ("yes", "yes", None)
SETTLED_RIGHT: Answers = ("no", "yes", "no")
SETTLED_WRONG: Answers = ("no", "yes", "yes")

# (n, confirmed, disagreements): Table 7's n and "Confirmed", and the disagreements behind its "Agreement" of
# 97.5, 96.3, 94.0 and 90.0%: 3 in each data set, 12 in all.
TABLE_7 = {
    "BFCL": (121, 115, 3),
    "StableToolBench": (82, 77, 3),
    "API-Bank": (50, 48, 3),
    "TauBench": (30, 28, 3),
}
# The paper does not say how each dispute ended; 10 of the 12 as right gives its κ (test_agreement).
SETTLED_AS_RIGHT = {"BFCL": 3, "StableToolBench": 2, "API-Bank": 3, "TauBench": 2}


def choice(answer: Choice | None) -> Answer | None:
    return None if answer is None else Answer(answer)


def judged(suite: str, answers: Iterable[Answers], masked: int = 1) -> Iterator[Judged]:
    for first, second, settled in answers:
        item = make_item(f"{next(_numbers)}", suite, masked)
        yield Judged(item, (choice(first), choice(second)), choice(settled))


_numbers = count()


def papers_items() -> list[Judged]:
    """283 judged items with the counts of Tables 7 and 8."""
    rows: list[tuple[str, Answers]] = []
    for suite, (n, confirmed, disputes) in TABLE_7.items():
        right = SETTLED_AS_RIGHT[suite]
        answers = [SETTLED_RIGHT] * right + [SETTLED_WRONG] * (disputes - right)
        answers += [AGREED_RIGHT] * (confirmed - right)
        answers += [AGREED_WRONG] * (n - len(answers))
        rows += [(suite, one) for one in answers]
    # Table 8: 187 single-tool masks, 176 of them right, and 96 multi-tool masks, 92 of them right.
    left = {True: 92, False: 4}
    items: list[Judged] = []
    for suite, answers_of_one in rows:
        right_label = answers_of_one in (AGREED_RIGHT, SETTLED_RIGHT)
        multi = left[right_label] > 0
        left[right_label] -= multi
        items += judged(suite, [answers_of_one], 3 if multi else 1)
    return items


def rounded(verification: Verification) -> dict[str, tuple[int, int | None, float, float, float]]:
    return {
        group.name: (
            group.sampled,
            group.precision.count,
            round(group.precision.value, 3),
            round(group.precision.low, 3),
            round(group.precision.high, 3),
        )
        for group in verification.groups
    }


def test_tables_7_and_8_of_the_paper() -> None:
    verification = verify(papers_items())
    assert rounded(verification) == {
        "TauBench": (30, 28, 0.933, 0.787, 0.982),
        "StableToolBench": (82, 77, 0.939, 0.865, 0.974),
        "BFCL": (121, 115, 0.950, 0.896, 0.977),
        "API-Bank": (50, 48, 0.960, 0.865, 0.989),
        "single-tool masks": (187, 176, 0.941, 0.898, 0.967),
        "multi-tool masks": (96, 92, 0.958, 0.898, 0.984),
        "total": (283, 268, 0.947, 0.914, 0.968),
    }
    agreement = {group.name: round(100 * group.agreement.value, 1) for group in verification.groups}
    assert agreement["total"] == 95.8
    assert [agreement[name] for name in TABLE_7] == [97.5, 96.3, 94.0, 90.0]
    assert (round(verification.kappa.value, 2), round(verification.ac1.value, 2)) == (0.66, 0.95)
    assert (verification.disagreements, verification.unsettled, verification.unanswered) == (12, 0, 0)


def test_intervals_of_the_coefficients() -> None:
    verification = verify(papers_items())
    # statsmodels 0.15.0, cohens_kappa([[258, 12], [0, 13]]): kappa_low and kappa_upp.
    kappa, ac1 = verification.kappa, verification.ac1
    assert [kappa.low, kappa.high] == pytest.approx([0.4886312471746588, 0.8391597266970754], rel=1e-9)
    # irrCAC 0.4.4, which has t and n - 1 in place of z and n.
    assert [ac1.low, ac1.high] == pytest.approx([0.92340, 0.97965], abs=2e-4)
    # irrCAC cuts at 1, too.
    one_of_forty = [AGREED_RIGHT] * 39 + [SETTLED_RIGHT]
    assert verify(list(judged("A", one_of_forty))).ac1.high == 1.0


def test_open_verdicts_withhold_precision() -> None:
    items = list(judged("A", [AGREED_RIGHT] * 7 + [AGREED_WRONG] + [("no", "yes", None), ("no", None, None)]))
    total = verify(items).total
    assert total.precision.withheld
    assert math.isnan(total.precision.value)
    assert (total.precision.count, total.precision.n, total.precision.excluded) == (7, 8, 2)
    # The two open ones may both turn out wrong or both right.
    assert (total.precision.low, total.precision.high) == (wilson(7, 10).low, wilson(9, 10).high)
    assert (total.agreement.count, total.agreement.n, total.agreement.excluded) == (8, 9, 1)
    assert (verify(items).unsettled, verify(items).unanswered) == (1, 1)


def test_unsure_is_a_third_answer_and_confirms_nothing() -> None:
    answers: list[Answers] = [
        *[AGREED_RIGHT] * 5,
        ("unsure", "unsure", "unsure"),
        ("no", "unsure", "no"),
        ("yes", "unsure", None),
    ]
    verification = verify(list(judged("A", answers)))
    assert (verification.disagreements, verification.unsure, verification.unsettled) == (2, 3, 1)
    # Raw agreement counts two who are unsure as agreeing: 6 of 8.
    assert (verification.total.agreement.count, verification.total.agreement.n) == (6, 8)
    settled = verify(list(judged("A", [*answers[:-1], ("yes", "unsure", "yes")]))).total.precision
    assert (settled.count, settled.n, settled.withheld) == (6, 8, False)


def test_without_data() -> None:
    verification = verify([])
    for estimate in (verification.total.agreement, verification.total.precision, verification.kappa):
        assert math.isnan(estimate.value)
        assert estimate.n == 0
    nobody = verify(list(judged("A", [(None, None, None)])))
    assert nobody.total.precision.withheld
    assert nobody.unanswered == 1
    alike = verify(list(judged("A", [AGREED_RIGHT] * 3)))
    assert math.isnan(alike.kappa.value)
    assert alike.ac1.value == 1.0
    assert math.isnan(alike.ac1.low)  # no spread is seen, which is not to say that there is none


def test_json_holds_no_nan() -> None:
    plain = verification_to_json(verify([]))
    assert plain["kappa"]["value"] is None
    assert [group["name"] for group in plain["groups"]] == ["single-tool masks", "multi-tool masks", "total"]
