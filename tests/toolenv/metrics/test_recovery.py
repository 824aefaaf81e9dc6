"""Accuracy, exposure, first actions, A_t and R_t over episodes counted by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.toolenv.metrics.test_rates import episode
from toolenv.episode import Episode
from toolenv.facts.exposure import Exposure
from toolenv.facts.reaction import FirstAction, Reaction
from toolenv.facts.task_facts import TaskFacts
from toolenv.metrics.accuracy import accuracy, accuracy_exposed, exposure_rate
from toolenv.metrics.outcomes import ExposureCounts, exposure_counts
from toolenv.metrics.recovery import (
    call_expansion,
    first_action_other,
    first_action_retry,
    first_action_stop,
    first_action_switch,
    post_error_calls,
)

FIRSTS = (first_action_retry, first_action_switch, first_action_other, first_action_stop)


def played(number: int, **changes: Any) -> Episode:
    settings: dict[str, Any] = {
        "label": "feasible",
        "decision": "feasible",
        "lenient_decision": "feasible",
        "success": False,
    }
    return episode(task_id=f"t{number}", **{**settings, **changes})


def met(fired: int, seen: int) -> Exposure:
    return Exposure("output-drift", "units", "weigh", True, fired, seen)


def test_accuracy_counts_what_is_judged_accurate() -> None:
    episodes = [
        played(0, accurate=True, success=True),
        played(1, accurate=True),
        played(2, accurate=False),
        played(3),  # a suite that does not tell it apart
        played(4, accurate=True, valid=False),
        played(5, label="infeasible"),
    ]
    found = accuracy(episodes)
    assert (found.count, found.n, found.excluded) == (2, 3, 0)
    assert math.isnan(accuracy([played(3)]).value)
    assert [one.achieved for one in episodes[:4]] == [True, True, False, False]


def test_field_021_accuracy_among_those_that_met_the_hazard() -> None:
    episodes = [
        played(0, accurate=True, exposure=met(0, 0)),  # never called the tool
        played(1, accurate=True, exposure=met(2, 1)),
        played(2, accurate=False, exposure=met(1, 1)),
        played(3, accurate=False, exposure=met(1, 0)),  # struck at the last decision
        played(4, success=True, exposure=met(1, 1)),  # V is success where accuracy is not told apart
        played(5, accurate=True, exposure=Exposure()),
        played(6, accurate=True),
    ]
    assert exposure_counts(episodes) == ExposureCounts(armed=5, fired=4, seen=3)
    assert (exposure_rate(episodes).count, exposure_rate(episodes).n) == (3, 5)
    assert (accuracy_exposed(episodes).count, accuracy_exposed(episodes).n) == (2, 3)


def test_first_actions_are_shares_of_those_that_reacted() -> None:
    actions: list[FirstAction] = ["retry", "retry", "retry", "switch", "switch", "other", "stop", "none"]
    episodes = [played(at, reaction=Reaction("error", one, 2)) for at, one in enumerate(actions)]
    episodes += [played(8, reaction=Reaction()), played(9)]  # nothing failed; not on record
    assert [(one(episodes).count, one(episodes).n, one(episodes).excluded) for one in FIRSTS] == [
        (3, 7, 1),
        (2, 7, 1),
        (1, 7, 1),
        (1, 7, 1),
    ]


def test_a_t_is_a_mean_over_episodes_in_which_a_call_failed() -> None:
    episodes = [
        played(at, reaction=Reaction("perturbed", "retry", calls)) for at, calls in enumerate((0, 2, 7))
    ]
    found = post_error_calls([*episodes, played(8, reaction=Reaction())])
    assert (found.value, found.n) == (3, 3)
    assert found.low < 3 < found.high


def test_r_t_is_a_mean_of_ratios() -> None:
    facts = TaskFacts(tools=3, reference_calls=4)
    episodes = [played(at, calls=calls, task=facts) for at, calls in enumerate((2, 4, 9))]
    found = call_expansion(
        [*episodes, played(8, calls=5), played(9, calls=5, label="infeasible", task=facts)]
    )
    assert (found.value, found.n) == (pytest.approx((0.5 + 1 + 2.25) / 3), 3)
