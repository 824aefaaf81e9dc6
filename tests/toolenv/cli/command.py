"""The command line for tests: in this process, which is fast, or in one of its own, which can be killed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

ROOT = Path(__file__).parents[3]
CLEAN, INFEASIBLE, MIXED = (f"ToolFeas/BFCL-{name}-v0" for name in ("clean", "infeasible", "mixed"))
# Where tests run in the background, Ctrl-C is ignored, and their children would ignore it too.
CODE = (
    "import os, signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from toolenv.runner import shards; shards.SHARD_BYTES = int(os.environ.get('SHARD_BYTES', 2**28));"
    "from toolenv.cli import main; main()"
)
PROGRAM = (sys.executable, "-W", "error", "-c", CODE)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


Command: TypeAlias = Callable[..., Ended]


def environment(**more: str) -> Mapping[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def spawn(*arguments: object, cwd: Path, **options: Any) -> subprocess.Popen[str]:
    """Start the command in a process of its own."""
    options = {"env": environment(), "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen([*PROGRAM, *map(str, arguments)], cwd=cwd, text=True, **options)


def spawned(*arguments: object, cwd: Path, **options: Any) -> Ended:
    """Run the command in a process of its own to its end."""
    with spawn(*arguments, cwd=cwd, **options) as process:
        out, err = process.communicate(timeout=300)
    return Ended(process.returncode, out or "", err or "")


def wait_for_episodes(process: subprocess.Popen[str], runs: Path, name: str, size: int) -> bool:
    """Wait until a run's files are larger than ``size`` bytes; false if the process ended before.

    ``name`` is that of the run's folder below ``runs``; it may hold a ``*``.
    """
    while sum(path.stat().st_size for path in runs.glob(f"{name}/episodes*.jsonl")) <= size:
        try:
            process.wait(timeout=0.005)
        except subprocess.TimeoutExpired:
            continue
        return False
    return True


def children_of(pid: int) -> set[int]:
    """The processes that a process has started and that are there, on Linux."""
    found = set()
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread may end meanwhile
            found |= set(map(int, (task / "children").read_text().split()))
    return found
