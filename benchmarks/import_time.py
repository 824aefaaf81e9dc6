"""How long ``import toolenv`` takes, against gymnasium's own import, each in fresh interpreters.

Bytecode is there, as after any installation. Processor time is measured, so that other work on the machine
does not count.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable

SCRIPT = """
import time
start = time.process_time()
import {module}
print(time.process_time() - start)
"""


def seconds(module: str, bytecode: str) -> float:
    """Processor seconds of one import in a fresh interpreter, which keeps bytecode in a folder."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-c", SCRIPT.format(module=module)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def measure(report: Callable[[str], None] = print, repeats: int = 9) -> float:
    """The ratio of the best times, the two imports taking turns; a first turn only makes bytecode."""
    with tempfile.TemporaryDirectory() as folder:
        pairs = [(seconds("gymnasium", folder), seconds("toolenv", folder)) for _ in range(repeats + 1)][1:]
    base, own = min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
    report(f"import gymnasium {base:.3f} s, import toolenv {own:.3f} s: {own / base:.2f} x")
    return own / base


if __name__ == "__main__":
    measure()
