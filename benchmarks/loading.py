"""How long the suites' default tasks take to load, and how much memory they hold."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import envs_registry

SCRIPT = """
import resource, sys, time
import envs_registry
suite = envs_registry.get_suite(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
count = len(suite.tasks(suite.default_subset))
suite.masks(suite.default_subset)
seconds = time.perf_counter() - start
print(count, seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


def load(suite: str) -> tuple[int, float, float]:
    """Tasks, wall seconds and megabytes of one load in a fresh interpreter."""
    command = [sys.executable, "-c", SCRIPT, suite]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return int(found[0]), float(found[1]), float(found[2])


def measure(report: Callable[[str], None] = print) -> dict[str, tuple[int, float, float]]:
    """Every suite whose data is there, the best of three."""
    found = {}
    for name in envs_registry.suites():
        found[name] = min((load(name) for _ in range(3)), key=lambda one: one[1])
        tasks, wall, memory = found[name]
        report(f"{name}: {tasks:,} tasks with masks in {wall:.2f} s, {memory:.0f} MB")
    return found


if __name__ == "__main__":
    measure()
