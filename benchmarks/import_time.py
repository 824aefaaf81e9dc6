"""How long ``import toolenv`` takes, against gymnasium's own import, each in fresh interpreters."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

SCRIPT = "import time; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"


def seconds(module: str) -> float:
    """Wall seconds of one import in a fresh interpreter."""
    command = [sys.executable, "-c", SCRIPT.format(module=module)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def measure(report: Callable[[str], None] = print, repeats: int = 7) -> float:
    """The ratio of the best times, the two imports taking turns."""
    pairs = [(seconds("gymnasium"), seconds("toolenv")) for _ in range(repeats)]
    base, own = min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
    report(f"import gymnasium {base:.3f} s, import toolenv {own:.3f} s: {own / base:.2f} x")
    return own / base


if __name__ == "__main__":
    measure()
