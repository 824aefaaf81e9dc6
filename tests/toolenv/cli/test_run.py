"""``toolenv run`` on BFCL's real data: what is run, kept and printed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.toolenv.cli.command import CLEAN, INFEASIBLE, MIXED, Command
from toolenv.runner.reading import EPISODES_FILE, RUN_FILE, read_episodes, read_header


def envs_of(folder: Path) -> Counter[str]:
    return Counter(episode.env for episode in read_episodes(folder))


def test_a_run_is_kept_and_its_table_printed(toolenv: Command, place: Path) -> None:
    ended = toolenv("run", CLEAN, INFEASIBLE, "--agent", "oracle", "--limit", 3, "--out", "kept")
    assert (ended.code, ended.err) == (0, "")
    assert "ToolFeas/BFCL (pooled)" in ended.out
    assert ended.out.rstrip().endswith("Runs: kept")
    assert "toolenv report DIR" in ended.out.splitlines()[-2]
    assert envs_of(place / "kept") == {CLEAN: 3, INFEASIBLE: 3}
    assert all(one.reward == 1.0 for one in read_episodes(place / "kept"))
    header = read_header(place / "kept")
    assert (header["agent"], header["config"]["limit"]) == ("oracle", 3)


def test_without_out_the_folder_is_named_after_the_run(toolenv: Command, place: Path) -> None:
    command = ("run", CLEAN, "--agent", "random:7", "--limit", 1)
    assert toolenv(*command).code == 0
    (folder,) = (place / "runs").iterdir()
    assert folder.name == f"random-7-{read_header(folder)['config_hash']}"
    again = toolenv(*command)
    assert (again.code, again.out) == (2, "")
    assert "add --resume" in again.err
    assert toolenv(*command, "--resume").code == 0
    assert len(list(read_episodes(folder))) == 1


def test_several_agents_get_a_folder_each(toolenv: Command, place: Path) -> None:
    agents = ("--agent", "always-stop", "--agent", "noop", "--agent", "noop")
    ended = toolenv("run", INFEASIBLE, *agents, "--limit", 2, "--out", "all")
    assert ended.code == 0
    assert sorted(path.name for path in (place / "all").iterdir()) == ["always-stop", "noop"]
    decisions = {
        name: [one.decision for one in read_episodes(place / "all" / name)]
        for name in ("always-stop", "noop")
    }
    assert decisions == {"always-stop": ["infeasible"] * 2, "noop": ["feasible"] * 2}


def test_concurrency_changes_nothing_but_the_order(toolenv: Command, place: Path) -> None:
    command = ("run", CLEAN, INFEASIBLE, "--agent", "random", "--limit", 25, "--trials", 2)
    assert toolenv(*command, "--out", "one").code == 0
    assert toolenv(*command, "--out", "eight", "--concurrency", 8).code == 0
    one, eight = ((place / name / EPISODES_FILE).read_bytes().splitlines() for name in ("one", "eight"))
    assert len(one) == 100
    assert sorted(one) == sorted(eight)


def test_mixed_with_a_limit_and_a_prior(toolenv: Command, place: Path) -> None:
    labels = {}
    for prior in (0, 1):
        out = f"mixed-{prior}"
        ended = toolenv("run", MIXED, "--agent", "noop", "--limit", 4, "--prior", prior, "--out", out)
        assert ended.code == 0
        labels[prior] = {one.label for one in read_episodes(place / out)}
    assert labels == {0: {"feasible"}, 1: {"infeasible"}}


def test_chosen_tasks_and_trials(toolenv: Command, place: Path) -> None:
    tasks = "multiple_1, multiple_0,,multiple_1"
    ended = toolenv(
        "run", f"toolenv:{CLEAN}", CLEAN, "--agent", "noop", "--tasks", tasks, "--trials", 2, "--out", "x"
    )
    assert ended.code == 0
    kept = [(one.env, one.task_id, one.trial) for one in read_episodes(place / "x")]
    assert kept == [(CLEAN, task, trial) for trial in (0, 1) for task in ("multiple_1", "multiple_0")]


def test_a_subset_and_a_cap_on_turns(toolenv: Command, place: Path) -> None:
    command = (
        "run",
        CLEAN,
        "--agent",
        "never-stop",
        "--subset",
        "simple_python",
        "--max-turns",
        1,
        "--limit",
        1,
    )
    assert toolenv(*command, "--out", "x").code == 0
    record = json.loads((place / "x" / EPISODES_FILE).read_text())
    assert record["episode"]["task_id"].startswith("simple_python")
    assert record["trace"]["max_turns"] == 1


def test_a_resumed_run_runs_only_what_is_missing(toolenv: Command, place: Path) -> None:
    command = ("run", CLEAN, "--agent", "random", "--limit", 10, "--out", "x")
    assert toolenv(*command).code == 0
    whole = (place / "x" / EPISODES_FILE).read_bytes()
    torn = b"".join(whole.splitlines(keepends=True)[:4]) + b'{"episode": {"en'
    (place / "x" / EPISODES_FILE).write_bytes(torn)
    ended = toolenv(*command, "--resume")
    assert ended.code == 0
    assert ended.err == "toolenv: x/episodes.jsonl: dropped an unfinished last line of 16 bytes\n"
    assert (place / "x" / EPISODES_FILE).read_bytes() == whole
    assert toolenv(*command, "--resume").err == ""
    assert (place / "x" / EPISODES_FILE).read_bytes() == whole


OWN = """
from toolenv import Message, NO_TOKENS

