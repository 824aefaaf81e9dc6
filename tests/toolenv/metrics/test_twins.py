"""A task's twins under other conditions are one task: by hand, and how often intervals hold the truth."""

from __future__ import annotations

import random
from collections.abc import Iterable
from functools import partial

import pytest

from tests.support.episodes import plain_episode
from toolenv.episode import Episode
from toolenv.facts.task_facts import TaskFacts
from toolenv.metrics.comparison import QUANTITIES, compare, match
from toolenv.metrics.env_names import parts_of
from toolenv.metrics.outcomes import flag_counts
from toolenv.metrics.rates import fass, fcr_strict, sr
from toolenv.metrics.recovery import call_expansion
from toolenv.metrics.stats import Estimate
from toolenv.metrics.tokens import tc_early_stop, tc_ratio, tc_task_failure

CLEAN, INFEASIBLE, HAZARD = (f"ToolFeas/BFCL-{one}-v0" for one in ("clean", "infeasible", "hazard"))
Z_SQUARED = 1.959964**2

clean = partial(plain_episode, env=CLEAN, success=True)
infeasible = partial(plain_episode, env=INFEASIBLE, label="infeasible", decision="infeasible", success=False)


def twins(task: str, right: bool, **changes: object) -> list[Episode]:
    """Right in both conditions, or wrong in both."""
    decision = "infeasible" if right else "feasible"
    return [
        clean(task_id=task, success=right, **changes),
        infeasible(task_id=task, decision=decision, **changes),
    ]


def test_four_episodes_of_two_tasks_are_two_observations() -> None:
    """Wilson's lower bound at 2 of 2 is 2 / (2 + z²) = 0.342, at 4 of 4 it would be 0.510."""
    found = fass([*twins("a", True), *twins("b", True)])
    assert (found.value, found.count, found.n, found.tasks) == (1, 4, 4, 2)
    assert found.low == pytest.approx(2 / (2 + Z_SQUARED))
    assert found.method == "wilson over tasks"


def test_three_tasks_of_which_one_has_no_twin() -> None:
    """3 of 5 right: 1.8 of 3 tasks, so from Wilson's low end at 1 of 3 to its high end at 2 of 3."""
    found = fass([*twins("a", True), *twins("b", False), clean(task_id="c")])
    assert (found.value, found.n, found.tasks) == (3 / 5, 5, 3)
    assert (found.low, found.high) == pytest.approx((0.0615, 0.9385), abs=1e-4)  # Wilson's at 1 and 2 of 3


def test_hazards_versions_and_modules_are_conditions_of_one_suite() -> None:
    names = (CLEAN, HAZARD, CLEAN.replace("v0", "v1"))
    assert sr([clean(task_id="a", env=name) for name in names]).tasks == 1
    own = [f"library_envs:ToolFeas/Library-{one}-v0" for one in ("clean", "output-drift")]
    assert [parts_of(one)[0] for one in own] == ["library_envs:ToolFeas/Library"] * 2
    assert sr([clean(task_id="a", env=name) for name in own]).tasks == 1


def test_tasks_of_one_name_in_two_suites_are_two() -> None:
    found = sr([clean(task_id="a"), clean(task_id="a", env="ToolFeas/APIBank-clean-v0")])
    assert (found.n, found.tasks, found.method) == (2, None, "wilson")


def test_an_env_alone_rests_on_its_episodes_as_before() -> None:
    found = sr(clean(task_id=str(number)) for number in range(4))
    assert (found.n, found.tasks, found.method) == (4, None, "wilson")


def test_a_mean_over_conditions_has_its_error_from_the_spread_between_tasks() -> None:
    """Tasks have 1 and 3 times the calls, in both conditions: the error is that of two observations."""
    facts = TaskFacts(reference_calls=1)
    once = [clean(task_id=str(calls), calls=calls, task=facts) for calls in (1, 3)]
    both = [*once, *(clean(task_id=str(calls), env=HAZARD, calls=calls, task=facts) for calls in (1, 3))]
    alone, together = call_expansion(once), call_expansion(both)
    assert (together.value, together.n) == (2, 4)
    assert (together.low, together.high) == pytest.approx((alone.low, alone.high))


def test_a_task_flagged_in_two_conditions_is_counted_in_both() -> None:
    found = flag_counts(twins("a", True, flags=("proxy_judge",)))["proxy_judge"]
    assert (found.tasks, found.episodes, found.succeeded) == (2, 2, 2)


def test_a_comparison_over_both_conditions_rests_on_tasks() -> None:
    """Two tasks, right in both conditions and wrong in both: the difference is that of two pairs."""
    first = [*twins("a", True), *twins("b", True)]
    second = [*twins("a", False), *twins("b", True)]
    quantity = next(one for one in QUANTITIES if one.name == "fass")
    both = compare(match(first, second)[0], quantity).difference
    single = compare(match(first[::2], second[::2])[0], quantity).difference
    assert (both.value, both.n, single.n) == (0.5, 4, 2)
    assert (both.low, both.high) == pytest.approx((single.low, single.high))


def _holds(rate: float, found: Estimate) -> bool:
    return found.low <= rate <= found.high


@pytest.mark.parametrize("rate", [0.1, 0.25, 0.5, 0.9])
def test_intervals_hold_the_truth_where_twins_always_agree(rate: float) -> None:
    """60 tasks, each right in both conditions or wrong in both; 120 independent ones would hold 82 to 87%."""
    draws = random.Random(20_240_607)
    studies = [[draws.random() < rate for _ in range(60)] for _ in range(1_000)]
    counts = {sum(study) for study in studies}
    found = {count: fass(_study(at < count for at in range(60))) for count in counts}
    held = sum(_holds(rate, found[sum(study)]) for study in studies)
    assert held / len(studies) >= 0.93


def _study(outcomes: Iterable[bool]) -> list[Episode]:
    return [one for at, right in enumerate(outcomes) for one in twins(f"t{at}", right)]


def test_every_estimate_says_of_how_many_tasks_its_episodes_are() -> None:
    """Three trials of two tasks: six episodes; of a ratio those of both means, each task once."""
    stopped = [
        infeasible(task_id=task, trial=at, input_tokens=10 + at, output_tokens=0)
        for task in "ab"
        for at in range(2)
    ]
    failed = [
        infeasible(task_id=task, trial=2, decision="feasible", input_tokens=size, output_tokens=0)
        for task, size in (("a", 20), ("b", 40))
    ]
    every = [*stopped, *failed]
    assert (fcr_strict(every).n, fcr_strict(every).tasks) == (6, 2)
    assert (tc_early_stop(every).n, tc_early_stop(every).tasks) == (4, 2)
    assert (tc_task_failure(every).n, tc_task_failure(every).tasks) == (2, None)
    assert (tc_ratio(every).n, tc_ratio(every).tasks) == (6, 2)
    for name in ("fass", "tokens"):
        quantity = next(one for one in QUANTITIES if one.name == name)
        found = compare(match(every, every)[0], quantity)
        assert {one.tasks for one in (found.first, found.second, found.difference)} == {2}


def test_tasks_with_many_episodes_are_worth_less_than_their_number() -> None:
    """By hand: 12 tasks of 5 episodes and 48 of 1, all right: 108² / (12 · 25 + 48) = 33.5 observations."""
    often = [clean(task_id=f"often-{task}", trial=trial) for task in range(12) for trial in range(5)]
    found = sr([*often, *(clean(task_id=f"once-{task}") for task in range(48))])
    assert (found.n, found.tasks) == (108, 60)
    assert found.low == pytest.approx(34 / (34 + Z_SQUARED), rel=1e-4)
