"""A real model as planner and as executor, through the command line. Its score is not asserted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.real_model import RealServer
from toolenv.metrics.roles import role_usage
from toolenv.runner.reading import read_rollouts
from toolenv.types import total_usage

pytestmark = [pytest.mark.real_model, pytest.mark.slow]


def test_a_pair_on_two_bfcl_tasks_over_http(
    real_server: RealServer, bfcl_package: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    agent = f"planner(chat:{real_server.model})->executor(chat:{real_server.model})"
    command = [
        *(sys.executable, "-c", "from toolenv.cli import main; main()", "run"),
        *("ToolFeas/BFCL-infeasible-v0", "--tasks", "multiple_0,live_multiple_0-0-0", "--agent", agent),
        *("--base-url", real_server.base_url, "--max-turns", "1", "--concurrency", "2", "--out", str(out)),
        *("--agent-option", "max_tokens=24", "--agent-option", "planner.max_tokens=32"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=os.environ, check=False)
    print(done.stdout, done.stderr)
    assert done.returncode == 0, done.stderr
    header = json.loads((out / "run.json").read_text())
    assert header["agent"] == agent
    settings = header["agent_settings"]
    assert (settings["planner.max_tokens"], settings["executor.max_tokens"]) == (32, 24)
    rollouts = list(read_rollouts(out))
    assert len(rollouts) == 2
    for rollout in rollouts:
        assert rollout.episode.valid, rollout.episode.error
        roles = role_usage(rollout.trace)
        assert set(roles) in ({"planner"}, {"planner", "executor"})
        assert roles["planner"].generations == 2 or set(roles) == {"planner"}
        assert (roles["planner"].input_tokens or 0) > 200
        assert all(usage.known and not usage.estimated for usage in roles.values())
        assert total_usage(roles.values()) == rollout.trace.usage
        assert rollout.trace.steps[0].action.usage is not None
        assert (rollout.trace.steps[0].action.usage.output_tokens or 0) <= 2 * 32 + 24