def talker(observation):
    return Message("I only talk.", usage=NO_TOKENS)

class Talker:
    name = "my-talker"

    def act(self, observation, memory):
        return talker(observation), memory
"""


def test_field_105_one_s_own_policy_that_only_writes_text(toolenv: Command, place: Path) -> None:
    (place / "field_105_agents.py").write_text(OWN)
    for attribute, name in (("talker", "talker"), ("Talker", "my-talker")):
        out = place / attribute
        ended = toolenv("run", CLEAN, "--agent", f"field_105_agents:{attribute}", "--limit", 5, "--out", out)
        assert ended.code == 0
        episodes = list(read_episodes(out))
        assert [(one.success, one.calls, one.agent) for one in episodes] == [(False, 0, name)] * 5
    report = json.loads(toolenv("report", "talker", "--json").out)
    assert report["rows"][0]["metrics"]["sr"]["value"] == 0.0


def test_a_module_beside_the_user_hides_no_library(toolenv: Command, place: Path) -> None:
    (place / "random.py").write_text("raise RuntimeError('this file was imported')")
    assert toolenv("run", CLEAN, "--agent", "random", "--limit", 1, "--out", "x").code == 0


WRONG = """
from toolenv import Message, NO_TOKENS

def sometimes(observation):
    if "capital" in observation.messages[-1].content:
        return "no action"
    return Message("", usage=NO_TOKENS)
"""


def test_what_is_no_action_ends_the_run_and_what_was_kept_stays(toolenv: Command, place: Path) -> None:
    (place / "wrong_actions.py").write_text(WRONG)
    ended = toolenv("run", CLEAN, "--agent", "wrong_actions:sometimes", "--limit", 5, "--out", "x")
    assert (ended.code, ended.out) == (2, "")
    again = f"toolenv run {CLEAN} --agent wrong_actions:sometimes --limit 5 --out x --resume"
    assert ended.err == (
        "toolenv: policy 'sometimes' gave no action: "
        "str 'no action' is none of ToolCalls, Message, Stop, Malformed; 2 episodes kept in x. "
        f"Once that is mended, go on with: {again}\n"
    )
    # The third question of BFCL's `multiple` is the first to ask for a capital.
    assert [one.task_id for one in read_episodes(place / "x")] == ["multiple_0", "multiple_1"]


@pytest.mark.parametrize("option", ["--agent-option", "--base-url"])
def test_how_a_server_is_reached_is_not_kept(toolenv: Command, place: Path, option: str) -> None:
    given = "http://secret:1/v1" if option == "--base-url" else "api_key=sk-secret"
    ended = toolenv("run", CLEAN, "--agent", "noop", option, given, "--limit", 1, "--out", "x")
    assert ended.code == 0
    assert "secret" not in (place / "x" / RUN_FILE).read_text()


BUGGY = """
from toolenv import Message, NO_TOKENS

def always(observation):
    return observation.mesages

def sometimes(observation):
    if "triangle" in observation.messages[-1].content:
        return observation.mesages
    return Message("", usage=NO_TOKENS)
