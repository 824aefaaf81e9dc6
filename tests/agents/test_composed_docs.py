"""The Python of docs/composed-policies.md runs on a run directory, and the page names what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.agents.parts import say, stop
from tests.toolenv.runner.toy_runs import CLEAN, INFEASIBLE, open_store, play, toy_ids
from toolenv.agents.planner import PlannerExecutor
from toolenv.agents.registry import combinator_names
from toolenv.agents.scripted import Scripted
from toolenv.runner.plan import RunConfig

PAGE = (Path(__file__).parents[2] / "docs/composed-policies.md").read_text(encoding="utf-8")
(BLOCK,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_page_s_code_prints_tokens_by_role(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = RunConfig(envs=(CLEAN, INFEASIBLE), agent="pair", tasks=("pay-7",))
    planner = Scripted([say("1. pay (payment)", 100, 20), say("1. call pay", 150, 10)])
    pair = PlannerExecutor(planner, Scripted([stop("payment", 220, 6)]))
    monkeypatch.chdir(tmp_path)
    with toy_ids(), open_store(tmp_path / "runs/pair", config, policy=pair) as store:
        for rollout in play(config, pair):
            store.append(rollout)
    exec(compile(BLOCK, "composed-policies.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == [
        "pay-7 {'planner': 280, 'executor': 226}",
        "pay-7 {'planner': 280, 'executor': 226}",
        "planner 280.0 1",  # of the infeasible one
        "executor 226.0 1",
    ]


def test_every_combinator_is_on_the_page() -> None:
    for name in combinator_names():
        assert f"| `{name}(" in PAGE
