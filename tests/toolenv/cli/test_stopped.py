"""A run that stops says what is kept, what had finished before it, and how to go on (FIELD-076)."""

from __future__ import annotations

import shlex
import signal
from pathlib import Path

import pytest

from tests.toolenv.cli.command import Command, spawn, wait_for_episodes
from toolenv.cli.stopped import Interrupted, command_to_resume, naming
from toolenv.errors import StoreError
from toolenv.runner.reading import read_episodes

CLEAN, HAZARD = "ToolFeas/Workflows-clean-v0", "ToolFeas/Workflows-hazard-v0"
AGAIN = "Once that is mended, go on with: "

OWN = """
from threading import Event
from toolenv import Message, NO_TOKENS
from toolenv.errors import ServerError

DECIDED = []

def wrong(observation):
    DECIDED.append(1)
    return Message("", usage=NO_TOKENS) if len(DECIDED) < 4 else "no action"

def mended(observation):
    return Message("", usage=NO_TOKENS)

def stuck(observation):
    DECIDED.append(1)
    return mended(observation) if len(DECIDED) < 3 else Event().wait()

def raising(observation):
    return observation.mesages

def gone(observation):
    raise ServerError("the server is gone")

def denied(observation):
    raise ServerError("the key is refused", trouble="server/auth")

def lost(observation):
    DECIDED.append(1)
    return mended(observation) if len(DECIDED) < 3 else gone(observation)
"""


@pytest.fixture
def own(place: Path) -> str:
    """The name of a module beside the user; another one in each test."""
    name = f"own_{place.name}".replace("-", "_")
    (place / f"{name}.py").write_text(OWN)
    return name


def run(*agents: str, limit: int = 12) -> tuple[object, ...]:
    specs = [part for agent in agents for part in ("--agent", agent)]
    return ("run", CLEAN, *specs, "--limit", limit, "--out", "all")


def folder_of(own: str, agent: str) -> str:
    return f"all/{own}-{agent}".replace("_", "-")


def test_an_agent_that_fails_behind_others_leaves_them_named(toolenv: Command, own: str, place: Path) -> None:
    command = run("noop", "random", f"{own}:wrong")
    ended = toolenv(*command)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    told, _, again = ended.err.partition(AGAIN)
    assert told == (
        "toolenv: policy 'wrong' gave no action: str 'no action' is none of ToolCalls, Message, Stop,"
        f" Malformed; 3 episodes kept in {folder_of(own, 'wrong')}; finished before: all/noop, all/random. "
    )
    assert shlex.split(again) == ["toolenv", *map(str, command), "--resume"]
    counts = {path.name: len(list(read_episodes(path))) for path in (place / "all").iterdir()}
    assert sorted(counts.values()) == [3, 12, 12]


def test_the_command_that_is_named_goes_on(toolenv: Command, own: str, place: Path) -> None:
    again = toolenv(*run("noop", f"{own}:wrong")).err.partition(AGAIN)[2]
    module = place / f"{own}.py"
    module.write_text(OWN.replace('"no action"', "mended(observation)"))
    with spawn(*shlex.split(again)[1:], cwd=place) as process:
        out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    folders = out.splitlines()[-1].removeprefix("Runs: ").split()
    assert [len(list(read_episodes(place / folder))) for folder in folders] == [12, 12]


def test_an_arm_that_fails_behind_the_baseline_leaves_it_named(toolenv: Command, own: str) -> None:
    command = ("run", HAZARD, "--agent", f"{own}:wrong", "--limit", 3, "--out", "arms")
    ended = toolenv(*command, "--arm", "baseline", "--arm", "tts")
    assert ended.code == 2
    assert "gave no action" in ended.err
    assert "; finished before: arms/baseline. " in ended.err


