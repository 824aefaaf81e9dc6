"""The same bytes under any concurrency, in another process, and on replay (FIELD-071)."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.toolenv.hazards.depot_cases import RECOVER, SUITE, depot_subject, every_instance
from toolenv.env import ToolEnv
from toolenv.hazards import Instance
from toolenv.hazards.base import candidates
from toolenv.recoverability.proving import play
from toolenv.rollout import rollout
from toolenv.source import TaskSource

ROOT = Path(__file__).parents[3]


def played(instance: Instance) -> str:
    return json.dumps(play(SUITE, depot_subject().task, RECOVER, instance).trace.to_json(), sort_keys=True)


def digest() -> str:
    """A digest of every instance of two seeds, and of what the recovery policy meets under it."""
    hashed = hashlib.sha256()
    for instance in [*every_instance(0), *every_instance(1)]:
        hashed.update(json.dumps([instance.facts, instance.parameters]).encode())
        hashed.update(played(instance).encode())
    return hashed.hexdigest()


def test_one_and_eight_threads() -> None:
    instances = every_instance()
    alone = [played(instance) for instance in instances]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(played, instances)) == alone


def test_a_kernel_shared_by_eight_threads() -> None:
    """Kernels are shared by the episodes of a source, whatever order their calls come in."""
    task = depot_subject().task
    for instance in every_instance()[::5]:
        source = TaskSource(SUITE, instance.hazard, {task.id: task}, {}, 0.0, 16, hazards={task.id: instance})

        def episode(seed: int, source: TaskSource = source) -> str:
            trace = rollout(ToolEnv(source), RECOVER, seed=seed, task_id=task.id).trace
            return json.dumps({**trace.to_json(), "seed": 0})

        with ThreadPoolExecutor(8) as pool:
            assert len(set(pool.map(episode, range(16)))) == 1


def test_another_process_with_another_hash_seed() -> None:
    script = "from tests.toolenv.hazards.test_determinism import digest; print(digest())"
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == digest()


def test_another_seed_prefers_another_instance() -> None:
    from toolenv.hazards import kinds

    subject = depot_subject()
    for kind in kinds().values():
        first = {(one.mode, one.tool) for seed in range(20) for one in candidates(kind, subject, seed)[:1]}
        assert len(first) > 1, kind.name
