"""The garbage collector in processes that do nothing but run episodes."""

from __future__ import annotations

import gc


def collect_seldom() -> None:
    """Look for cyclic garbage less often than Python does by itself.

    Hundreds of episodes in flight are no garbage, and to look through them again and again was a tenth of all
    work. Only for processes that are ours: the command line's, and workers.
    """
    gc.set_threshold(100_000, 50, 100)
