"""``toolenv run --json``: one object, that of ``toolenv report --json``, and nothing else on stdout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.fake_server import FakeServer, completion
from tests.toolenv.cli.command import Command, spawned

CLEAN, INFEASIBLE, HAZARD = (f"ToolFeas/Workflows-{name}-v0" for name in ("clean", "infeasible", "hazard"))

TALKATIVE = """
import os
from toolenv import Message, NO_TOKENS

def talkative(observation):
    print("printed by the policy")
    os.write(1, b"and by its library")
    return Message("", usage=NO_TOKENS)
"""


def test_it_is_what_the_report_of_these_folders_says(toolenv: Command) -> None:
    agents = ("--agent", "oracle", "--agent", "noop")
    ended = toolenv("run", CLEAN, INFEASIBLE, *agents, "--limit", 3, "--out", "all", "--json")
    assert (ended.code, ended.err) == (0, "")
    told = json.loads(ended.out)
    assert told == json.loads(toolenv("report", "all/oracle", "all/noop", "--json").out)
    rows = {(row["env"], row["agent"]): row for row in told["rows"]}
    assert len(rows) == 6, "two environments and both together, of each agent"
    # The oracle does all three tasks, the idle agent none. Wilson's interval of 3 in 3 is 0.4385 to 1.
    sr = rows[CLEAN, "oracle"]["metrics"]["sr"]
    assert (sr["value"], sr["n"], sr["count"]) == (1.0, 3, 3)
    assert (round(sr["low"], 4), sr["high"]) == (0.4385, 1.0)
    assert rows[CLEAN, "noop"]["metrics"]["sr"]["value"] == 0.0
    assert (rows[CLEAN, "noop"]["planned"], rows[CLEAN, "noop"]["valid"]) == (3, 3)
    for (_, agent), row in rows.items():
        assert row["folders"] == [f"all/{agent}"]
    assert [(one["agent"], one["folder"]) for one in told["runs"]] == [
        ("oracle", "all/oracle"),
        ("noop", "all/noop"),
    ]


@pytest.mark.parametrize("runner", ["local", "processes"])
def test_what_policies_print_is_not_on_stdout(tmp_path: Path, runner: str) -> None:
    (tmp_path / "own.py").write_text(TALKATIVE)
    command = ("run", CLEAN, "--agent", "own:talkative", "--limit", 2, "--runner", runner, "--out", "x")
    ended = spawned(*command, "--json", cwd=tmp_path)
    assert ended.code == 0
    assert [row["agent"] for row in json.loads(ended.out)["rows"]] == ["talkative"]
    assert ended.err.count("printed by the policy") == ended.err.count("and by its library") == 2


def test_what_is_told_of_the_preflight_is_not_either(toolenv: Command) -> None:
    with FakeServer(completion("I can't.")) as server:
        chat = ("--agent", "chat:fake-model", "--base-url", server.base_url)
        ended = toolenv("run", CLEAN, *chat, "--limit", 1, "--out", "x", "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["rows"][0]["agent"] == "chat:fake-model"
    assert ended.err.startswith("chat:fake-model: preflight")


def test_arms_are_in_it_with_their_folders(toolenv: Command) -> None:
    arms = ("--arm", "baseline", "--arm", "hint", "--arm", "oracle")
    command = ("run", HAZARD, "--agent", "noop", *arms, "--limit", 2, "--out", "study")
    told = json.loads(toolenv(*command, "--json").out)
    assert {row["arm"] for row in told["arms"]} >= {"hint", "oracle"}
    assert [one["folder"] for one in told["runs"]] == ["study/baseline", "study/oracle", "study/hint"]
    assert [row["folders"] for row in told["rows"]] == [["study/baseline"]]


def test_without_a_valid_episode_the_object_is_there_and_the_exit_status_is_1(
    toolenv: Command, place: Path
) -> None:
    (place / "raising_in_json.py").write_text("def always(observation):\n    raise ValueError('no')\n")
    command = ("run", CLEAN, "--agent", "raising_in_json:always", "--limit", 2, "--out", "x", "--json")
    ended = toolenv(*command)
    assert ended.code == 1
    (row,) = json.loads(ended.out)["rows"]
    assert (row["valid"], row["invalid_by"]) == (0, {"agent_error": 2})
    assert row["metrics"]["sr"]["value"] is None
    assert ended.err.startswith("toolenv: no episode of always is valid: 2 times the policy raised")


LATE = """
import atexit
from toolenv import Message, NO_TOKENS

atexit.register(print, "printed at the end")

def late(observation):
    return Message("", usage=NO_TOKENS)
"""


def test_what_is_printed_when_the_process_ends_is_not_either(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(LATE)
    ended = spawned("run", CLEAN, "--agent", "own:late", "--limit", 2, "--out", "x", "--json", cwd=tmp_path)
    assert ended.code == 0
    assert [row["agent"] for row in json.loads(ended.out)["rows"]] == ["late"]
    assert "printed at the end" in ended.err