"""


def test_a_policy_that_raises_is_told_of_and_without_a_valid_episode_the_exit_status_is_1(
    toolenv: Command, place: Path
) -> None:
    (place / "buggy.py").write_text(BUGGY)
    told = "AttributeError: 'Observation' object has no attribute 'mesages' (buggy.py:"
    ended = toolenv("run", CLEAN, "--agent", "buggy:always", "--limit", 3, "--out", "x")
    helps = "mend it, then give another --out (--resume does not play them again)"
    told_of = "toolenv: no episode of always is valid: 3 times the policy raised an exception"
    assert (ended.code, ended.err) == (1, f"{told_of}: {helps}\n")
    flat = " ".join(ended.out.split())
    where = next(number for number, line in enumerate(BUGGY.splitlines(), 1) if ".mesages" in line)
    assert f"{CLEAN}, always: 3 episodes invalid by agent_error" in flat
    flat = flat.replace(". Did you mean: 'messages'?", "")  # Python 3.12 and later
    assert f"; multiple_0: {told}{where} in always)" in flat
    assert "its whole traceback in episodes.jsonl under `error`" in flat
    line = json.loads((place / "x" / "episodes.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert "Traceback (most recent call last)" in json.dumps(line)
    assert toolenv("report", "x", "--html", "page.html").code == 0
    assert "has no attribute &#39;mesages&#39;" in (place / "page.html").read_text(encoding="utf-8")
    some = toolenv("run", CLEAN, "--agent", "buggy:sometimes", "--limit", 5, "--out", "y")
    assert (some.code, some.err) == (0, "")
    assert told in " ".join(some.out.split()).replace(". Did you mean: 'messages'?", "")


LEAVES = """
import sys


def leaves(observation):
    sys.exit(3)


class Nameless:
    name = None

    def act(self, observation, memory):
        raise AssertionError("played")


class Short(Nameless):
    name = "short"

    def start(self):
        return None
"""


@pytest.mark.parametrize(
    "place_options", [(), ("--concurrency", 3), ("--runner", "processes", "--concurrency", 2)]
)
def test_sys_exit_of_a_policy_is_its_own_exception(
    toolenv: Command, place: Path, place_options: tuple[object, ...]
) -> None:
    """It ended the command with its own status, without a word and a folder."""
    (place / "leaves.py").write_text(LEAVES)
    ended = toolenv("run", CLEAN, "--agent", "leaves:leaves", "--limit", 3, "--out", "x", *place_options)
    assert ended.code == 1
    assert "no episode of leaves is valid: 3 times the policy raised an exception" in ended.err
    assert "SystemExit: 3 (leaves.py:6 in leaves)" in " ".join(ended.out.split())
    assert [one.decided_by for one in read_episodes(place / "x")] == ["agent_error"] * 3


@pytest.mark.parametrize(
    ("agent", "told"),
    [
        ("Nameless", "policy Nameless: its name is NoneType None, expected a str that is not empty"),
        (
            "Short",
            "the signature of Short.start is start(self), expected start(self, seed); the name 'start'",
        ),
    ],
)
def test_a_policy_that_cannot_be_run_is_refused_before_the_run(
    toolenv: Command, place: Path, agent: str, told: str
) -> None:
    (place / "leaves.py").write_text(LEAVES)
    ended = toolenv("run", CLEAN, "--agent", f"leaves:{agent}", "--limit", 3, "--out", "x")
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert told in ended.err
    assert not (place / "x").exists()


def test_a_report_pools_only_runs_with_the_same_settings(toolenv: Command) -> None:
    run = ("--agent", "noop", "--limit", 3)
    assert toolenv("run", CLEAN, *run, "--subset", "multiple", "--max-turns", 1, "--out", "a").code == 0
    assert toolenv("run", INFEASIBLE, *run, "--out", "b").code == 0
    ended = toolenv("report", "a", "b")
    assert "pooled)" not in ended.out
    told = 'its runs are not alike: they differ in max_turns (1; not set), subset ("multiple"; not set).'
    assert told in " ".join(ended.out.split())
    assert toolenv("run", CLEAN, *run, "--out", "c").code == 0
    assert "ToolFeas/BFCL (pooled)" in toolenv("report", "b", "c").out


def test_a_few_tasks_of_a_subset_without_end(toolenv: Command, place: Path) -> None:
    """As many new tasks as one likes, for a run that no training has met."""
    envs = ("ToolFeas/Workflows-clean-v0", "ToolFeas/Workflows-infeasible-v0")
    ended = toolenv("run", *envs, "--subset", "train", "--limit", 3, "--agent", "oracle", "--out", "x")
    assert ended.code == 0
    assert f"{envs[0]}: data none, manifest" in " ".join(ended.out.split())
    episodes = [json.loads(line)["episode"] for line in (place / "x/episodes.jsonl").read_text().splitlines()]
    assert [one["success"] for one in episodes if one["env"] == envs[0]] == [True] * 3
    assert [one["decision"] for one in episodes if one["env"] == envs[1]] == ["infeasible"] * 3
