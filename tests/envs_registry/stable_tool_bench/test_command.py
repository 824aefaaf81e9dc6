"""``python -m envs_registry.stable_tool_bench`` on a stored run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from envs_registry.stable_tool_bench.__main__ import app
from envs_registry.stable_tool_bench.sources import CACHE
from tests.envs_registry.stable_tool_bench.test_sopr import data_of, verdict
from tests.support.fake_server import Answer, FakeServer, Request
from toolenv.errors import UnknownNameError
from toolenv.task import Task

IDS = ("588", "608", "1073")
QUERY_588 = "I'm a football enthusiast and I want to know more about Lionel Messi's career."


@pytest.fixture(scope="module")
def stored(tasks: Mapping[str, Task], pulled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the oracle on three queries, clean and infeasible."""
    folder = tmp_path_factory.mktemp("stored") / "run"
    env_ids = [f"ToolFeas/StableToolBench-{condition}-v0" for condition in ("clean", "infeasible")]
    options = ["--agent", "oracle", "--tasks", ",".join(IDS), "--out", str(folder)]
    command = [sys.executable, "-W", "error", "-c", "from toolenv.cli import main; main()"]
    environment = {**os.environ, "TOOLENV_DATA": str(pulled)}
    done = subprocess.run(
        [*command, "run", *env_ids, *options],
        cwd=Path(__file__).parents[3],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    # That success is a proxy's stands wherever it is printed.
    assert "flagged proxy_judge (success is judged by an offline proxy" in " ".join(done.stdout.split())
    return folder


def judge_by_query(request: Request) -> Answer:
    return verdict("solved" if data_of(request)["query"].startswith(QUERY_588) else "unsolved")


def test_sopr_of_a_stored_run(stored: Path, tmp_path: Path) -> None:
    out = tmp_path / "verdicts.jsonl"
    with FakeServer(judge_by_query) as server:
        options = ["--model", "judge", "--base-url", server.base_url, "--repeats", "2", "--out", str(out)]
        done = CliRunner().invoke(app, ["sopr", str(stored), *options])
        assert done.exit_code == 0, done.output
        assert len(server.requests) == 6  # the clean episodes, each twice; infeasible ones have no SoPR
    assert done.output.startswith(
        "ToolFeas/StableToolBench-clean-v0, oracle: SoPR by judge 33.3% [6.1–79.2], n=3"
    )
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert {one["task_id"]: one["score"] for one in lines} == {"588": 1.0, "608": 0.0, "1073": 0.0}
    assert all(len(one["opinions"]) == 2 and not one["error"] for one in lines)


def test_sopr_where_the_judge_fails_is_no_rate(stored: Path) -> None:
    with FakeServer(verdict("very solved")) as server:
        options = ["--model", "judge", "--base-url", server.base_url, "--repeats", "1"]
        done = CliRunner().invoke(app, ["sopr", str(stored), *options])
    assert done.exit_code == 0, done.output
    assert done.output.strip().endswith("SoPR by judge –, n=0, 3 left out: the judge failed")


def test_coverage_is_printed(
    tasks: Mapping[str, Task], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = CliRunner().invoke(app, ["coverage", "--subset", "G3_instruction"])
    assert done.exit_code == 0, done.output
    assert len(done.output.splitlines()) == 62
    assert done.output.splitlines()[-1].startswith("61 queries, offered APIs by best source: ")
    assert "cache" not in done.output

    folder = tmp_path / "Data" / "theclique_for_Data"
    folder.mkdir(parents=True)
    (folder / "songkick_concert.json").write_text('{"{}": {"error": "", "response": 1}}')
    monkeypatch.setenv(CACHE, str(tmp_path))
    done = CliRunner().invoke(app, ["coverage"])
    (line,) = (line for line in done.output.splitlines() if line.startswith("588: "))
    assert "1 cache" in line
    assert "1 recorded calls" in line


def test_coverage_names_the_tasks_of_at_least_a_share(tasks: Mapping[str, Task]) -> None:
    done = CliRunner().invoke(app, ["coverage", "--least", "1"])
    named = done.output.strip().split(",")
    assert 0 < len(named) < 765
    assert set(named) < set(tasks)


def test_an_unknown_subset_is_named() -> None:
    done = CliRunner().invoke(app, ["coverage", "--subset", "G4_tool"])
    assert isinstance(done.exception, UnknownNameError)
    assert "did you mean" in str(done.exception)
