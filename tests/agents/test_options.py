"""Options of agents made in Python: what no agent of a spec reads is refused, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from toolenv.agents.registry import make_agent
from toolenv.errors import UnknownNameError


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        ("random", {"seed": 3}),
        ("retry(2,random)", {"seed": 3}),
        ("planner(random)->executor(noop)", {"seed": 1}),
        ("planner(noop)->executor(random)", {"executor.seed": 1}),
        ("chat:m", {"temperature": 0.5, "base_url": "http://x/v1"}),
        ("noop", {"base_url": "http://x/v1", "api_key": "k", "timeout": 3, "attempts": 1}),
        ("planner(noop)->executor(noop)", {"planner.base_url": "http://x/v1"}),
    ],
)
def test_what_an_agent_reads_is_taken(spec: str, options: Mapping[str, Any]) -> None:
    make_agent(spec, options)


@pytest.mark.parametrize(
    ("spec", "options", "told"),
    [
        ("noop", {"temperature": 0}, "'temperature' in agent noop; there are none"),
        ("oracle", {"seed": 0}, "'seed' in agent oracle; there are none"),
        ("random", {"seeds": 0}, "'seeds' in agent random; did you mean 'seed'"),
        ("random:7", {"seed": 0}, "'seed' in agent random:7; there are none"),
        ("retry(2,random)", {"sead": 0}, r"'sead' in agent retry\(2,random\); did you mean 'seed'"),
        ("planner(random)->executor(noop)", {"executor.seed": 1}, "'executor.seed' .*'planner.seed'"),
        ("recovery:naive", {"skills": "all"}, "'skills' in agent recovery:naive; there are none"),
        (f"{__name__}:policy", {"seed": 0}, "'seed' in agent "),
    ],
)
def test_what_no_agent_reads_is_refused(spec: str, options: Mapping[str, Any], told: str) -> None:
    with pytest.raises(UnknownNameError, match=f"unknown agent option {told}"):
        make_agent(spec, options)


def policy(observation: object) -> object:
    return None
