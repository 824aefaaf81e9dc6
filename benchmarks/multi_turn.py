"""BFCL's multi-turn calls: our typed world against upstream's own executor, on the same ground truth.

Upstream's executor is imported from the pulled wheel, in this process only.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, cast

from envs_registry.bfcl.load import data_folder, read_lines
from envs_registry.bfcl.multi_turn_rules import MultiTurnReference
from toolenv.env import ToolEnv
from toolenv.kernel.protocol import Slot
from toolenv.runner.plan import make

CATEGORY = "multi_turn_base"


def ours(env: ToolEnv) -> float:
    """Calls per second through the kernel: names, schema checks and results as agents get them."""
    references = []
    for task_id in env.source.task_ids:
        task = env.source.get(task_id)
        calls = [call for turn in cast(MultiTurnReference, task.reference).ground_truth for call in turn]
        references.append((env.source.kernel(task), calls))
    start, count = time.perf_counter(), 0
    for kernel, calls in references:
        world = kernel.start(0)
        for number, call in enumerate(calls):
            kernel.call(world, call, Slot(number))
        count += len(calls)
    return count / (time.perf_counter() - start)


def upstream(entries: Sequence[dict[str, Any]], answers: Sequence[dict[str, Any]], run: str) -> float:
    """Calls per second of upstream's executor; ``run`` keeps its cached instances apart."""
    sys.path.insert(0, str(data_folder().parent))
    executor = importlib.import_module("bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils")
    start, count = time.perf_counter(), 0
    for entry, answer in zip(entries, answers, strict=True):
        for turn in answer["ground_truth"]:
            executor.execute_multi_turn_func_call(
                turn, entry["initial_config"], entry["involved_classes"], run, entry["id"], is_evaL_run=True
            )
            count += len(turn)
    return count / (time.perf_counter() - start)


def measure(report: Callable[[str], None] = print, repeats: int = 3) -> float:
    """The ratio of the best rates; world set-up is part of both."""
    entries = read_lines(data_folder() / f"data/BFCL_v4_{CATEGORY}.json")
    answers = read_lines(data_folder() / f"data/possible_answer/BFCL_v4_{CATEGORY}.json")
    env = cast(ToolEnv, make("ToolFeas/BFCL-clean-v0", {"subset": CATEGORY}).unwrapped)
    own = max(ours(env) for _ in range(repeats))
    base = max(upstream(entries, answers, f"run{number}") for number in range(repeats))
    report(
        f"multi-turn ground truth: ours {own:,.0f} calls/s, upstream {base:,.0f} calls/s: {own / base:.2f} x"
    )
    return own / base


if __name__ == "__main__":
    measure()
