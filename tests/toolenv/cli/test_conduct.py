"""The options that say how a run is conducted, and what it shows while it runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.fake_server import MODEL, FakeServer, completion, error
from tests.toolenv.cli.command import Command
from tests.toolenv.runner.toy_runs import Payer, play, ten_episodes, toy_ids
from toolenv.cli import progress as module
from toolenv.cli.progress import in_lines
from toolenv.runner.progress import Tally

ENV = "ToolFeas/Workflows-infeasible-v0"
PROBE = "Reply with the single word: ready"


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(completion("STOP: no tool for it")) as running:
        yield running


def run_of(server: FakeServer, out: str, *more: object) -> tuple[object, ...]:
    chat = ("--agent", f"chat:{MODEL}", "--base-url", server.base_url, "--limit", 5)
    return ("run", ENV, *chat, "--out", out, *more)


def test_a_run_made_again_costs_nothing_and_says_so(toolenv: Command, server: FakeServer) -> None:
    """By hand: 5 episodes of one request, 11 + 7 tokens each, at 1 and 2 per million: 5 × 25 = 125."""
    price = ("--cache", "replies", "--price", f"{MODEL}=1000,2000")
    first = toolenv(*run_of(server, "first", *price))
    assert first.code == 0
    assert "0.1250" in first.out
    asked = len(server.requests)
    assert asked == 5 + 1, "and the preflight"
    second = toolenv(*run_of(server, "second", *price))
    assert "0.0000" in second.out
    assert "5 replies out of the response cache" in second.out
    assert len(server.requests) == asked
    shown = json.loads(toolenv("report", "first", "--json", "--price", f"{MODEL}=1000,2000").out)
    (cost,) = shown["costs"]
    assert (cost["cost"], cost["unknown"]) == (pytest.approx(0.125), 0)


def test_costs_by_role(toolenv: Command) -> None:
    """By hand: the planner stops in its first round: 18 tokens, all of them its own."""
    pair = f"planner(chat:{MODEL})->executor(chat:other)"
    price = ("--price", f"{MODEL}=1000,1000", "--price", "other=5,5")
    with FakeServer(completion("STOP: no tool for it"), (MODEL, "other")) as server:
        chat = ("--agent", pair, "--base-url", server.base_url, "--limit", 1, "--out", "x")
        ended = toolenv("run", ENV, *chat, *price)
    assert (ended.code, ended.err) == (0, "")
    (cost,) = json.loads(toolenv("report", "x", "--json", *price).out)["costs"]
    assert cost["roles"]["planner"]["cost"] == pytest.approx(0.018)
    assert cost["cost"] == pytest.approx(0.018)


def test_of_several_agents_those_without_a_price_cost_nobody_knows_what(toolenv: Command) -> None:
    """By hand: an episode of 18 tokens for each, one of the two at 1000 per million: 0.018."""
    price = ("--price", f"{MODEL}=1000,1000")
    with FakeServer(completion("STOP: no tool for it"), (MODEL, "other")) as server:
        agents = ("--agent", f"chat:{MODEL}", "--agent", "chat:other", "--base-url", server.base_url)
        ended = toolenv("run", ENV, *agents, "--limit", 1, "--out", "x", *price)
    assert (ended.code, ended.err) == (0, "")
    costs = json.loads(toolenv("report", "x", "--json", *price).out)["costs"]
    assert [(one["agent"], one["cost"], one["unknown"]) for one in costs] == [
        (f"chat:{MODEL}", pytest.approx(0.018), 0),
        ("chat:other", 0, 1),
    ]


def test_without_prices_no_cost_is_shown(toolenv: Command, server: FakeServer) -> None:
    assert "What the episodes cost" not in toolenv(*run_of(server, "x")).out
    assert "costs" not in json.loads(toolenv("report", "x", "--json").out)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--deadline", 0), "deadline=0.0: give seconds above 0"),
        (("--per-minute", 0), "per_minute=0.0: give a number above 0"),
        (("--backoff", -1), "--backoff -1: give seconds from 0 to 60"),
        (("--price", "x"), "--price 'x': give MODEL=IN,OUT in money per million tokens"),
        (
            ("--price", "other=1,2"),
            "unknown model 'other' in --price, among the models of the agents; known: fake-model",
        ),
        (("--price", f"{MODEL}=1,2", "--price", "Fake-modl=1,2"), "'Fake-modl' in --price, among the models"),
        (("--price", "Fake-modl=1,2"), "did you mean 'fake-model'?"),
        (("--cache", "/proc/replies"), "cache /proc/replies cannot be written"),
    ],
)
def test_bad_options_are_named_before_any_work(
    toolenv: Command, server: FakeServer, options: tuple[object, ...], told: str
) -> None:
    ended = toolenv(*run_of(server, "x", *options))
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err
    assert not Path("x").exists()
    assert server.requests == []


def test_what_went_wrong_is_in_the_summary(toolenv: Command) -> None:
    def refuse(request: object) -> object:
        probe = request.body["messages"][-1]["content"] == PROBE  # type: ignore[attr-defined]
        return completion("ready") if probe else error(401, "the key was revoked")

    with FakeServer(refuse) as server:  # type: ignore[arg-type]
        ended = toolenv(*run_of(server, "x"))
    assert ended.code == 1
    assert "server/auth" in ended.out
    assert "5 episodes invalid by server_error" in ended.out
    (row,) = json.loads(toolenv("report", "x", "--json").out)["rows"]
    assert row["troubles"]["counts"] == {
        "server/auth": {"invalid": 5, "failed": 0, "requests": 5, "roles": {}}
    }
    assert row["metrics"]["fcr_strict"]["value"] is None, "coverage is 0%"
    assert row["metrics"]["fcr_strict"]["withheld"] is True
    toolenv("report", "x", "--html", "page.html")
    page = Path("page.html").read_text()
    assert "What went wrong" in page
    assert "server/auth" in page
    assert "withheld" in page


def test_lines_come_now_and_then_and_hold_no_control_characters(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line every 30 seconds: ten episodes of 10 seconds each give three."""
    with toy_ids():
        episodes = play(ten_episodes(), Payer())
    now = 0.0
    tally = Tally(10, 0, lambda: now)
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    with in_lines("an\x1b[31m agent", tally, lambda: now) as show:
        for one in episodes:
            now += 10.0
            tally.add(one)
            show()
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert [line.split(" · ")[0] for line in lines] == [
        f"an\\x1b[31m agent: {number}/10" for number in (3, 6, 9)
    ]
    assert all(line.isprintable() for line in lines)
