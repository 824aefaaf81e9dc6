"""Which files a run directory keeps, so that nothing else is written over them."""

from __future__ import annotations

import os
from pathlib import Path

from toolenv.runner import shards
from toolenv.runner.preflights import PREFLIGHTS_FILE
from toolenv.runner.reading import RUN_FILE
from toolenv.runner.set_aside import SET_ASIDE_FILE
from toolenv.runner.store import LOCK_FILE

_NAMES = frozenset({RUN_FILE, PREFLIGHTS_FILE, SET_ASIDE_FILE, LOCK_FILE})


def is_kept(path: Path) -> bool:
    """Whether a path is that of a file of a run: one that a run directory has, or may come to have.

    Links are followed; capitals do not count, as on some disks they do not.

    Raises:
        OSError: the path cannot be looked at.
    """
    there = Path(os.path.realpath(path))
    name = there.name.casefold()
    return (name in _NAMES or shards.is_shard(name)) and (there.parent / RUN_FILE).exists()
