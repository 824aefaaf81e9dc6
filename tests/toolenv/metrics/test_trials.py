from __future__ import annotations

import math
from functools import partial

import pytest

from tests.support.episodes import plain_episode
from toolenv.metrics.trials import flipping, pass_hat, trials

episode = partial(plain_episode, env="ToolFeas/TauBench-clean-v0")


def test_field_106_trials_by_hand() -> None:
    """3 of 5 correct: pass^k is C(3, k) / C(5, k)."""
    found = trials(
        episode(task_id="t1", trial=trial, success=bool(s)) for trial, s in enumerate([1, 0, 1, 1, 0])
    )
    assert found.counts == {"t1": (3, 5)}
    assert (found.flipping.value, found.flipping.n) == (1, 1)
    values = {k: one.value for k, one in found.pass_hat.items()}
    assert values == pytest.approx({1: 3 / 5, 2: 3 / 10, 3: 1 / 10, 4: 0, 5: 0})


def test_pass_hat_averages_over_tasks_with_enough_trials() -> None:
    counts = {"always": (4, 4), "half": (2, 4), "never": (0, 4), "once": (1, 1)}
    two = pass_hat(counts, 2)
    assert two.value == pytest.approx((1 + 1 / 6 + 0) / 3)
    assert two.n == 3
    assert pass_hat(counts, 1).value == pytest.approx((1 + 0.5 + 0 + 1) / 4)
    assert flipping(counts).value == pytest.approx(1 / 3)
    assert math.isnan(pass_hat(counts, 5).value)
    assert pass_hat(counts, 5).n == 0


def test_field_035_a_pass_hat_of_1_has_an_interval() -> None:
    estimate = pass_hat({"a": (2, 2), "b": (2, 2)}, 2)
    assert (estimate.value, estimate.high) == (1, 1)
    assert estimate.low == pytest.approx(2 / (2 + 1.959964**2))


def test_pass_hat_0_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="k >= 1, got 0"):
        pass_hat({}, 0)


def test_an_infeasible_task_is_passed_by_stopping() -> None:
    found = trials(
        episode(task_id="t", trial=trial, label="infeasible", decision=decision, success=False)
        for trial, decision in enumerate(["infeasible", "feasible"])
    )
    assert found.counts == {"t": (1, 2)}
    assert found.flipping.value == 1


def test_invalid_and_unassessed_trials_are_left_out() -> None:
    found = trials(
        [
            episode(task_id="t", trial=0, success=True),
            episode(task_id="t", trial=1, success=None),
            episode(task_id="t", trial=2, success=None, valid=False),
        ]
    )
    assert found.counts == {"t": (1, 1)}
    assert found.flipping.n == 0


def test_no_episodes_have_no_trials() -> None:
    assert trials([]).counts == {}
    assert trials([]).pass_hat == {}
