"""A real model behind a real server on real tasks, through the command line. Its score is not asserted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import envs_registry
from tests.support.real_model import RealServer
from tests.support.recording_proxy import recording, run_tokens, said_tokens
from toolenv.runner.reading import read_episodes, read_rollouts

pytestmark = [pytest.mark.real_model, pytest.mark.slow]

TASKS = "multiple_0,multiple_1,multiple_2,multiple_3,live_multiple_0-0-0"


def test_chat_on_clean_and_infeasible_bfcl_tasks_over_http(
    real_server: RealServer, bfcl_package: Path, tmp_path: Path
) -> None:
    """Decision by decision, the tokens in the run are those the server reported; the first is preflight's."""
    out = tmp_path / "run"
    with recording(real_server.base_url) as proxy:
        command = [
            *(sys.executable, "-c", "from toolenv.cli import main; main()", "run"),
            *("ToolFeas/BFCL-clean-v0", "ToolFeas/BFCL-infeasible-v0", "--tasks", TASKS),
            *("--agent", f"chat:{real_server.model}", "--base-url", proxy.base_url),
            *("--agent-option", "max_tokens=32", "--max-turns", "2", "--concurrency", "2", "--out", str(out)),
        ]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=600, env=os.environ, check=False
        )
    print(done.stdout, done.stderr)
    assert done.returncode == 0, done.stderr
    rollouts = list(read_rollouts(out))
    assert len(rollouts) == 10
    assert sorted(said_tokens(proxy.usages[1:])) == sorted(run_tokens(rollouts))
    for rollout in rollouts:
        episode = rollout.episode
        assert episode.valid, episode.error
        assert (episode.input_tokens or 0) > 100
        assert (episode.output_tokens or 0) > 0
        assert not episode.estimated_tokens
        for step in rollout.trace.steps:
            assert step.action.usage is not None
            assert step.action.usage.known
    header = json.loads((out / "run.json").read_text())
    assert header["planned"] == {"ToolFeas/BFCL-clean-v0": 5, "ToolFeas/BFCL-infeasible-v0": 5}
    report = [sys.executable, "-c", "from toolenv.cli import main; main()", "report", "--json", str(out)]
    rows = json.loads(subprocess.run(report, capture_output=True, text=True, check=True).stdout)["rows"]
    assert {row["env"]: row["valid"] for row in rows if "pooled" not in row["env"]} == header["planned"]
    for row in rows:
        assert set(row["metrics"]) >= {
            "sr",
            "fcr_strict",
            "fcr_lenient",
            "false_stop_rate",
            "fass",
            "tc_ratio",
        }


# This small model reads about 100 tokens a second, so the prompts have to share their beginnings (the clean
# τ-bench tasks all have the same tools) or be short (the pool of a dialogue instead of all of API-Bank).
FIVE = {
    "TauBench": ("ToolFeas/TauBench-clean-v0",),
    "APIBank": ("ToolFeas/APIBank-clean-v0", "--suite-option", "pool=dialogue"),
    "StableToolBench": ("ToolFeas/StableToolBench-infeasible-v0",),
}


@pytest.mark.parametrize("suite", FIVE)
def test_five_tasks_of_each_other_suite(
    real_server: RealServer, shared_datasets: Path, suite: str, tmp_path: Path
) -> None:
    key = envs_registry.get_suite(suite).data
    envs_registry.data_store().pull(key, shared_datasets / key)
    out = tmp_path / "run"
    command = [
        *(sys.executable, "-c", "from toolenv.cli import main; main()", "run", *FIVE[suite]),
        *("--limit", "5", "--agent", f"chat:{real_server.model}", "--base-url", real_server.base_url),
        *("--agent-option", "max_tokens=16", "--max-turns", "1", "--out", str(out)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, env=os.environ, check=False)
    print(done.stdout, done.stderr)
    assert done.returncode == 0, done.stderr
    episodes = list(read_episodes(out))
    assert len(episodes) == 5
    for episode in episodes:
        assert episode.valid, episode.error
        assert (episode.input_tokens or 0) > 100
