"""Processes that an agent has started, as vLLM's engine is one: whoever leaves by the back door ends them."""

from __future__ import annotations

import sys
from time import monotonic

SECONDS = 5.0
"""How long they have to end by themselves, all together: an engine ends its own workers first."""


def end_children(seconds: float = SECONDS) -> None:
    """End the :mod:`multiprocessing` processes that this one has started, by force if they do not listen."""
    if "multiprocessing" not in sys.modules:  # then there are none
        return
    from multiprocessing import active_children

    children = active_children()
    for one in children:
        one.terminate()
    until = monotonic() + seconds
    for one in children:
        one.join(max(0.0, until - monotonic()))
        if one.exitcode is None:
            one.kill()
            one.join()