def test_ctrl_c_in_a_later_run_names_the_earlier_ones(own: str, place: Path) -> None:
    command = run("noop", f"{own}:stuck")
    with spawn(*command, cwd=place) as process:
        assert wait_for_episodes(process, place, "all/*stuck", 0), process.communicate()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.startswith(
        f"toolenv: interrupted; what had finished is kept in {folder_of(own, 'stuck')}; finished before:"
        " all/noop. Go on with: "
    )


def test_a_bug_of_ours_names_them_before_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError, match=r"^a bug$"), naming([Path("a"), Path("b")]):
        raise RuntimeError("a bug")
    assert capsys.readouterr().err == "toolenv: stopped; finished before: a, b\n"


def test_ctrl_c_between_runs_names_them() -> None:
    with pytest.raises(Interrupted, match=r"^finished before: a, b$"), naming([Path("a"), Path("b")]):
        raise KeyboardInterrupt


def test_without_earlier_runs_an_error_stays_as_it_is() -> None:
    with pytest.raises(StoreError, match=r"^full$"), naming([]):
        raise StoreError("full")


def test_a_server_that_never_answered_is_to_be_mended_first(toolenv: Command, own: str) -> None:
    """A failure in every episode: the same again with --resume alone."""
    ended = toolenv_lost(toolenv, f"{own}:gone")
    assert "; no episode before got an answer either: --resume alone would only repeat that. " in ended
    assert AGAIN in ended


def test_what_is_refused_for_good_is_to_be_changed_first(toolenv: Command, own: str) -> None:
    ended = toolenv_lost(toolenv, f"{own}:denied")
    assert (
        "; the same requests would fail again (server/auth: HTTP 401 or 403: the key was refused): change"
        " what is asked, or of whom. "
    ) in ended
    assert AGAIN in ended


def test_a_server_that_is_lost_on_the_way_is_only_gone_on_with(toolenv: Command, own: str) -> None:
    ended = toolenv_lost(toolenv, f"{own}:lost")
    assert "; --resume goes on, and runs again those that failed. Go on with: " in ended


def toolenv_lost(toolenv: Command, agent: str) -> str:
    """What is printed where a server is lost; such a command would end the process of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("toolenv.cli._leave", exit_with)
        ended = toolenv(*run(agent))
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    return ended.err


def exit_with(status: int) -> None:
    raise SystemExit(status)


def test_sigterm_outside_of_a_run_has_its_exit_status_too(
    toolenv: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And whoever called the command line has the handler back that was there."""
    monkeypatch.setattr("toolenv.cli.report.report_of", lambda *given: signal.raise_signal(signal.SIGTERM))
    ended = toolenv("report", "x")
    assert (ended.code, ended.out, ended.err) == (143, "", "")
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.parametrize("concurrency", [1, 2])
def test_an_agent_that_raises_in_every_episode_is_to_be_mended(
    toolenv: Command, own: str, concurrency: int
) -> None:
    ended = toolenv(*run(f"{own}:raising", limit=9), "--concurrency", concurrency)
    assert (ended.code, ended.err) == (
        1,
        "toolenv: no episode of raising is valid: 9 times the policy raised an exception: mend it, then give"
        " another --out (--resume does not play them again)\n",
    )
    resumed = toolenv(*run(f"{own}:raising", limit=9), "--resume")
    assert (resumed.code, resumed.err) == (1, ended.err)


@pytest.mark.parametrize(
    ("given", "resumed"),
    [
        (["run", "E", "--out", "a b"], "toolenv run E --out 'a b' --resume"),
        (["run", "--agent", "x", "--", "E"], "toolenv run --agent x --resume -- E"),
        (["run", "E", "--resume"], "toolenv run E --resume"),
        (["quickstart"], "toolenv quickstart"),
    ],
)
def test_the_command_that_goes_on(monkeypatch: pytest.MonkeyPatch, given: list[str], resumed: str) -> None:
    monkeypatch.setattr("sys.argv", ["toolenv", *given])
    assert command_to_resume() == resumed
