"""Two sets of episodes of the same tasks, by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from tests.toolenv.metrics.test_rates import episode
from toolenv.episode import Episode
from toolenv.errors import UsageError
from toolenv.metrics.comparison import ACHIEVED, QUANTITIES, compare, match
from toolenv.metrics.paired import PairCounts
from toolenv.metrics.registry import catalogue

BY_NAME = {one.name: one for one in QUANTITIES}


def played(task: str, success: bool | None, **changes: Any) -> Episode:
    settings: dict[str, Any] = {"label": "feasible", "decision": "feasible", "lenient_decision": "feasible"}
    return episode(task_id=task, success=success, **{**settings, **changes})


def outcomes(*values: int, **changes: Any) -> list[Episode]:
    """Task t0 first; 1 is a success."""
    return [played(f"t{at}", bool(value), **changes) for at, value in enumerate(values)]


def test_pairs_are_valid_episodes_of_one_task_and_trial() -> None:
    first = [*outcomes(1, 1, 0), played("t3", True, valid=False), played("t4", True, trial=1)]
    second = [
        *outcomes(0, 1),
        played("t2", True, valid=False),
        played("t3", True),
        played("t4", True, seed=9),
    ]
    pairs, matching = match(first, second)
    assert [(one.task_id, other.task_id) for one, other in pairs] == [("t0", "t0"), ("t1", "t1")]
    assert (matching.pairs, matching.only_first, matching.only_second) == (2, 2, 2)
    pairs, matching = match(outcomes(1, 0), outcomes(1, 0, seed=3))
    assert (matching.pairs, matching.other_seeds) == (2, 2)


def test_a_published_table_from_episodes() -> None:
    """Bentur et al. 2009: 1, 1, 7, 12 pairs; interval and p as in test_paired."""
    first = outcomes(*[1] * 2, *[0] * 19)
    second = outcomes(1, 0, *[1] * 7, *[0] * 12)
    found = compare(match(first, second)[0], BY_NAME["sr"])
    assert found.pairs == PairCounts(1, 1, 7, 12)
    assert (found.first.count, found.second.count, found.difference.n) == (2, 8, 21)
    assert (found.difference.low, found.difference.high) == pytest.approx((-0.5069, -0.0256), abs=1e-4)
    assert found.p == 0.0703125


def test_trials_of_one_task_count_as_one_observation() -> None:
    """Four trials that always agree say no more than one does."""
    first, second = [1, 1, 1, 0, 0], [0, 1, 0, 1, 0]
    many = match(
        [one for trial in range(4) for one in outcomes(*first, trial=trial)],
        [one for trial in range(4) for one in outcomes(*second, trial=trial)],
    )[0]
    once = match(outcomes(*first), outcomes(*second))[0]
    repeated, single = (compare(pairs, BY_NAME["sr"]) for pairs in (many, once))
    assert repeated.pairs == PairCounts(4, 8, 4, 4)
    assert repeated.difference.n == 20
    assert repeated.difference.method == "newcombe paired, over tasks"
    assert (repeated.difference.value, repeated.difference.low, repeated.difference.high) == pytest.approx(
        (single.difference.value, single.difference.low, single.difference.high)
    )
    assert repeated.p == single.p == 1.0


def test_what_has_no_meaning_on_a_side_is_left_out_and_counted() -> None:
    first = [played("t0", True), played("t1", None), played("t2", True), played("t3", False)]
    second = [played("t0", False), played("t1", True), played("t2", None), played("t3", False)]
    found = compare(match(first, second)[0], BY_NAME["sr"])
    assert (found.difference.value, found.difference.n, found.excluded) == (0.5, 2, 2)
    nothing = compare(match(first, second)[0], BY_NAME["fcr_strict"])
    assert math.isnan(nothing.difference.value)
    assert (nothing.difference.n, nothing.p, nothing.pairs, nothing.excluded) == (0, None, None, 4)


@pytest.mark.parametrize("name", sorted(BY_NAME.keys() & catalogue().keys()))
def test_a_side_is_what_the_metric_of_that_name_is(name: str) -> None:
    stop: dict[str, Any] = {"decision": "infeasible", "lenient_decision": "infeasible"}
    episodes = [
        played("t0", True, accurate=True),
        played("t1", False, accurate=True),
        played("t2", False, accurate=False, **stop),
        *(played(f"i{at}", False, label="infeasible") for at in range(3)),
        played("i3", False, label="infeasible", **stop),
        played("i4", False, label="infeasible", lenient_decision="infeasible"),
    ]
    found, metric = compare(match(episodes, episodes)[0], BY_NAME[name]), catalogue()[name](episodes)
    assert found.first == found.second == replace(metric, excluded=found.first.excluded)
    assert (found.difference.value, found.p) == (0, 1.0)


def test_v_is_accuracy_where_it_is_told_and_success_elsewhere() -> None:
    first = [played("t0", False, accurate=True), played("t1", True)]
    second = [played("t0", False, accurate=False), played("t1", False)]
    found = compare(match(first, second)[0], ACHIEVED)
    assert found.pairs == PairCounts(0, 2, 0, 0)


def test_tokens_are_compared_task_by_task() -> None:
    """As in test_paired: differences 1, 2 and 6."""
    first = [played(f"t{at}", True, input_tokens=10, output_tokens=at) for at in (1, 2, 6)]
    second = [played(f"t{at}", True, input_tokens=10, output_tokens=0) for at in (1, 2, 6)]
    unknown = played("t9", True)
    found = compare(match([*first, unknown], [*second, unknown])[0], BY_NAME["tokens"])
    assert (found.first.value, found.second.value, found.difference.value) == (13, 10, 3)
    assert found.difference.low == pytest.approx(-3.5724, abs=1e-4)
    assert (found.difference.n, found.excluded, found.p, found.pairs) == (3, 1, None, None)


CLEAN, INFEASIBLE, HAZARD = (f"ToolFeas/BFCL-{one}-v0" for one in ("clean", "infeasible", "hazard"))


def test_sets_of_several_envs_are_paired_by_env() -> None:
    """Twins of t0 to t2; of the second agent the clean t2 is missing and it has a hazard env besides."""
    label: dict[str, Any] = {"label": "infeasible"}
    ours = [*outcomes(1, 0, 1, env=CLEAN), *outcomes(0, 0, 0, env=INFEASIBLE, **label)]
    theirs = [
        *outcomes(0, 0, 0, env=INFEASIBLE, **label),
        *outcomes(0, 0, env=CLEAN),
        *outcomes(1, 1, 1, env=HAZARD),
    ]
    pairs, matching = match(ours, theirs)
    assert [(one.env, one.task_id) for one, _ in pairs] == [(other.env, other.task_id) for _, other in pairs]
    assert (matching.pairs, matching.only_first, matching.only_second) == (5, 1, 3)


def test_one_env_against_another_is_paired_by_task() -> None:
    assert match(outcomes(1, 0, env=CLEAN), outcomes(0, 0, env=HAZARD))[1].pairs == 2


def test_sets_that_cannot_be_paired_are_refused() -> None:
    two = [*outcomes(1, env=CLEAN), *outcomes(1, env=INFEASIBLE)]
    with pytest.raises(UsageError, match="the second ToolFeas/BFCL-hazard-v0; give sets of one env each"):
        match(two, outcomes(1, env=HAZARD))
    agents = [*outcomes(1, env=CLEAN), *outcomes(0, env=CLEAN, agent="other")]
    for sets in ((agents, outcomes(1, env=CLEAN)), (outcomes(1, env=CLEAN), agents)):
        with pytest.raises(UsageError, match=r"task 't0', trial 0: two episodes .* and 'other'"):
            match(*sets)
    assert match(two, [])[1].only_first == 2
