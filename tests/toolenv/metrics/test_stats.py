from __future__ import annotations

import math

import pytest

from toolenv.metrics.paired import PairCounts, mean_difference, paired_difference
from toolenv.metrics.stats import grouped_mean, mean_estimate, no_data, ratio_estimate, wilson, wilson_of_mean

TABLE_8 = [
    ("tau-bench", 28, 30, 0.933, 0.787, 0.982),
    ("StableToolBench", 77, 82, 0.939, 0.865, 0.974),
    ("BFCL", 115, 121, 0.950, 0.896, 0.977),
    ("API-Bank", 48, 50, 0.960, 0.865, 0.989),
    ("single-tool masks", 176, 187, 0.941, 0.898, 0.967),
    ("multi-tool masks", 92, 96, 0.958, 0.898, 0.984),
    ("Total", 268, 283, 0.947, 0.914, 0.968),
]


@pytest.mark.parametrize(
    ("name", "count", "n", "value", "low", "high"), TABLE_8, ids=[row[0] for row in TABLE_8]
)
def test_wilson_is_table_8_of_the_paper(
    name: str, count: int, n: int, value: float, low: float, high: float
) -> None:
    estimate = wilson(count, n)
    rounded = [round(number, 3) for number in (estimate.value, estimate.low, estimate.high)]
    assert rounded == [value, low, high]
    assert (estimate.n, estimate.count, estimate.method) == (n, count, "wilson")


def test_field_035_a_rate_of_zero_has_an_interval() -> None:
    estimate = wilson(0, 25)
    assert (estimate.value, estimate.low) == (0, 0)
    assert estimate.high == pytest.approx(0.133, abs=5e-4)
    assert (estimate.method, estimate.n) == ("wilson", 25)


