"""A real model behind a real server on unreliable tools: how it fails (paper 2). No score is asserted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.support.real_model import RealServer
from toolenv.hazards import kinds
from toolenv.runner.reading import read_rollouts

pytestmark = [pytest.mark.real_model, pytest.mark.slow]

# This small model reads about 100 tokens a second. Of the tasks that fit all five hazards these have the
# shortest prompts; each is one run, so that all but its first episode find the prompt read already.
TASKS = (
    "quality_inspection-parallel-0-0",
    "physiotherapy-parallel-0-2",
    "city_transit-sequential-0-0",
    "flights-sequential-0-3",
)
ENVS = tuple(f"ToolFeas/Workflows-{hazard}-v0" for hazard in kinds())
BEHAVIOURS = (
    "early_abandonment",
    "ineffective_continuation",
    "under_utilization",
    "answer_synthesis_failure",
)


def command(*arguments: object) -> str:
    code = "from toolenv.cli import main; main()"
    given = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(given, capture_output=True, text=True, timeout=900, env=os.environ, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_twenty_hazard_tasks_over_http_with_the_failure_behaviours(
    real_server: RealServer, tmp_path: Path
) -> None:
    for task in TASKS:
        command(
            *("run", *ENVS, "--tasks", task, "--out", tmp_path / task, "--max-turns", 2),
            *("--agent", f"chat:{real_server.model}", "--base-url", real_server.base_url),
            *("--agent-option", "max_tokens=40", "--agent-option", "protocol=Answer by calling tools."),
        )
    rollouts = [one for task in TASKS for one in read_rollouts(tmp_path / task)]
    assert len(rollouts) == 20
    for episode, trace in ((one.episode, one.trace) for one in rollouts):
        assert episode.valid, episode.error
        assert (episode.input_tokens or 0) > 500
        assert (episode.output_tokens or 0) > 0
        assert trace.condition in episode.env
    rows = json.loads(command("report", "--json", tmp_path))["rows"]
    assert {row["env"] for row in rows} == set(ENVS)
    counts: Counter[str] = Counter()
    for row in rows:
        found = row["metrics"]
        assert (row["valid"], row["invalid"], found["accuracy"]["n"]) == (4, 0, 4)
        assert found["exposure_rate"]["n"] == 4, "armed in every episode, met or not"
        failed = round(4 * (1 - found["accuracy"]["value"]))
        here = {name: round(failed * (found[name]["value"] or 0)) for name in BEHAVIOURS}
        # Paper 2, Error Analysis: each failed episode is in exactly one category.
        assert {found[name]["n"] for name in BEHAVIOURS} == {failed}
        assert sum(here.values()) == failed
        counts.update(here)
    print({name: counts[name] for name in BEHAVIOURS})
