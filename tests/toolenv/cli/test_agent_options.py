"""Agent settings: those that some agent of a command reads are taken, all others refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.toolenv.cli.command import CLEAN, Command
from toolenv.cli.agent_options import check_options
from toolenv.errors import UnknownNameError


@pytest.mark.parametrize(
    ("specs", "options"),
    [
        (["noop"], {}),
        (["noop"], {"base_url": "http://x/v1", "api_key": "k"}),
        (["random"], {"seed": 3}),
        (["noop", "chat:m"], {"temperature": 0.5}),
        (["vote(3,chat:m)"], {"temperature": 0.5}),
        (["planner(chat:a)->executor(noop)"], {"planner.temperature": 0, "max_tokens": 9}),
        (["planner(random)->executor(random)"], {"executor.seed": 1}),
    ],
)
def test_a_setting_that_an_agent_reads_is_taken(specs: list[str], options: Mapping[str, Any]) -> None:
    check_options(specs, options)


@pytest.mark.parametrize(
    ("specs", "options", "told"),
    [
        (["noop", "oracle"], {"temperature": 0}, "'temperature' in agent noop and oracle; there are none"),
        (["recovery:naive"], {"seed": 0}, "'seed' in agent recovery:naive; there are none"),
        (["random"], {"seeds": 0}, "'seeds' in agent random; did you mean 'seed'"),
        (["random:7"], {"seed": 0}, "'seed' in agent random:7"),
        (["planner(noop)->executor(random)"], {"planner.seed": 1}, "'planner.seed' in"),
        (["some_module:policy"], {"seed": 0}, "'seed' in agent some_module:policy"),
    ],
)
def test_a_setting_that_no_agent_reads_is_refused(
    specs: list[str], options: Mapping[str, Any], told: str
) -> None:
    with pytest.raises(UnknownNameError, match=f"unknown agent option {told}"):
        check_options(specs, options)


def test_each_of_several_agents_gets_what_it_reads(toolenv: Command, place: Path) -> None:
    run = ("run", CLEAN, "--tasks", "multiple_0", "--agent", "noop", "--agent", "random", "--out", "x")
    assert toolenv(*run, "--agent-option", "seed=3").code == 0
    settings = {
        name: json.loads((place / "x" / name / "run.json").read_text())["config"]["agent_options"]
        for name in ("noop", "random")
    }
    assert settings == {"noop": {}, "random": {"seed": 3}}
