from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import pytest

from toolenv.types import Usage
from toolenv.usage import as_retried, normalise_usage


def test_field_033_providers_normalise_to_one_form() -> None:
    a = normalise_usage(
        {"prompt_tokens": 1000, "prompt_tokens_details": {"cached_tokens": 800}, "completion_tokens": 50}
    )
    b = normalise_usage(
        {"input_tokens": 200, "cache_read_input_tokens": 800, "output_tokens": 50, "reasoning_tokens": 30}
    )
    for usage in (a, b):
        assert (usage.input_tokens, usage.cached_input_tokens, usage.output_tokens) == (1000, 800, 50)
        assert usage.total_tokens == 1050
    assert (a.reasoning_tokens, b.reasoning_tokens) == (0, 30)


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        pytest.param(
            {
                "input_tokens": 1000,
                "input_tokens_details": {"cached_tokens": 800},
                "output_tokens": 50,
                "output_tokens_details": {"reasoning_tokens": 30},
                "total_tokens": 1050,
            },
            Usage(1000, 50, 800, 30),
            id="cached inside input_tokens",
        ),
        pytest.param(
            {
                "input_tokens": 100,
                "cache_creation_input_tokens": 500,
                "cache_read_input_tokens": 400,
                "output_tokens": 7,
            },
            Usage(1000, 7, 400),
            id="cache written and read",
        ),
        pytest.param(
            {
                "prompt_tokens": 1000,
                "prompt_cache_hit_tokens": 800,
                "prompt_cache_miss_tokens": 200,
                "completion_tokens": 50,
            },
            Usage(1000, 50, 800),
            id="cache hits beside prompt_tokens",
        ),
        pytest.param(
            {"prompt_tokens": 1000, "cache_read_input_tokens": 800, "completion_tokens": 50},
            Usage(1000, 50, 800),
            id="prompt_tokens always holds the cached ones",
        ),
        pytest.param(
            {
                "prompt_tokens": 10,
                "completion_tokens": 20,
                "completion_tokens_details": {"reasoning_tokens": 30},
                "total_tokens": 60,
            },
            Usage(10, 50, 0, 30),
            id="reasoning on top, by the server's own total",
        ),
        pytest.param(
            {"prompt_tokens": 10, "completion_tokens": 20, "reasoning_tokens": 30},
            Usage(10, 50, 0, 30),
            id="reasoning on top, since it exceeds the output",
        ),
        pytest.param(
            {
                "prompt_tokens": 10,
                "completion_tokens": 40,
                "completion_tokens_details": {"reasoning_tokens": 30},
                "total_tokens": 50,
            },
            Usage(10, 40, 0, 30),
            id="reasoning inside",
        ),
    ],
)
def test_conventions(report: dict[str, Any], expected: Usage) -> None:
    assert normalise_usage(report) == expected


@pytest.mark.parametrize(
    "report",
    [
        None,
        {},
        {"prompt_tokens": None, "completion_tokens": None},
        {"prompt_tokens": "90", "completion_tokens": "10"},
        {"prompt_tokens": -1, "completion_tokens": 10},
        {"prompt_tokens": True, "completion_tokens": 1},
        {"prompt_tokens": float("nan"), "completion_tokens": 10},
        {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        {"completion_tokens": 10},
        [90, 10],
    ],
)
def test_field_012_missing_usage_is_unknown_never_0(report: Any) -> None:
    usage = normalise_usage(report)
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (None, None, None)
    assert not usage.known
    assert usage.generations == 1


def test_a_missing_output_count_leaves_the_input_known() -> None:
    usage = normalise_usage({"prompt_tokens": 90, "prompt_tokens_details": None})
    assert (usage.input_tokens, usage.output_tokens, usage.known) == (90, None, False)


def test_field_012_one_unknown_response_makes_the_sum_unknown() -> None:
    known = {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}
    total = normalise_usage(None) + normalise_usage(known)
    assert total.total_tokens is None
    assert total.generations == 2


def test_field_011_every_attempt_counts() -> None:
    rounds = [
        normalise_usage({"prompt_tokens": 100, "completion_tokens": 20}),
        as_retried(normalise_usage({"prompt_tokens": 150, "completion_tokens": 10})),
        normalise_usage({"prompt_tokens": 150, "completion_tokens": 30}),
        normalise_usage({"prompt_tokens": 220, "completion_tokens": 40}),
    ]
    total = reduce(add, rounds)
    assert (total.total_tokens, total.input_tokens, total.output_tokens) == (720, 620, 100)
    assert total.generations == 4
    assert total.retried_input_tokens + total.retried_output_tokens == 160