@pytest.mark.parametrize("n", [1, 2, 7, 25, 1453])
def test_field_035_the_interval_always_holds_the_point(n: int) -> None:
    for count in range(0, n + 1, max(1, n // 50)):
        estimate = wilson(count, n)
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
        assert estimate.low < estimate.high
    # (n / (n + z²), 1) and its mirror image, by hand from Wilson's formula at p = 1 and p = 0
    assert wilson(n, n).low == pytest.approx(n / (n + 1.959964**2), rel=1e-6)
    assert wilson(0, n).high == pytest.approx(1.959964**2 / (n + 1.959964**2), rel=1e-6)


def test_no_data_is_nan_with_n_0_never_0() -> None:
    for estimate in (no_data(), wilson(0, 0), wilson_of_mean(0, 0), mean_estimate(grouped_mean([]))):
        assert math.isnan(estimate.value)
        assert math.isnan(estimate.low)
        assert math.isnan(estimate.high)
        assert estimate.n == 0


@pytest.mark.parametrize(("count", "n"), [(-1, 5), (6, 5), (1, 0)])
def test_impossible_counts_are_a_clear_error(count: int, n: int) -> None:
    with pytest.raises(ValueError, match=f"count={count}, n={n}"):
        wilson(count, n)


def test_an_interval_of_fractions_is_that_of_the_whole_counts_around_them() -> None:
    estimate = wilson_of_mean(2.5, 10)
    assert estimate.value == 0.25
    assert (estimate.low, estimate.high) == (wilson(2, 10).low, wilson(3, 10).high)


def test_a_sum_that_floats_miss_counts_as_the_whole_number_it_is() -> None:
    estimate = wilson_of_mean(1 - 1e-12, 3)
    assert (estimate.low, estimate.high) == (wilson(1, 3).low, wilson(1, 3).high)


def test_mean_and_its_log_scale_t_interval_by_hand() -> None:
    # mean 250, s = sqrt(50000 / 3) = 129.0994, s / sqrt(4) = 64.5497; t(3) = 3.182446
    # exp(3.182446 * 64.5497 / 250) = exp(0.821704) = 2.274373
    estimate = mean_estimate(grouped_mean(enumerate([100.0, 200.0, 300.0, 400.0])))
    assert estimate.value == 250
    assert estimate.low == pytest.approx(250 / 2.274373, rel=1e-5)
    assert estimate.high == pytest.approx(250 * 2.274373, rel=1e-5)
    assert (estimate.n, estimate.method) == (4, "log-t")


def test_two_observations_have_a_wide_interval_one_has_none() -> None:
    two = mean_estimate(grouped_mean(enumerate([100.0, 300.0])))  # s / sqrt(2) = 100; t(1) = 12.7062
    assert two.high == pytest.approx(200 * math.exp(12.7062 * 0.5), rel=1e-4)
    assert 0 < two.low < 1
    one = mean_estimate(grouped_mean([("task", 100.0)]))
    assert (one.value, one.n) == (100, 1)
    assert math.isnan(one.low)
    assert math.isnan(one.high)


def test_trials_of_one_task_do_not_narrow_a_mean() -> None:
    once = mean_estimate(grouped_mean([("a", 100.0), ("b", 300.0)]))
    often = mean_estimate(grouped_mean([("a", 100.0), ("b", 300.0)] * 50))
    assert often.value == once.value
    assert often.n == 100
    assert (often.low, often.high) == (pytest.approx(once.low), pytest.approx(once.high))
    only = mean_estimate(grouped_mean([("a", 100.0), ("a", 300.0)]))
    assert only.value == 200
    assert math.isnan(only.low)


@pytest.mark.parametrize(
    "values",
    [[0.0] * 10, [5.0] * 4, [4 / 3] * 3, [0.1] * 7, [-0.1] * 3],
    ids=["zeros", "fives", "rounded thirds", "rounded tenths", "differences"],
)
def test_equal_observations_tell_no_spread(values: list[float]) -> None:
    """FIELD-035 for means: 0 calls in ten episodes do not say that the mean is 0.00 to 0.00."""
    for estimate in (mean_estimate(grouped_mean(enumerate(values))), mean_difference(enumerate(values))):
        assert (estimate.value, estimate.n) == (pytest.approx(values[0]), len(values))
        assert math.isnan(estimate.low)
        assert math.isnan(estimate.high)


def test_a_small_spread_is_one() -> None:
    estimate = mean_estimate(grouped_mean(enumerate([1_000_000.0, 1_000_001.0])))
    assert estimate.low < estimate.value < estimate.high


def test_tasks_with_equal_means_tell_no_spread_whatever_their_trials_do() -> None:
    estimate = mean_estimate(grouped_mean([("a", 1.0), ("a", 3.0), ("b", 3.0), ("b", 1.0)]))
    assert (estimate.value, estimate.n, estimate.tasks) == (2, 4, 2)
    assert math.isnan(estimate.low)


def test_numbers_are_plain_ones() -> None:
    """NumPy's and SciPy's own print as ``np.float64(…)`` and behave otherwise."""
    mean = grouped_mean(enumerate([1.0, 2.0, 4.0]))
    pairs = paired_difference(PairCounts(1, 1, 7, 12))
    rest = mean_estimate(mean), ratio_estimate(mean, mean), mean_difference(enumerate([1.0, 2.0, 4.0]))
    every = wilson(3, 9), wilson_of_mean(2.5, 9), no_data(), pairs, *rest
    assert {type(number) for one in every for number in (one.value, one.low, one.high)} == {float}


def test_a_wildly_skewed_sample_overflows_nothing() -> None:
    estimate = mean_estimate(grouped_mean(enumerate([1e-9, 1e9])))
    assert estimate.low < estimate.value < estimate.high


def test_ratio_by_hand() -> None:
    top = grouped_mean(enumerate([400.0, 600.0]))  # mean 500, error 100, relative error 0.2
    bottom = grouped_mean(enumerate([100.0, 100.0]))  # mean 100, error 0
    estimate = ratio_estimate(top, bottom)  # one degree of freedom: exp(12.7062 * 0.2) = 12.6946
    assert estimate.value == 5
    assert estimate.low == pytest.approx(5 / 12.6946, rel=1e-4)
    assert estimate.high == pytest.approx(5 * 12.6946, rel=1e-4)
    assert estimate.n == 4


def test_ratio_with_equal_relative_errors_has_the_degrees_of_both() -> None:
    # relative errors 0.5 each, Welch: (0.25 + 0.25)² / (0.25² / 1 + 0.25² / 1) = 2; t(2) = 4.302653
    arm = grouped_mean(enumerate([100.0, 300.0]))
    assert ratio_estimate(arm, arm).high == pytest.approx(math.exp(4.302653 * math.sqrt(0.5)), rel=1e-5)


def test_a_ratio_without_a_denominator_is_no_data() -> None:
    some, none, zero = grouped_mean([("a", 5.0)]), grouped_mean([]), grouped_mean([("a", 0.0)])
    for top, bottom in ((some, none), (none, some), (some, zero), (zero, zero)):
        assert ratio_estimate(top, bottom).n == 0
        assert math.isnan(ratio_estimate(top, bottom).value)
    assert ratio_estimate(some, some).value == 1
    assert math.isnan(ratio_estimate(some, some).low)
    constant = grouped_mean(enumerate([2.0, 2.0]))
    assert ratio_estimate(constant, constant).value == 1
    assert math.isnan(ratio_estimate(constant, constant).high)
