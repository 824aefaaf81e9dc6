"""A policy that changes the working directory changes it for itself: files are where the command says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.toolenv.cli.command import spawned

WORKFLOWS = "ToolFeas/Workflows-clean-v0"
POLICY = """
import os
from toolenv import Stop
os.makedirs("elsewhere", exist_ok=True)
{at_import}
def act(observation):
    {in_act}
    return Stop(os.path.basename(os.getcwd()))
"""


@pytest.mark.parametrize("json_alone", [False, True])
@pytest.mark.parametrize(("at_import", "in_act"), [("os.chdir('elsewhere')", "pass"), ("", "os.chdir('/')")])
def test_a_run_stays_where_the_command_line_says(
    tmp_path: Path, at_import: str, in_act: str, json_alone: bool
) -> None:
    (tmp_path / "mine.py").write_text(POLICY.format(at_import=at_import, in_act=in_act))
    more = ("--json",) if json_alone else ()
    run = ("run", WORKFLOWS, "--agent", "mine:act", "--agent", "oracle", "--limit", 3, "--out", "kept", *more)
    ended = spawned(*run, cwd=tmp_path)
    assert (ended.code, ended.err) == (0, "")
    if json_alone:
        assert [one["folder"] for one in json.loads(ended.out)["runs"]] == ["kept/mine-act", "kept/oracle"]
    else:
        assert ended.out.endswith("Runs: kept/mine-act kept/oracle\n")
    for agent in ("mine-act", "oracle"):
        assert len((tmp_path / "kept" / agent / "episodes.jsonl").read_text().splitlines()) == 3
    first = json.loads((tmp_path / "kept/mine-act/episodes.jsonl").read_text().splitlines()[0])
    assert ("elsewhere" if at_import else '"reason":""') in json.dumps(first["trace"], separators=(",", ":"))
    assert {path.name for path in tmp_path.iterdir()} <= {"kept", "elsewhere", "mine.py", "__pycache__"}
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_files_of_a_run_follow_one_another_in_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(POLICY.format(at_import="", in_act="os.chdir('/')"))
    monkeypatch.setenv("SHARD_BYTES", "1")
    ended = spawned("run", WORKFLOWS, "--agent", "mine:act", "--limit", 3, "--out", "kept", cwd=tmp_path)
    assert (ended.code, ended.err) == (0, "")
    names = sorted(path.name for path in (tmp_path / "kept").glob("episodes*"))
    assert names == ["episodes-00001.jsonl", "episodes-00002.jsonl", "episodes.jsonl"]
