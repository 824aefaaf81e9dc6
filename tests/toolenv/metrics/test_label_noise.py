from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.episodes import plain_episode
from toolenv.episode import Episode
from toolenv.feasibility.annotation.evidence import LabelEvidence, Status
from toolenv.metrics.label_noise import fcr_bounds, fcr_certified, wrong_labels_at_most
from toolenv.metrics.rates import fcr_lenient, fcr_strict
from toolenv.metrics.stats import wilson

Ends = Literal["feasible", "infeasible"]
STOP: Ends = "infeasible"
CONTINUE: Ends = "feasible"

episode = partial(plain_episode, env="ToolFeas/BFCL-infeasible-v0", label="infeasible", reward=0.0, calls=0)


def episodes(outcomes: Mapping[str, Sequence[Ends]]) -> list[Episode]:
    """An episode for each outcome of each task."""
    return [
        episode(task_id=task, trial=trial, decision=one, lenient_decision=one)
        for task, ends in outcomes.items()
        for trial, one in enumerate(ends)
    ]


def run(continues: int, n: int) -> list[Episode]:
    """One trial of ``n`` tasks, the first of which were continues."""
    return episodes({f"t{number}": [CONTINUE if number < continues else STOP] for number in range(n)})


def sampled(population: int, checked: int, confirmed: int, **status: Status) -> LabelEvidence:
    return LabelEvidence("sha256:masks", status, population, checked, confirmed)


def test_how_many_labels_may_be_wrong() -> None:
    # Table 8: BFCL 115 of 121, Wilson from 0.896; of its 445 labels (1 - 0.8964) · 445 = 46.1.
    assert wrong_labels_at_most(sampled(445, 121, 115)) == 46
    # Total 268 of 283 from 0.914; (1 - 0.9142) · 1036 = 88.8.
    assert wrong_labels_at_most(sampled(1036, 283, 268)) == 88
    assert wrong_labels_at_most(sampled(1036, 0, 0)) is None


@pytest.mark.parametrize(
    ("continues", "n"), [(0, 445), (10, 445), (46, 445), (115, 445), (399, 445), (400, 445), (445, 445)]
)
def test_the_formula_with_one_trial_a_task(continues: int, n: int) -> None:
    evidence = sampled(445, 121, 115)
    bounds = fcr_bounds(run(continues, n), evidence)
    f, epsilon = continues / n, 46 / 445
    assert bounds.value == f
    assert bounds.low == pytest.approx(max(0.0, (f - epsilon) / (1 - epsilon)), abs=1e-12)
    assert bounds.high == pytest.approx(min(1.0, f / (1 - epsilon)), abs=1e-12)
    assert bounds.method == "worst case over 46 wrong labels"
    assert (bounds.count, bounds.n) == (continues, n)


def test_worked_by_hand() -> None:
    # 100 labels of which people checked all, and confirmed 100: Wilson's lower end is 100 / (100 + 1.96²) =
    # 0.963, so at most 3 are wrong. 50 continues: (50 - 3) / 97 to 50 / 97.
    bounds = fcr_bounds(run(50, 100), sampled(100, 100, 100))
    assert (bounds.low, bounds.high) == (47 / 97, 50 / 97)


def test_fewer_tasks_than_labels_may_hold_all_wrong_ones() -> None:
    evidence = sampled(445, 121, 115)
    bounds = fcr_bounds(run(30, 60), evidence)
    # 46 of the 60 may be wrong: all 30 continues, or all 30 stops.
    assert (bounds.low, bounds.high) == (0.0, 1.0)
    few = fcr_bounds(run(30, 40), evidence)
    assert (few.low, few.high, few.method) == (0.0, 1.0, "worst case over 40 wrong labels")


def test_certified_tasks_alone() -> None:
    status: dict[str, Status] = {"t0": "infeasible", "t1": "infeasible", "t2": "feasible", "t9": "infeasible"}
    certified = fcr_certified(run(2, 10), status)
    assert (certified.value, certified.count, certified.n, certified.excluded) == (2 / 3, 2, 3, 7)
    assert (certified.low, certified.high) == (wilson(2, 3).low, wilson(2, 3).high)
    nothing = fcr_certified(run(2, 10), {"t0": "unknown"})
    assert math.isnan(nothing.value)
    assert (nothing.n, nothing.excluded) == (0, 10)


