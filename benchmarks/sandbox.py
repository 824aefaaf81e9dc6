"""What the sandbox costs: starting a worker, a call, and ending it; and an episode of sandboxed tools.

::

    python -m benchmarks.sandbox
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

from toolenv.sandbox import Worker

SOURCE = "def double(x):\n    return {'value': 2 * x}\n"
STARTS, CALLS = 20, 5_000


def seconds(work: Callable[[], object]) -> float:
    """The time on the wall that some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    """Print the medians."""
    starts, ends = [], []
    for _ in range(STARTS):
        begun = time.perf_counter()
        worker = Worker(SOURCE)
        starts.append(time.perf_counter() - begun)
        ends.append(seconds(worker.close))
    with Worker(SOURCE) as worker:
        calls = [seconds(lambda: worker.call("double", {"x": 21})) for _ in range(CALLS)]
        print(f"layers: {', '.join(worker.layers)}")
    print(f"a worker is ready after {median(starts) * 1e3:.1f} ms (n={STARTS})")
    print(f"a call takes {median(calls) * 1e3:.3f} ms (n={CALLS:,})")
    print(f"an end takes {median(ends) * 1e3:.1f} ms (n={STARTS})")


if __name__ == "__main__":
    main()
