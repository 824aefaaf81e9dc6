"""What is shown while a run runs, and what its tokens cost: all by hand."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from tests.toolenv.runner.toy_runs import CLEAN, INFEASIBLE, Payer, play, ten_episodes
from toolenv.errors import UsageError
from toolenv.model_server.failures import Failures
from toolenv.rollout import Rollout
from toolenv.runner.costs import Money, Price, Tariff, amount_text, parse_prices
from toolenv.runner.progress import Tally, duration
from toolenv.trouble import Trouble
from toolenv.types import Usage

PRICES = {"big": Price(2.0, 10.0, 0.5), "small": Price(1.0, 1.0, 1.0)}


def tally_of(rollouts: list[Rollout], *, total: int = 40, done: int = 10, seconds: float = 60.0) -> Tally:
    moments = iter([0.0, *[seconds] * 100])
    tally = Tally(total, done, lambda: next(moments))
    for one in rollouts:
        tally.add(one)
    return tally


def test_rates_tokens_and_time_left() -> None:
    """Ten episodes that all pay 7 (5 of them had to), 26 tokens each, in a minute; 20 more are to come."""
    line = tally_of(play(ten_episodes())).line()
    assert line == "20/40 · since it was resumed: SR 50.0% of 10 · 200 in + 60 out · 2 min left"


def test_what_is_counted_since_the_beginning_is_not_labelled() -> None:
    line = tally_of(play(ten_episodes()), done=0).line()
    assert line == "10/40 · SR 50.0% of 10 · 200 in + 60 out · 3 min left"


def test_false_continues_are_counted_on_infeasible_tasks() -> None:
    config = ten_episodes(envs=(CLEAN, INFEASIBLE), trials=1)
    assert "SR 50.0% of 2 · FCR 100.0% of 2" in tally_of(play(config, Payer())).line()


def test_trouble_is_told() -> None:
    good = play(ten_episodes())[:3]
    lost = [
        replace(
            one,
            episode=replace(
                one.episode,
                valid=False,
                input_tokens=None,
                trouble=Trouble("server/timeout", failed_requests=(("server/timeout", 2),), recalled=1),
            ),
            trace=replace(one.trace, lost_usage=Usage()),
        )
        for one in good
    ]
    line = tally_of([*good, *lost]).line()
    assert "3 invalid (server/timeout 3)" in line
    assert "6 failed requests (server/timeout 6)" in line
    assert "(3 unknown)" in line
    assert "3 replies recalled" in line


def test_before_the_first_episode_nothing_is_claimed() -> None:
    assert tally_of([], seconds=29.0).line() == "10/40"


def test_while_nothing_ends_it_says_for_how_long_and_what_fails() -> None:
    """By hand: 10 of 12 had ended before, so that 2 of 8 at a time are in flight, for 75 seconds."""
    moments, failures = iter([0.0, 75.0]), Failures()
    tally = Tally(12, 10, lambda: next(moments), at_once=8, failures=failures)
    failures.add("server/refused", "HTTP 503")
    failures.add("server/timeout", "Request timed out")
    assert tally.line() == (
        "10/12 · since it was resumed: 2 failed requests (server/refused 1, server/timeout 1)"
        " · 2 in flight, none ended for 75 s, latest failure: Request timed out"
    )


def test_an_episode_that_ends_ends_the_silence() -> None:
    now = 0.0
    tally = Tally(40, 0, lambda: now)
    now = 100.0
    assert "1 in flight, none ended for 2 min" in tally.line()
    tally.add(play(ten_episodes())[0])
    assert "in flight" not in tally.line()


def test_failures_elsewhere_are_counted_apart() -> None:
    """Workers in other processes have copies of how a run is conducted."""
    failures = Failures()
    failures.add("server/timeout", "late")
    copy = pickle.loads(pickle.dumps(failures))
    assert (dict(copy.counts()), copy.latest) == ({}, "")


@pytest.mark.parametrize(
    ("seconds", "told"), [(0.4, "0 s"), (89, "89 s"), (90, "2 min"), (5399, "90 min"), (9000, "2.5 h")]
)
def test_durations(seconds: float, told: str) -> None:
    assert duration(seconds) == told


@pytest.mark.parametrize(
    ("amount", "short", "long"),
    [
        (0.0, "0.00", "0.0000"),
        (0.0093, "0.0093", "0.0093"),
        (0.5, "0.50", "0.5000"),
        (0.00001234, "0.000012", "0.000012"),
        (1234.5678, "1,234.57", "1,234.5678"),
        (1e-300, "0.000000000000", "0.000000000000"),
    ],
)
def test_money_that_is_spent_is_seen(amount: float, short: str, long: str) -> None:
    """As on the progress line, and as in the table of costs."""
    assert (amount_text(amount, 2), amount_text(amount, 4)) == (short, long)


def test_prices_are_per_million_and_cached_input_has_its_own() -> None:
    usage = Usage(1_000_000, 100_000, cached_input_tokens=400_000)
    assert PRICES["big"].of(usage) == pytest.approx(0.6 * 2.0 + 0.4 * 0.5 + 0.1 * 10.0)
    assert PRICES["big"].of(Usage(None, 5)) is None


def test_what_came_out_of_the_response_cache_costs_nothing() -> None:
    usage = Usage(1_000_000, 100_000, recalled_input_tokens=1_000_000, recalled_output_tokens=100_000)
    assert PRICES["big"].of(usage) == 0
    both = usage + Usage(500_000, 0)
    assert PRICES["big"].of(both) == pytest.approx(1.0)


def test_each_role_has_the_price_of_its_model() -> None:
    (one,) = play(ten_episodes(tasks=("pay-7",), trials=1))
    single = Tariff(PRICES, {"model": "big"})
    assert single.of(one.trace) == pytest.approx((20 * 2.0 + 6 * 10.0) / 1e6)
    pair = Tariff(PRICES, {"planner.model": "big", "executor.model": "small", "executor.max_tokens": 5})
    assert pair.by_role(one.trace) == {"agent": None}, "whose tokens these are, nobody knows"
    alike = Tariff(PRICES, {"planner.model": "small", "executor.model": "small"})
    assert alike.by_role(one.trace) == {"agent": pytest.approx(26 / 1e6)}


def test_what_a_model_without_a_price_costs_is_unknown() -> None:
    """Of several agents one may have a price, and the others none."""
    (one,) = play(ten_episodes(tasks=("pay-7",), trials=1))
    assert Tariff(PRICES, {"model": "big", "judge.model": "?"}).of(one.trace) is not None
    assert Tariff(PRICES, {"model": "medium"}).of(one.trace) is None
    assert Tariff(PRICES, {}).of(one.trace) is None


def test_money_counts_what_it_does_not_know() -> None:
    assert Money().plus(1.5).plus(None).plus(2.0) == Money(3.5, 1)


def test_prices_as_they_are_given() -> None:
    assert parse_prices(["a=1,2", "org/b=c=0.5,1,0.1"]) == {
        "a": Price(1.0, 2.0, 1.0),
        "org/b=c": Price(0.5, 1.0, 0.1),
    }
    for wrong in ("a", "a=1", "=1,2", "a=1,x", "a=1,-2", "a=1,nan", "a=1,2,3,4"):
        with pytest.raises(UsageError, match="give MODEL=IN,OUT"):
            parse_prices([wrong])
