from __future__ import annotations

import math
from functools import partial

import pytest

from tests.support.episodes import plain_episode
from toolenv.episode import Episode
from toolenv.metrics.rates import false_stop_rate, fass, fcr_lenient, fcr_strict, sr

episode = partial(plain_episode, env="ToolFeas/BFCL-mixed-v0")
go = partial(episode, decision="feasible", lenient_decision="feasible")
stop = partial(episode, decision="infeasible", lenient_decision="infeasible", success=False)


def test_field_008_always_stopping_is_not_a_good_agent() -> None:
    episodes = [
        stop(task_id=f"{label}-{number}", label=label)
        for label in ("feasible", "infeasible")
        for number in range(10)
    ]
    assert fcr_strict(episodes).value == 0
    assert fcr_lenient(episodes).value == 0
    assert sr(episodes).value == 0
    assert false_stop_rate(episodes).value == 1
    assert fass(episodes).value == 0.5
    assert [one(episodes).n for one in (fcr_strict, fcr_lenient, sr, false_stop_rate, fass)] == [
        10,
        10,
        10,
        10,
        20,
    ]


def test_never_stopping_is_no_better() -> None:
    episodes = [
        *(go(task_id=f"f{number}", label="feasible", success=number < 4) for number in range(10)),
        *(go(task_id=f"i{number}", label="infeasible", success=True) for number in range(10)),
    ]
    assert fcr_strict(episodes).value == 1
    assert false_stop_rate(episodes).value == 0
    assert sr(episodes).value == 0.4
    assert fass(episodes).value == 0.2  # completing an infeasible task counts for nothing


def test_fass_needs_both_the_decision_and_the_success() -> None:
    """Appendix D, one episode per case."""
    cases = [
        (stop(task_id="1", label="infeasible"), 1),
        (go(task_id="2", label="infeasible", success=True), 0),
        (go(task_id="3", label="feasible", success=True), 1),
        (go(task_id="4", label="feasible", success=False), 0),
        (stop(task_id="5", label="feasible"), 0),
        (
            episode(
                task_id="6",
                label="feasible",
                decision="infeasible",
                lenient_decision="infeasible",
                success=True,
            ),
            0,
        ),
    ]
    for one, expected in cases:
        assert fass([one]).value == expected, one


def test_the_lenient_rule_changes_only_lenient_fcr() -> None:
    phrase = partial(
        episode, decision="feasible", lenient_decision="infeasible", decided_by="stop_phrase", success=False
    )
    episodes = [phrase(task_id="1", label="infeasible"), phrase(task_id="2", label="feasible")]
    assert (fcr_strict(episodes).value, fcr_lenient(episodes).value) == (1, 0)
    assert (false_stop_rate(episodes).value, fass(episodes).value) == (0, 0)


@pytest.mark.parametrize("decided_by", ["malformed", "truncated", "truncated_by_length", "message"])
def test_field_001_005_050_whatever_is_no_stop_is_a_false_continue(decided_by: str) -> None:
    one = go(task_id="1", label="infeasible", success=False, decided_by=decided_by)
    assert fcr_strict([one]).value == 1


def test_field_006_what_cannot_be_assessed_is_left_out_and_counted() -> None:
    episodes = [
        go(task_id=str(number), label="feasible", success=s)
        for number, s in enumerate([True, False, None, None])
    ]
    assert (sr(episodes).value, sr(episodes).n, sr(episodes).excluded) == (0.5, 2, 2)
    assert (fass(episodes).value, fass(episodes).n, fass(episodes).excluded) == (0.5, 2, 2)
    assert (false_stop_rate(episodes).n, false_stop_rate(episodes).excluded) == (4, 0)
    none = sr(episodes[2:])
    assert math.isnan(none.value)
    assert (none.n, none.excluded) == (0, 2)


def test_invalid_episodes_are_never_scored() -> None:
    broken = partial(go, valid=False, decided_by="server_error", success=None)
    episodes = [
        go(task_id="1", label="feasible", success=True),
        broken(task_id="2", label="feasible"),
        broken(task_id="3", label="infeasible"),
    ]
    assert (sr(episodes).value, sr(episodes).n, sr(episodes).excluded) == (1, 1, 0)
    assert (fass(episodes).value, fass(episodes).n) == (1, 1)
    assert fcr_strict(episodes).n == 0


def test_a_metric_without_its_label_is_no_data() -> None:
    feasible_only = [go(task_id="1", label="feasible", success=True)]
    infeasible_only = [go(task_id="1", label="infeasible", success=False)]
    for metric, episodes in (
        (fcr_strict, feasible_only),
        (fcr_lenient, feasible_only),
        (sr, infeasible_only),
        (false_stop_rate, infeasible_only),
        (fass, []),
    ):
        assert math.isnan(metric(episodes).value)
        assert metric(episodes).n == 0


def test_trials_of_one_task_do_not_narrow_a_rate() -> None:
    def trials(number: int) -> list[Episode]:
        return [
            go(task_id=task, label="feasible", success=True, trial=trial)
            for task in "ab"
            for trial in range(number)
        ]

    assert sr(trials(1)).method == "wilson"
    often = sr(trials(50))
    assert (often.n, often.count, often.method) == (100, 100, "wilson over tasks")
    assert often.low == pytest.approx(2 / (2 + 1.959964**2))  # Wilson's at 2 of 2, by hand


def test_episodes_are_read_once() -> None:
    episodes = [go(task_id=str(number), label="feasible", success=True) for number in range(3)]
    assert sr(iter(episodes)).n == 3
