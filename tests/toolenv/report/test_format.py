from __future__ import annotations

import math
from dataclasses import replace

import pytest

from toolenv.metrics.stats import Estimate, no_data, wilson
from toolenv.report.format import Cell, cell, counted, difference_cell, percent, sentence, tokens


def test_rates_are_percent_with_interval_and_n() -> None:
    assert cell(wilson(0, 25), "rate") == Cell("0%", "0–13.3", "n=25")  # FIELD-035
    assert cell(wilson(268, 283), "rate") == Cell("94.7%", "91.4–96.8", "n=283")  # Table 8
    assert sentence(wilson(268, 283), "rate") == "94.7% [91.4–96.8], n=283"


def test_no_data_is_a_dash() -> None:
    assert cell(no_data(), "rate") == cell(no_data(), "tokens") == Cell("–", "", "n=0")


def test_field_009_a_withheld_rate_shows_its_bounds() -> None:
    withheld = Estimate(math.nan, 0.05, 1.0, 1, "worst case", 1, withheld=True)
    assert cell(withheld, "rate") == Cell("withheld", "[5.0–100]", "n=1")
    assert sentence(withheld, "rate") == "withheld [5.0–100], n=1"
    assert (
        cell(Estimate(math.nan, math.nan, math.nan, 3, "worst case", withheld=True), "tokens").interval == ""
    )


def test_token_costs_are_in_thousands_and_ratios_are_factors() -> None:
    assert cell(Estimate(1700, 950, 10300, 1234, "log-t"), "tokens") == Cell("1.7K", "950–10.3K", "n=1,234")
    assert cell(Estimate(2.27, 1.5, 3, 9, "log-t"), "ratio") == Cell("2.27×", "1.50–3.00", "n=9")
    assert cell(Estimate(2.0, 0.1, 1e9, 2, "log-t"), "ratio").interval == "0.10–∞"
    assert cell(Estimate(700, math.nan, math.nan, 1, "log-t"), "tokens") == Cell("700", "–", "n=1")


def test_n_says_how_many_tasks_an_interval_rests_on() -> None:
    """15 episodes are 5 tasks, three times each: 0 of 5 is 0 to 43.4% (Wilson: z² / (5 + z²))."""
    found = Estimate(0, 0, 1.959964**2 / (5 + 1.959964**2), 15, "wilson over tasks", 0, tasks=5)
    assert cell(found, "rate") == Cell("0%", "0–43.4", "n=15 of 5 tasks")
    assert sentence(found, "rate") == "0% [0–43.4], n=15 of 5 tasks"
    assert difference_cell(replace(found, tasks=1), "rate").n == "n=15 of 1 task"


def test_a_value_without_spread_has_a_dash_for_an_interval() -> None:
    alone = Estimate(1.0, math.nan, math.nan, 4, "log-t")
    assert cell(alone, "calls") == Cell("1.00", "–", "n=4")
    assert difference_cell(alone, "calls") == Cell("+1.00", "–", "n=4")
    assert sentence(alone, "calls") == "1.00, n=4"


def test_estimated_counts_are_marked() -> None:
    assert cell(Estimate(1700, 950, 2000, 3, "log-t", estimated=1), "tokens").value == "~1.7K"


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0"), (1, "100"), (0.5, "50.0"), (0.0001, "<0.1"), (0.9999, ">99.9"), (1451 / 1453, "99.9")],
)
def test_only_0_and_1_print_as_0_and_100(share: float, text: str) -> None:
    assert percent(share) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (999, "999"),
        (999.6, "1.0K"),
        (1000, "1.0K"),
        (2_100_000, "2.1M"),
        (3e9, "3.0G"),
        (3e12, "∞"),
        (math.inf, "∞"),
    ],
)
def test_tokens(number: float, text: str) -> None:
    assert tokens(number) == text


def test_counted() -> None:
    assert (counted(1, "episode"), counted(1453, "task")) == ("1 episode", "1,453 tasks")


def test_in_differences_only_0_and_1_themselves_are_without_decimals() -> None:
    assert difference_cell(Estimate(0, -1, 0.00004, 9, "Newcombe"), "rate") == Cell("0", "-100 to 0.0", "n=9")
    assert difference_cell(Estimate(0.5, 0.25, 1, 9, "Newcombe"), "rate").interval == "+25.0 to +100"
