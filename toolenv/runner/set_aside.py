"""Failed plays that a resumed run took out of its episodes: what they cost goes with the play that follows.

Their records are moved, whole, to a file beside the episodes, which is only ever appended to. The next play
of the same episode takes over the tokens and failed requests of the last record there, which holds those of
all before it; so nothing that was spent is lost, and nothing counts twice (FIELD-011, FIELD-076).
"""

from __future__ import annotations

import os
from itertools import accumulate
from pathlib import Path

from toolenv.append_only import end_of_last_line
from toolenv.rollout import Rollout
from toolenv.runner.keys import Key
from toolenv.runner.reading import PLAYED_AGAIN, read_file, read_rollout_at
from toolenv.runner.retrying import joined

SET_ASIDE_FILE = "set-aside.jsonl"


class SetAside:
    """The failed plays set aside in a run directory; only where each stands is kept in memory.

    Args:
        folder: the run directory.

    Raises:
        StoreError: a line that is no record, by number.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / SET_ASIDE_FILE
        self._starts: dict[Key, int] = _starts(self._path)

    def with_costs(self, last: Rollout) -> Rollout:
        """A play with what failed ones of the same episode cost before the run was resumed.

        Raises:
            StoreError: the record of the earlier play is damaged.
        """
        start = self._starts.get(last.episode.key)
        return last if start is None else joined([read_rollout_at(self._path, start)], last)


def set_aside_failed(path: Path) -> None:
    """Move the episodes that met a failed server out of one of a run's files; without any, leave it.

    A process killed in between has copied them, and a second copy of a record says what the first one does.

    Raises:
        StoreError: a line that is no record, by number.
    """
    failed = {number for number, one in enumerate(read_file(path)) if one.decided_by in PLAYED_AGAIN}
    if not failed:
        return
    aside, temporary = path.with_name(SET_ASIDE_FILE), path.with_suffix(".partial")
    _cut_off_half_a_line(aside)
    with path.open("rb") as old, temporary.open("wb") as kept, aside.open("ab") as moved:
        for number, line in enumerate(old):
            (moved if number in failed else kept).write(line)
        for file in (moved, kept):
            file.flush()
            os.fsync(file.fileno())
    os.replace(temporary, path)


def _cut_off_half_a_line(aside: Path) -> None:
    """The record that a crash left unfinished here still stands where it came from."""
    with aside.open("ab+") as file:
        file.truncate(end_of_last_line(file, file.seek(0, os.SEEK_END)))


def _starts(path: Path) -> dict[Key, int]:
    """Where the last record of each episode begins."""
    if not path.exists():
        return {}
    with path.open("rb") as file:
        starts = accumulate(map(len, file), initial=0)
        return {one.key: start for one, start in zip(read_file(path), starts, strict=False)}
