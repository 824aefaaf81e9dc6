"""67,300 rollouts, as many as the paper's study has, by scripted agents: time and peak memory.

``python -m benchmarks.rollouts [--runner NAME]…``. On BFCL, τ-bench, API-Bank and StableToolBench,
clean and masked (some 4,970 tasks): four agents three times, one agent once, and one more on as many tasks of
BFCL as make it exact.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measured import CLI, cost_of, together
from toolenv.runner.plan import source_of
from toolenv.runner.reading import find_runs, read_episodes

SUITES = ("BFCL", "TauBench", "APIBank", "StableToolBench")
ENVS = tuple(f"ToolFeas/{suite}-{condition}-v0" for suite in SUITES for condition in ("clean", "infeasible"))
AGENTS = ("oracle", "random", "always-stop", "never-stop")
EVERYTHING = 67_300

WAYS: dict[str, tuple[object, ...]] = {
    "local": (),
    "processes": ("--runner", "processes", "--concurrency", 2),
    "ray": ("--runner", "ray", "--concurrency", 2),
}


def measure(runners: Sequence[str] = ("local", "processes")) -> None:
    """Print what each runner took."""
    for runner in runners:
        with tempfile.TemporaryDirectory() as folder:
            costs = [
                cost_of(*CLI, "run", *part, *WAYS[runner], "--out", Path(folder) / str(number))
                for number, part in enumerate(_parts())
            ]
            found = sum(1 for run in _runs(Path(folder)) for _ in read_episodes(run))
            size = sum(path.stat().st_size for path in Path(folder).rglob("episodes*.jsonl"))
        assert found == EVERYTHING, found
        print(f"{found:,} rollouts, --runner {runner}: {together(costs)}; {size / 1e6:.0f} MB on disk")


def _parts() -> list[tuple[object, ...]]:
    agents = [word for agent in AGENTS for word in ("--agent", agent)]
    tasks = sum(len(source_of(env, {}).task_ids) for env in ENVS)
    trials, left = divmod(EVERYTHING - len(AGENTS) * 3 * tasks, tasks)
    more = ("--agent", "random", "--seed", 1, "--limit")
    return [
        (*ENVS, *agents, "--trials", 3),
        (*ENVS, "--agent", "noop", "--trials", trials),
        (ENVS[0], *more, left - left // 2),
        (ENVS[1], *more, left // 2),
    ]


def _runs(folder: Path) -> list[Path]:
    return [run for part in sorted(folder.iterdir()) for run in find_runs([part])]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runner", action="append", choices=list(WAYS))
    measure(parser.parse_args().runner or ("local", "processes"))
