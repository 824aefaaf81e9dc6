"""Bad input: one clear line on stderr, exit status 2, and nothing written."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_server import FakeServer, completion, error
from tests.toolenv.cli.command import CLEAN, INFEASIBLE, MIXED, Command, Ended, environment, spawned
from toolenv.errors import UsageError
from toolenv.runner.reading import EPISODES_FILE, read_episodes

RUN = ("run", CLEAN, "--agent", "noop")


def free_port() -> int:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port: int = closed.getsockname()[1]
        return port


def assert_refused(ended: Ended, told: Sequence[str], place: Path) -> None:
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("toolenv: ")
    assert ended.err.count("\n") == 1, "one line"
    assert [part for part in told if part not in ended.err] == [], ended.err
    assert list(place.iterdir()) == [], "something was written"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("run", "ToolFeas/BFCL-claen-v0", "--agent", "noop"),
            ["'ToolFeas/BFCL-claen-v0'", f"did you mean '{CLEAN}'"],
        ),
        (("run", CLEAN, "CartPole-v1", "--agent", "noop"), ["unknown environment id 'CartPole-v1'"]),
        (
            (*RUN, "--subset", "multipel"),
            ["unknown subset 'multipel' in suite BFCL", "did you mean 'multiple'"],
        ),
        ((*RUN, "--subset", "simple_java"), ["'simple_java' of suite BFCL is not available: Java"]),
        (
            (*RUN, "--tasks", "multiple_0,multiple_O"),
            ["unknown task id 'multiple_O' in suite BFCL", "did you mean 'multiple_"],
        ),
        ((*RUN, "--agent", "orcale"), ["unknown agent 'orcale'", "did you mean 'oracle'"]),
        ((*RUN, "--agent", "always-stop:3"), ["always-stop:3"]),
        ((*RUN, "--agent", "random:x"), ["random:x: the seed is a whole number"]),
        ((*RUN, "--agent", "chat:"), ["model=''"]),
        ((*RUN, "--agent", "chat:m", "--base-url", "localhost:80"), ["base_url='localhost:80'", "http://"]),
        ((*RUN, "--agent", "chat:m", "--agent-option", "temprature=1"), ["'temprature'", "'temperature'"]),
        ((*RUN, "--agent-option", "foo=1"), ["unknown agent option 'foo' in agent noop; there are none"]),
        (
            ("run", CLEAN, "--agent", "random", "--agent-option", "sed=1"),
            ["unknown agent option 'sed' in agent random", "did you mean 'seed'"],
        ),
        (
            (
                "run",
                CLEAN,
                "--agent",
                "planner(chat:a)->executor(noop)",
                "--agent-option",
                "executor.temperature=0",
            ),
            ["unknown agent option 'executor.temperature'"],
        ),
        (("run", CLEAN, "--agent", "json:loads", "--agent-option", "a=1"), ["unknown agent option 'a'"]),
        ((*RUN, "--tasks", ","), ["--tasks ',' names no task"]),
        ((*RUN, "--tasks", ""), ["--tasks '' names no task"]),
        ((*RUN, "--agent-option", "temperature"), ["--agent-option 'temperature': give NAME=VALUE"]),
        (("run", MIXED, "--agent", "noop", "--prior", "1.5"), ["prior=1.5: give a number from 0"]),
        (("run", MIXED, "--agent", "noop", "--prior", "nan"), ["prior=nan: give a number from 0"]),
        ((*RUN, "--limit", "0"), ["limit=0: give a whole number of at least 1"]),
        ((*RUN, "--trials", "0"), ["trials=0: give a whole number of at least 1"]),
        ((*RUN, "--max-turns", "0"), ["max_turns=0: give a whole number of at least 1"]),
        ((*RUN, "--seed", "-1"), ["seed=-1: give a whole number of at least 0"]),
        ((*RUN, "--agent", "random", "--agent", "random:0"), ["'random' and 'random:0' have the same name"]),
        ((*RUN, "--out", "/proc/toolenv-run"), ["/proc/toolenv-run cannot be written"]),
        ((*RUN, "--agent", "no_such_module:policy"), ["unknown agent or module 'no_such_module'"]),
        ((*RUN, "--agent", "json:lodas"), ["unknown attribute 'lodas' in module json", "did you mean 'load"]),
        ((*RUN, "--agent", "os:sep"), ["'/' is no policy"]),
        (
            (*RUN, "--agent", "json:JSONDecodeError"),
            ["json:JSONDecodeError: cannot be built without arguments"],
        ),
        (("report", "nowhere"), ["nowhere is no run directory and holds none"]),
        (("rescore", "nowhere"), ["nowhere is no run directory and holds none"]),
        (("validate", "ToolFeas/BFCL-cleen-v0"), ["'ToolFeas/BFCL-cleen-v0'", f"'{CLEAN}'"]),
        (("validate", CLEAN, "--subset", "memory"), ["'memory' of suite BFCL is not available"]),
        (("play", "ToolFeas/BFCL-cleen-v0"), ["'ToolFeas/BFCL-cleen-v0'"]),
        (
            ("play", CLEAN, "--task", "multiple_O"),
            ["unknown task id 'multiple_O'", "did you mean 'multiple_"],
        ),
        (("data", "pull", "bfcll"), ["unknown data set 'bfcll'", "'bfcl'"]),
        (("data", "verify", "bfcll"), ["unknown data set 'bfcll'"]),
    ],
)
def test_bad_input_is_one_line(
    toolenv: Command, place: Path, arguments: Sequence[str], told: list[str]
) -> None:
    assert_refused(toolenv(*arguments), told, place)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("run", CLEAN), "Missing option '--agent'"),
        (("run", "--agent", "noop"), "Missing argument 'ENV…'"),
        ((*RUN, "--limit", "many"), "Invalid value for '--limit': 'many': "),
        ((*RUN, "--limit", "1e3"), "Invalid value for '--limit': '1e3': "),
        ((*RUN, "--seed", "1.5"), "Invalid value for '--seed': '1.5': "),
        ((*RUN, "--concurrency", "0"), "Invalid value for '--concurrency': '0': "),
        (("annotate", "answer", "x.json", "--port", "x"), "Invalid value for '--port': 'x': "),
        ((*RUN, "--masks", "nowhere.json"), "Invalid value for '--masks'"),
        ((*RUN, "--out", ""), "Invalid value for '--out': the name of a folder is empty"),
        (("quickstart", "--out", " "), "Invalid value for '--out': the name of a folder is empty"),
        ((*RUN, "--masks", "."), "Invalid value for '--masks'"),
        (("report",), "Missing argument 'DIR…'"),
        (("runn",), "No such command 'runn'"),
    ],
)
def test_what_the_parser_refuses_keeps_its_form(
    toolenv: Command, place: Path, arguments: Sequence[str], told: str
) -> None:
    ended = toolenv(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("Usage: toolenv")
    assert told in ended.err
    assert list(place.iterdir()) == []


def test_a_task_without_a_mask_says_why(toolenv: Command, place: Path) -> None:
    run = ("run", INFEASIBLE, "--agent", "noop", "--subset", "simple_python")
    one = toolenv(*run, "--tasks", "simple_python_0")
    assert_refused(one, ["'simple_python_0' is not in BFCL-infeasible: the mask empties the pool"], place)
    assert_refused(toolenv(*run), ["no task is left; 400 × the mask empties the pool"], place)


@pytest.mark.parametrize("command", [RUN, ("validate", CLEAN), ("play", CLEAN)])
def test_absent_data_names_the_command_that_fetches_it(tmp_path: Path, command: Sequence[str]) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "place").mkdir()
    env = environment(TOOLENV_DATA=str(tmp_path / "data"))
    ended = spawned(*command, cwd=tmp_path / "place", env=env)
    assert_refused(ended, ["toolenv data pull bfcl", str(tmp_path / "data")], tmp_path / "place")


def test_verifying_an_empty_cache_says_that_nothing_is_there(
    toolenv: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLENV_DATA", str(tmp_path / "data"))
    ended = toolenv("data", "verify")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == f"nothing is at {tmp_path / 'data'}; get data with: toolenv data pull SUITE\n"


def test_a_folder_below_a_file_is_refused(toolenv: Command, place: Path) -> None:
    (place / "file").write_text("mine")
    for out in ("file", "file/run"):
        ended = toolenv(*RUN, "--limit", 1, "--out", out)
        assert (ended.code, ended.out) == (2, "")
        assert f"toolenv: {out} cannot be written" in ended.err
    assert (place / "file").read_text() == "mine"


def test_a_folder_with_another_run_is_refused(toolenv: Command, place: Path) -> None:
    assert toolenv(*RUN, "--limit", 2, "--out", "x").code == 0
    before = (place / "x" / EPISODES_FILE).read_bytes()
    ended = toolenv(*RUN, "--limit", 3, "--out", "x", "--resume")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "toolenv: x holds another run: limit is 2 there and 3 here; give another --out\n"
    assert (place / "x" / EPISODES_FILE).read_bytes() == before


def test_no_agent_runs_before_all_of_them_are_checked(toolenv: Command, place: Path) -> None:
    ended = toolenv(*RUN, "--agent", "orcale", "--limit", 1)
    assert_refused(ended, ["unknown agent 'orcale'"], place)
    assert toolenv("run", CLEAN, "--agent", "random", "--limit", 1, "--out", "all/random").code == 0
    ended = toolenv(*RUN, "--agent", "random", "--limit", 1, "--out", "all")
    assert "all/random already holds a run" in ended.err
    assert not (place / "all" / "noop").exists()


def test_a_runner_that_cannot_start_leaves_nothing_behind(
    toolenv: Command, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_cluster(*_: Any) -> Any:
        raise UsageError("no Ray cluster answers")

    command = (*RUN, "--limit", 1, "--out", "x")
    with monkeypatch.context() as broken:
        broken.setattr("toolenv.cli.execute.run_at", no_cluster)
        ended = toolenv(*command)
    assert_refused(ended, ["no Ray cluster answers"], place)
    assert toolenv(*command).code == 0, "the same command again needs no --resume"


def test_an_absent_server_is_found_out_before_any_episode(toolenv: Command, place: Path) -> None:
    url = f"http://127.0.0.1:{free_port()}/v1"
    ended = toolenv(*RUN, "--agent", "chat:some-model", "--base-url", url, "--limit", 2)
    assert_refused(ended, [f"no model server answers at {url}", "is it running there?"], place)


@pytest.mark.parametrize(
    "command",
    [
        (*RUN[:2], "--agent", "chat:x", "--limit", "1"),
        ("generate", "--model", "x", "--limit", "1", "--out", "x"),
    ],
)
def test_where_no_server_is_named_the_way_to_name_one_is(
    toolenv: Command, place: Path, monkeypatch: pytest.MonkeyPatch, command: Sequence[str]
) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    ended = toolenv(*command)
    assert_refused(ended, ["no model server is named", "e.g. --base-url http://127.0.0.1:8000/v1"], place)


def test_generate_finds_out_before_anything_is_written(toolenv: Command, place: Path) -> None:
    url = f"http://127.0.0.1:{free_port()}/v1"
    ended = toolenv("generate", "--model", "some-model", "--base-url", url, "--limit", 1, "--out", "x")
    assert_refused(ended, [f"no model server answers at {url}", "--base-url", "OPENAI_BASE_URL"], place)


def test_a_server_is_asked_once_before_a_run_and_not_for_a_finished_one(
    toolenv: Command, place: Path
) -> None:
    command = ("run", CLEAN, "--agent", "chat:fake-model", "--limit", 2, "--out", "x")
    with FakeServer(completion("I can't.")) as server:
        assert toolenv(*command, "--base-url", server.base_url).code == 0
        # One preflight, then one decision for each of the two tasks.
        assert len(server.requests) == 1 + 2
    assert len(list(read_episodes(place / "x"))) == 2
    gone = f"http://127.0.0.1:{free_port()}/v1"
    assert toolenv(*command, "--base-url", gone, "--resume").code == 0


def test_a_server_that_refuses_is_quoted(toolenv: Command, place: Path) -> None:
    with FakeServer(error(401, "who are you?")) as server:
        ended = toolenv(*RUN, "--agent", "chat:fake-model", "--base-url", server.base_url)
    assert_refused(ended, ["who are you?", "OPENAI_API_KEY"], place)
    assert len(server.requests) == 1


@pytest.mark.parametrize("command", [("report", "x", "--html"), ("quickstart", "--limit", "1", "--html")])
@pytest.mark.parametrize(
    ("path", "told"),
    [
        (".", "is a folder; give the name of a file"),
        ("x/run.json/page.html", "run.json is no folder"),
    ],
)
def test_a_page_that_cannot_be_written_is_found_out_first(
    toolenv: Command, place: Path, command: Sequence[str], path: str, told: str
) -> None:
    assert toolenv(*RUN, "--limit", 1, "--out", "x").code == 0
    ended = toolenv(*command, path)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"toolenv: --html {path} ")
    assert told in ended.err
    assert [one.name for one in place.iterdir()] == ["x"]
