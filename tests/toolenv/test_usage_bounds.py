"""Counts that no generation has are refused where they are given, not where they are read."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.toy import toy_source
from toolenv import Message, ToolEnv, Usage, rollout
from toolenv.errors import UsageError
from toolenv.policy import preflight
from toolenv.usage import normalise_usage


@pytest.mark.parametrize("count", [2**53, 2**63, 10**20, 10**400, 9007199254740994.0])
def test_a_server_that_reports_more_tokens_than_there_are_has_reported_none(count: float) -> None:
    assert normalise_usage({"prompt_tokens": count, "completion_tokens": 3}) == Usage()
    assert normalise_usage({"prompt_tokens": 3, "completion_tokens": count}) == Usage(3, None)


@pytest.mark.parametrize(
    "wrong",
    [
        {"input_tokens": 2**60},
        {"input_tokens": 10**5000},
        {"estimated": "yes"},
        {"estimated": None},
        {"recalled_input_tokens": "x"},
        {"recalled_output_tokens": -1},
    ],
)
def test_a_policy_that_gives_no_usage_is_told(wrong: dict[str, Any]) -> None:
    usage = Usage(**{"input_tokens": 5, "output_tokens": 1, **wrong})
    with pytest.raises(UsageError, match=rf"policy 'careless' gave no action: Usage.{next(iter(wrong))} is "):
        rollout(ToolEnv(toy_source()), Careless(usage), seed=1)
    with pytest.raises(UsageError, match=rf"preflight of 'careless': Usage.{next(iter(wrong))} is "):
        preflight(Careless(usage))


class Careless:
    name = "careless"

    def __init__(self, usage: Usage) -> None:
        self.usage = usage

    def act(self, observation: Any, memory: Any) -> tuple[Message, Any]:
        return Message("done", usage=self.usage), memory

    def preflight(self) -> Usage:
        return self.usage
