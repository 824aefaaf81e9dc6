"""Every token counted: what a run's preflights cost is recorded, shown and priced, and part of no episode."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_server import MODEL, Answer, FakeServer, Request, as_json, completion, error
from tests.toolenv.cli.command import Command
from toolenv.runner.preflights import read_preflights
from toolenv.runner.reading import read_episodes
from toolenv.types import Usage

ENV = "ToolFeas/Workflows-infeasible-v0"
PRICE = ("--price", f"{MODEL}=1000,2000")
STOP = completion("STOP: no tool for it")


def run(server: FakeServer, *more: object, agent: str = f"chat:{MODEL}") -> tuple[object, ...]:
    chat = ("--agent", agent, "--base-url", server.base_url, "--limit", 2, "--backoff", 0)
    return ("run", ENV, *chat, "--out", "x", *more)


def told(toolenv: Command, *more: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(toolenv("report", "x", "--json", *more).out)["preflights"]
    return found


@pytest.mark.parametrize("runner", ["local", "processes"])
def test_a_preflight_is_kept_beside_the_episodes(toolenv: Command, place: Path, runner: str) -> None:
    """By hand: 11 + 7 tokens a request, at 1 and 2 per thousand: 25 thousandths."""
    with FakeServer(STOP) as server:
        ended = toolenv(*run(server, "--runner", runner, "--concurrency", 2))
    assert ended.code == 0
    assert "preflight, in no episode: 11 input and 7 output tokens" in ended.out
    (one,) = told(toolenv, *PRICE)
    assert (one["times"], one["input_tokens"], one["output_tokens"]) == (1, 11, 7)
    assert one["cost"] == {"cost": pytest.approx(0.025), "unknown": 0}
    assert [one.tokens for one in read_episodes(place / "x")] == [18, 18], "part of no episode"
    shown = toolenv("report", "x", *PRICE, "--html", "page.html").out
    assert "Preflight: what was asked before the first episode" in shown
    assert "0.0250" in shown
    assert "11 input and 7 output tokens in 1 preflight" in (place / "page.html").read_text()


class Flaky:
    """Answers two requests, the preflight's and one episode's, then fails until it is mended."""

    def __init__(self) -> None:
        self.left = 2

    def __call__(self, request: Request) -> Answer:
        self.left -= 1
        return STOP if self.left >= 0 else error(400, "the model is gone")


def test_each_resumption_adds_its_own_and_a_failed_one_what_it_was_told(
    toolenv: Command, place: Path
) -> None:
    flaky = Flaky()
    with FakeServer(flaky) as server:
        assert toolenv(*run(server)).code == 0
    billed = as_json({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 0}})
    with FakeServer(billed) as server:
        ended = toolenv(*run(server, "--resume", "--agent-option", "attempts=1"))
    assert "holds no message" in ended.err
    assert "preflight, in no episode: 5 input and 0 output tokens" in ended.out
    with FakeServer(STOP) as server:
        assert toolenv(*run(server, "--resume")).code == 0
    assert [ledger["agent"].total_tokens for ledger in read_preflights(place / "x")] == [18, 5, 18]
    (one,) = told(toolenv)
    assert (one["times"], one["input_tokens"], one["output_tokens"]) == (3, 27, 14)


def test_failed_attempts_within_a_preflight_count(toolenv: Command, place: Path) -> None:
    asked = 0

    def second_time(request: Request) -> Answer:
        nonlocal asked
        asked += 1
        empty = as_json({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20}})
        return empty if asked == 1 else STOP

    with FakeServer(second_time) as server:
        assert toolenv(*run(server)).code == 0
    (ledger,) = read_preflights(place / "x")
    assert ledger == {"agent": Usage(111, 27, 0, 0, 100, 20, generations=2)}


def test_each_role_has_its_own(toolenv: Command, place: Path) -> None:
    pair = f"planner(chat:{MODEL})->executor(chat:other)"
    with FakeServer(STOP, (MODEL, "other")) as server:
        assert toolenv(*run(server, agent=pair)).code == 0
    assert read_preflights(place / "x") == [{"planner": Usage(11, 7), "executor": Usage(11, 7)}]
    (one,) = told(toolenv, *PRICE, "--price", "other=0,1000")
    assert one["cost"]["cost"] == pytest.approx(0.025 + 0.007)


def test_a_role_that_fails_leaves_what_the_one_before_it_cost(toolenv: Command) -> None:
    pair = f"planner(chat:{MODEL})->executor(chat:other)"
    with FakeServer(STOP, (MODEL, "another")) as server:
        server.script = lambda request: STOP if request.body["model"] == MODEL else error(404, "no model")
        ended = toolenv(*run(server, agent=pair))
    assert ended.code != 0
    assert "preflight, in no episode: 11 input and 7 output tokens" in ended.out


def test_what_asks_nobody_leaves_no_record(toolenv: Command, place: Path) -> None:
    assert toolenv("run", ENV, "--agent", "random", "--limit", 1, "--out", "x").code == 0
    assert not (place / "x" / "preflights.jsonl").exists()
    assert "preflights" not in json.loads(toolenv("report", "x", "--json").out)
