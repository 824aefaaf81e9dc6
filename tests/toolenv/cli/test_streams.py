"""Standard streams that are closed, full or of a poor encoding: episodes are kept, and one line says so."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.toolenv.cli.command import PROGRAM, environment, spawned

WORKFLOWS = "ToolFeas/Workflows-clean-v0"
LOST = "toolenv: what was to be printed is lost: "
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, as Linux has it")


def shell(redirection: str, *arguments: str, cwd: Path, **more: str) -> tuple[int, str, str]:
    """The command in a shell, with its streams redirected there."""
    command = ["sh", "-c", f'exec "$@" {redirection}', "sh", *PROGRAM, *arguments]
    ended = subprocess.run(command, cwd=cwd, env=environment(**more), capture_output=True, timeout=300)
    return ended.returncode, ended.stdout.decode(), ended.stderr.decode()


def run(out: str, *more: str, agent: str = "oracle") -> tuple[str, ...]:
    return ("run", WORKFLOWS, "--agent", agent, "--limit", "2", "--out", out, *more)


def episodes(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "episodes.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("more", [(), ("--json",)])
@pytest.mark.parametrize(
    ("stdout", "why"),
    [(">&-", "stdout is closed"), pytest.param(">/dev/full", "No space left on device", marks=FULL)],
)
def test_episodes_are_kept_where_stdout_takes_nothing(
    tmp_path: Path, stdout: str, why: str, more: tuple[str, ...]
) -> None:
    code, out, told = shell(stdout, *run("kept", *more), cwd=tmp_path)
    assert (code, out, told.count("\n")) == (2, "", 1)
    assert told.startswith(LOST)
    assert why in told
    assert len(episodes(tmp_path / "kept")) == 2
    code, out, told = shell(stdout, "report", "kept", *more, cwd=tmp_path)
    assert (code, out, told.count("\n")) == (2, "", 1)
    assert told.startswith(LOST)


@FULL
def test_a_full_log_stops_no_run(tmp_path: Path) -> None:
    code, out, _ = shell("2>/dev/full", *run("kept"), cwd=tmp_path)
    assert (code, out.splitlines()[-1]) == (0, "Runs: kept")
    code, *_ = shell(">/dev/full 2>/dev/full", *run("other"), cwd=tmp_path)
    assert code == 2
    assert len(episodes(tmp_path / "other")) == 2


def test_a_closed_stderr_and_stdin_are_no_obstacle(tmp_path: Path) -> None:
    code, out, _ = shell("2>&- <&-", *run("kept"), cwd=tmp_path)
    assert (code, out.splitlines()[-1]) == (0, "Runs: kept")
    code, out, told = shell("<&-", "play", WORKFLOWS, cwd=tmp_path)
    assert (code, told) == (0, "")
    assert "there is no verdict" in out


def test_a_policy_that_closes_stdout_loses_the_table_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import sys\nfrom toolenv import Stop\n"
        "def act(observation):\n    sys.stdout.close()\n    return Stop('x')\n"
    )
    ended = spawned(*run("kept", agent="mine:act"), cwd=tmp_path)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"{LOST}stdout is closed; finished before: kept\n"
    assert len(episodes(tmp_path / "kept")) == 2


def test_a_terminal_of_ascii_shows_what_it_can(tmp_path: Path) -> None:
    poor = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    code, out, told = shell("", *run("kept"), cwd=tmp_path, **poor)
    assert (code, told) == (0, "")
    assert "oracle" in out
    code, out, told = shell("", "report", "kept", cwd=tmp_path, **poor)
    assert (code, told) == (0, "")
    assert "? told the truth" in out


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep the folder that a process is in")
def test_a_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    asked = ["sh", "-c", 'rmdir ../gone; exec "$@"', "sh", *PROGRAM, "quickstart", "--limit", "1"]
    ended = subprocess.run(
        asked, cwd=tmp_path / "gone", env=environment(), capture_output=True, timeout=300, text=True
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "the folder that this is run in is gone" in ended.stderr
    assert ended.stderr.count("\n") == 1
