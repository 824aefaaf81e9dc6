r"""Runs untrusted Python, model-written tools above all: in a process of its own, walled in by the kernel.

::

    with Worker("def double(x):\n    return 2 * x\n") as worker:
        worker.call("double", {"x": 21})  # Returned(42)

No network, no files but a temporary folder, bounded time, processor, memory, output; where the kernel offers
too little for that, nothing is run. ``docs/sandbox.md`` says what is promised and what is not.
"""

from toolenv.sandbox.limits import LAYERS, MEBIBYTE, Layer, Limits, Network
from toolenv.sandbox.outcome import CAUSES, Cause, Outcome, Raised, Returned, Stopped, Unusable
from toolenv.sandbox.worker import Worker

__all__ = [
    "CAUSES",
    "LAYERS",
    "MEBIBYTE",
    "Cause",
    "Layer",
    "Limits",
    "Network",
    "Outcome",
    "Raised",
    "Returned",
    "Stopped",
    "Unusable",
    "Worker",
]