def test_certificates_alone_bound_fcr() -> None:
    # 10 tasks, of which t0 to t3 are continues. Proven right: t0 and t9; proven wrong: t1. Each of the other
    # seven may be wrong. Lowest: t2 and t3 are, and 1 continue of 7 is left. Highest: t4 to t8 are, and 3
    # continues of 4 are left.
    evidence = LabelEvidence("m", {"t0": "infeasible", "t9": "infeasible", "t1": "feasible"})
    bounds = fcr_bounds(run(4, 10), evidence)
    assert (bounds.value, bounds.n, bounds.excluded) == (3 / 9, 9, 1)
    assert (bounds.low, bounds.high) == (1 / 7, 3 / 4)
    whole: dict[str, Status] = {f"t{number}": "infeasible" for number in range(10)}
    certain = fcr_bounds(run(4, 10), LabelEvidence("m", whole))
    assert (certain.low, certain.value, certain.high) == (0.4, 0.4, 0.4)
    unknown = fcr_bounds(run(4, 10), LabelEvidence("m"))
    assert (unknown.low, unknown.value, unknown.high) == (0.0, 0.4, 1.0)


def test_labels_proven_wrong_use_up_the_wrong_ones() -> None:
    # At most 3 of 100 are wrong (see above), and two are proven to be: one more may be.
    evidence = sampled(100, 100, 100, t0="feasible", t99="feasible")
    bounds = fcr_bounds(run(50, 100), evidence)
    assert (bounds.value, bounds.low, bounds.high) == (49 / 98, 48 / 97, 49 / 97)
    proven: dict[str, Status] = {f"t{number}": "feasible" for number in range(5)}
    more_than_thought = fcr_bounds(run(50, 100), sampled(100, 100, 100, **proven))
    assert more_than_thought.low == more_than_thought.value == more_than_thought.high == 45 / 95


def test_the_lenient_rule() -> None:
    one = episode(task_id="a", trial=0, decision=CONTINUE, lenient_decision=STOP)
    evidence = LabelEvidence("m", {"a": "infeasible"})
    assert fcr_certified([one], evidence.status).value == fcr_strict([one]).value == 1
    assert fcr_certified([one], evidence.status, "lenient").value == fcr_lenient([one]).value == 0
    assert (fcr_bounds([one], evidence).high, fcr_bounds([one], evidence, "lenient").high) == (1, 0)


def test_only_valid_episodes_of_infeasible_tasks_count() -> None:
    extra = [
        episode(task_id="x", trial=0, decision=CONTINUE, lenient_decision=CONTINUE, label="feasible"),
        episode(task_id="y", trial=0, decision=CONTINUE, lenient_decision=CONTINUE, valid=False),
    ]
    evidence = sampled(100, 100, 100)
    assert fcr_bounds([*run(5, 10), *extra], evidence) == fcr_bounds(run(5, 10), evidence)
    nothing = fcr_bounds(extra, evidence)
    assert math.isnan(nothing.value)
    assert nothing.n == 0


def worst_cases(
    outcomes: Mapping[str, Sequence[Ends]], certain: Iterable[str], budget: int
) -> tuple[Fraction, Fraction]:
    """The lowest and highest FCR over every choice of up to ``budget`` wrong labels, one by one."""
    doubtful = [task for task in outcomes if task not in set(certain)]
    rates = []
    for size in range(budget + 1):
        for wrong in combinations(doubtful, size):
            ends = [one for task, listed in outcomes.items() if task not in wrong for one in listed]
            rates.append(Fraction(ends.count(CONTINUE), len(ends)))
    return min(rates), max(rates)


@given(
    st.lists(st.lists(st.sampled_from([STOP, CONTINUE]), min_size=1, max_size=4), min_size=2, max_size=7),
    st.integers(0, 6),
    st.integers(0, 3),
)
def test_several_trials_against_every_choice_of_wrong_labels(
    trials: list[list[Ends]], wrong: int, certain: int
) -> None:
    outcomes = {f"t{number}": ends for number, ends in enumerate(trials)}
    proven: dict[str, Status] = {f"t{number}": "infeasible" for number in range(min(certain, len(trials)))}
    doubtful = len(trials) - len(proven)
    wrong = min(wrong, doubtful if proven else doubtful - 1)
    # Of a population of ``wrong`` labels all were rejected: so many may be wrong.
    evidence = LabelEvidence("m", proven, wrong, wrong, 0) if wrong else sampled_right(proven)
    bounds = fcr_bounds(episodes(outcomes), evidence)
    low, high = worst_cases(outcomes, proven, wrong)
    assert [bounds.low, bounds.high] == pytest.approx([float(low), float(high)])
    assert bounds.low <= bounds.value <= bounds.high


def sampled_right(status: Mapping[str, Status]) -> LabelEvidence:
    """So many labels checked and confirmed that not one can be wrong."""
    evidence = LabelEvidence("m", status, 1, 1, 1)
    # Wilson from 1 of 1 is 0.207: (1 - 0.207) · 1 is less than one label.
    assert wrong_labels_at_most(evidence) == 0
    return evidence
