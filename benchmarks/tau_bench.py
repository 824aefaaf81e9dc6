"""τ-bench retail: reset and judging, against what upstream's own environment takes for the same.

Upstream copies and hashes its whole database (1,550 records) at each reset and again for each reward. The
yardstick here does just that to the same data, in this run: parse it anew, and hash it twice.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from typing import Any, cast

import envs_registry
from toolenv.env import ToolEnv
from toolenv.runner.plan import make
from toolenv.types import NO_TOKENS, Message


def frozen(value: Any) -> Any:
    """Nested containers as tuples with keys in order, which is what has to be hashed."""
    if isinstance(value, dict):
        return tuple((key, frozen(value[key])) for key in sorted(value))
    return tuple(map(frozen, value)) if isinstance(value, list) else value


def whole_database_seconds() -> float:
    """Seconds to load the three tables and to hash them twice: a reset and a reward the plain way."""
    folder = envs_registry.data_store().require("tau-bench") / "tau_bench/envs/retail/data"
    start = time.perf_counter()
    tables = {path.stem: json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))}
    for _ in range(2):
        hashlib.sha256(str(frozen(tables)).encode()).hexdigest()
    return time.perf_counter() - start


def own_seconds(env: ToolEnv, rounds: int = 2) -> float:
    """Mean seconds of a reset and a judged last step over all retail tasks, first episodes included."""
    start, count = time.perf_counter(), 0
    for _ in range(rounds):
        for task_id in env.source.task_ids:
            env.reset(seed=0, options={"task_id": task_id})
            env.step(Message("Done.", usage=NO_TOKENS))
            count += 1
    return (time.perf_counter() - start) / count


def measure(report: Callable[[str], None] = print) -> float:
    """The ratio of the two."""
    env = cast(ToolEnv, make("ToolFeas/TauBench-clean-v0", {"subset": "retail"}).unwrapped)
    base = min(whole_database_seconds() for _ in range(3))
    own = own_seconds(env)
    report(
        f"τ-bench retail reset + judge: ours {own * 1e3:.3f} ms, copying and hashing the database "
        f"{base * 1e3:.0f} ms: {base / own:,.0f} x"
    )
    return base / own


if __name__ == "__main__":
    measure()
