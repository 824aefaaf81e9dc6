"""What the arms of a study cost: each token once, in the run that spent it (paper 2, §4: Hint and TTS go on).

All by hand. A request reads 11 tokens and writes 7; at 1,000 and 2,000 per million it costs 25 thousandths.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from tests.support.fake_server import MODEL, FakeServer, Request, call, completion
from tests.toolenv.cli.command import Command
from toolenv.runner.preflights import read_preflights
from toolenv.runner.progress import Tally
from toolenv.runner.reading import read_rollouts

ENV = "ToolFeas/Workflows-execution-failure-v0"
TASKS, EACH = 3, 0.025
ALL = ("--arm", "baseline", "--arm", "tts", "--arm", "hint", "--arm", "oracle")
REQUESTS = {"baseline": 2 * TASKS, "oracle": 2 * TASKS, "tts": TASKS, "hint": TASKS}
"""Every episode calls a tool and gives up; one that goes on gives up again at once."""


def once_then_give_up(request: Request) -> Any:
    """Calls a tool that is not there, then answers; told to go on, it answers again."""
    if any(one["role"] == "tool" for one in request.body["messages"]) or "tools" not in request.body:
        return completion("I do not know.")
    return completion(None, tool_calls=[call("nothing_of_this_name")])


def study(toolenv: Command, server: FakeServer, *more: object) -> Any:
    chat = ("--agent", f"chat:{MODEL}", "--base-url", server.base_url, "--limit", TASKS)
    ended = toolenv("run", ENV, *chat, *ALL, "--price", f"{MODEL}=1000,2000", "--out", "x", *more)
    assert (ended.code, ended.err) == (0, "")
    return ended


def arm_of(agent: str) -> str:
    return agent.rpartition("[")[2].rstrip("]") if "[" in agent else "baseline"


# The oracle meets nothing that the baseline did not: out of a cache, it asks nothing again.
SHARED = {**REQUESTS, "oracle": 0}


@pytest.mark.parametrize(("cache", "requests"), [((), REQUESTS), (("--cache", "kept"), SHARED)])
def test_costs_of_all_arms_are_what_the_server_was_asked(
    toolenv: Command, place: Path, cache: tuple[str, ...], requests: Mapping[str, int]
) -> None:
    with FakeServer(once_then_give_up) as server:
        printed = study(toolenv, server, *cache).out
        asked = len(server.requests)
    before = sum(len(read_preflights(place / "x" / arm)) for arm in REQUESTS)
    assert asked == sum(requests.values()) + before
    found = json.loads(toolenv("report", "x", "--price", f"{MODEL}=1000,2000", "--json").out)
    costs = {arm_of(one["agent"]): one["cost"] for one in found["costs"]}
    assert costs == {arm: pytest.approx(number * EACH) for arm, number in requests.items()}
    paid = sum(one["cost"]["cost"] for one in found["preflights"])
    assert sum(costs.values()) + paid == pytest.approx(asked * EACH)
    roles = {arm_of(one["agent"]): one["roles"]["agent"]["cost"] for one in found["costs"]}
    assert roles == costs
    shown = Counter(re.findall(r" all +(\d\.\d{4}) ", printed))
    assert shown == Counter(f"{number * EACH:.4f}" for number in requests.values())
    assert toolenv("report", "x", "--price", f"{MODEL}=1000,2000", "--html", "page.html").code == 0
    page = (place / "page.html").read_text()
    assert Counter(re.findall(r"all (\d\.\d{4}) \(0 unknown\)", page)) == shown


def test_a_run_out_of_the_cache_spends_nothing_in_any_arm(toolenv: Command, place: Path) -> None:
    with FakeServer(once_then_give_up) as server:
        study(toolenv, server, "--cache", "kept")
        asked = len(server.requests)
        (place / "x").rename(place / "first")
        study(toolenv, server, "--cache", "kept")
        assert len(server.requests) == asked
    found = json.loads(toolenv("report", "x", "--price", f"{MODEL}=1000,2000", "--json").out)
    assert [(one["cost"], one["unknown"]) for one in found["costs"]] == [(0, 0)] * 4
    for one in read_rollouts(place / "x/hint"):
        assert (one.trace.own.usage.recalled_input_tokens, one.trace.usage.recalled_input_tokens) == (11, 33)


def test_an_episode_tells_both_and_live_figures_what_was_spent(toolenv: Command, place: Path) -> None:
    with FakeServer(once_then_give_up) as server:
        study(toolenv, server)
    for arm in ("tts", "hint"):
        tally = Tally(TASKS, 0, lambda: 0.0)
        for one in read_rollouts(place / "x" / arm):
            tally.add(one)
            assert (one.episode.input_tokens, one.episode.output_tokens) == (33, 21), "the whole trajectory"
            assert (one.trace.usage_before.input_tokens, one.trace.own.usage.input_tokens) == (22, 11)
        assert (tally.input_tokens, tally.output_tokens, tally.unknown) == (11 * TASKS, 7 * TASKS, 0)
    for more in ((), ("--traces",)):
        assert toolenv("export", "x", "--out", f"x{len(more)}.parquet", *more).code == 0
        rows = pyarrow.parquet.read_table(place / f"x{len(more)}.parquet").to_pylist()
        names = ("input_tokens", "output_tokens", "input_tokens_before", "output_tokens_before")
        told = Counter((arm_of(row["agent"]), *(row[name] for name in names)) for row in rows)
        assert told == {
            ("baseline", 22, 14, 0, 0): TASKS,
            ("oracle", 22, 14, 0, 0): TASKS,
            ("tts", 33, 21, 22, 14): TASKS,
            ("hint", 33, 21, 22, 14): TASKS,
        }
        spent = sum(row["input_tokens"] - row["input_tokens_before"] for row in rows)
        assert spent == 11 * sum(REQUESTS.values())
