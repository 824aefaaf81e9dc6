"""Armed tasks give the same bytes in 1 and 8 threads, in any order, and in another process."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from envs_registry.workflows import SUITE
from toolenv.agents.registry import make_agent
from toolenv.hazards import kinds
from toolenv.recoverability.building import Policies, arm_tasks
from toolenv.runner.local import run_jobs
from toolenv.runner.plan import Job, RunConfig, plan

ROOT = Path(__file__).parents[3]
AGENTS = ("recovery", "random")


def jobs() -> list[Job]:
    """Each 13th task under each of the five hazards and under the one drawn for it."""
    envs = tuple(f"ToolFeas/Workflows-{name}-v0" for name in (*kinds(), "hazard"))
    return plan(RunConfig(envs, "recovery", limit=252, seed=5))[0][::13]


def digest(todo: Sequence[Job], concurrency: int = 1) -> str:
    """Of all that is recorded of the jobs' episodes, whatever order they end in."""
    lines = sorted(
        json.dumps([one.episode.to_json(), one.trace.to_json()], sort_keys=True)
        for agent in AGENTS
        for one in run_jobs(todo, make_agent(agent), {}, concurrency)
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def armed() -> str:
    """Digest of what arming makes of some tasks, each instance proved, under two seeds."""
    policies = Policies(
        make_agent("oracle"),
        make_agent("recovery:naive"),
        (make_agent("recovery:trusting"), make_agent("recovery")),
    )
    tasks = SUITE.tasks("default")[::100]
    found = [
        [one.task_id, {name: [proof.to_json() for proof in proved] for name, proved in one.proved.items()}]
        for one in arm_tasks(SUITE, tasks, policies, seeds=(0, 7))
    ]
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


def test_one_and_eight_threads_in_any_order() -> None:
    todo = jobs()
    alone = digest(todo)
    assert digest(todo, 8) == alone
    assert digest(todo[::-1], 8) == alone


def test_another_process_with_another_hash_seed() -> None:
    script = (
        "from tests.envs_registry.workflows.test_hazard_determinism import armed, digest, jobs;"
        "print(digest(jobs(), 8), armed())"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [digest(jobs()), armed()]
