"""The four failure behaviours: each failed episode in exactly one, by hand."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.toolenv.metrics.test_rates import episode
from toolenv.episode import Episode
from toolenv.facts.reaction import Failure, Reaction
from toolenv.facts.task_facts import TaskFacts
from toolenv.metrics.failures import (
    Behaviour,
    Thresholds,
    answer_synthesis_failure,
    early_abandonment,
    failure_behaviour,
    ineffective_continuation,
    under_utilization,
)
from toolenv.metrics.registry import catalogue

RATES = (early_abandonment, ineffective_continuation, under_utilization, answer_synthesis_failure)


def failed(
    calls: int,
    after: int,
    *,
    failure: Failure = "error",
    answered: bool = True,
    reference: int | None = 4,
    **changes: Any,
) -> Episode:
    """A failed episode that made so many calls, so many of them after its first failed one."""
    settings: dict[str, Any] = {
        "label": "feasible",
        "decision": "feasible",
        "lenient_decision": "feasible",
        "success": False,
    }
    reacted = Reaction(failure, "retry", after, answered)
    facts = TaskFacts(tools=reference, reference_calls=reference)
    made = partial(episode, task_id=f"{calls}-{after}-{failure}-{changes}", calls=calls)
    return made(reaction=reacted, task=facts, **{**settings, **changes})


CASES: list[tuple[Episode, Behaviour]] = [
    (failed(6, 3), "ineffective_continuation"),
    (failed(3, 3), "ineffective_continuation"),  # A_t decides before R_t does
    (failed(9, 5, decided_by="truncated", answered=False), "ineffective_continuation"),
    (failed(4, 0), "early_abandonment"),  # no call after the first failed one
    (failed(6, 5, answered=False), "early_abandonment"),  # a blank or unreadable closing
    (failed(6, 5, decision="infeasible", decided_by="stop_signal", answered=False), "early_abandonment"),
    (failed(6, 5, decision="infeasible", decided_by="stop_phrase"), "early_abandonment"),  # STOP in a message
    (failed(1, 0, decided_by="truncated", answered=False), "early_abandonment"),
    (failed(0, 0, failure="", answered=False), "early_abandonment"),
    (failed(3, 2), "under_utilization"),  # R = 3 / 4
    (failed(2, 0, failure=""), "under_utilization"),  # nothing failed, and it answered
    (failed(3, 1, decided_by="context_window", answered=False), "under_utilization"),
    (failed(4, 2), "answer_synthesis_failure"),  # R = 1.00 exactly
    (failed(9, 0, failure=""), "answer_synthesis_failure"),
]


@pytest.mark.parametrize(("one", "behaviour"), CASES)
def test_each_failed_episode_has_one_behaviour(one: Episode, behaviour: Behaviour) -> None:
    assert failure_behaviour(one) == behaviour


def test_the_rates_add_up() -> None:
    episodes = [one for one, _ in CASES]
    counts = {rate.name: rate(episodes).count for rate in RATES}
    assert counts == {
        "early_abandonment": 6,
        "ineffective_continuation": 3,
        "under_utilization": 3,
        "answer_synthesis_failure": 2,
    }
    assert {rate(episodes).n for rate in RATES} == {14}


def test_thresholds_may_be_others() -> None:
    strict = Thresholds(post_error_calls=6, call_expansion=1.5)
    assert failure_behaviour(failed(5, 3), strict) == "under_utilization"  # R = 1.25
    assert failure_behaviour(failed(9, 6), strict) == "ineffective_continuation"
    metric = catalogue()["under_utilization"]
    assert metric.settings == ("thresholds",)
    assert (metric([failed(5, 3)], thresholds=strict).count, metric([failed(5, 3)]).count) == (1, 0)
    assert catalogue()["sr"]([failed(5, 3)], thresholds=strict).value == 0, (
        "settings of others are not for it"
    )


def test_only_failed_episodes_of_feasible_tasks_count() -> None:
    others = [
        failed(4, 2, success=True),
        failed(4, 2, accurate=True),  # V is accuracy where the suite tells it apart
        failed(4, 2, valid=False),
        failed(4, 2, label="infeasible"),
        failed(4, 2, success=None),
    ]
    assert [rate(others).n for rate in RATES] == [0] * 4


def test_what_a_record_does_not_tell_is_left_out_and_counted() -> None:
    unknown = [failed(4, 2, reference=None), failed(4, 2, reference=0)]
    old = episode(
        task_id="v1", label="feasible", decision="feasible", lenient_decision="feasible", success=False
    )
    assert failure_behaviour(old) is None
    found = under_utilization([*unknown, old, failed(1, 1)])
    assert (found.count, found.n, found.excluded) == (1, 1, 3)
    assert failure_behaviour(failed(4, 4, reference=None)) == "ineffective_continuation", "A_t is known"
