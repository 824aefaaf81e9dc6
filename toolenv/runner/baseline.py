"""A finished baseline run, as arms that go on from it need it: which episodes failed, and their traces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from toolenv.canonical import digest
from toolenv.episode import Episode
from toolenv.errors import DataCorruptError, StoreError
from toolenv.runner.keys import Key
from toolenv.runner.reading import read_file, read_header
from toolenv.runner.shards import shard_paths
from toolenv.trace import Trace


def has_failed(episode: Episode) -> bool:
    """Whether an episode is a failure: an outcome, assessed, and no success.

    An infrastructure failure is none; what could not be assessed may have been right.
    """
    return episode.valid and episode.success is False


def fingerprint(episodes: Iterable[Episode]) -> str:
    """Tells the failed episodes of one run from those of another with the same configuration.

    A model seldom answers twice alike: what goes on from one run says nothing of the other.
    """
    return digest(
        sorted(
            [*one.key, one.seed, one.decided_by, one.turns, one.calls, one.input_tokens, one.output_tokens]
            for one in episodes
            if has_failed(one)
        )
    )


class Baseline:
    """The failed episodes of a run directory; only where each stands is kept in memory.

    Args:
        folder: the run directory.

    Attributes:
        folder: the same.
        header: its ``run.json``.
        failed: the keys of the failed episodes.
        fingerprint: see :func:`fingerprint`.

    Raises:
        StoreError: it cannot be read, or not all of its episodes have finished.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.header = folder, read_header(folder)
        failed: list[Episode] = []
        self._places: dict[tuple[str, int], tuple[Path, int]] = {}
        finished: set[Key] = set()
        planned = sum(self.header["planned"].values())
        for episode, place in _with_places(folder):
            if episode.key in finished:
                raise StoreError(f"{folder} holds two episodes {episode.key}: which of them counts?")
            finished.add(episode.key)
            if has_failed(episode):
                failed.append(episode)
                self._places[episode.task_id, episode.seed] = place[0].absolute(), place[1]
        if len(finished) < planned:
            raise StoreError(
                f"{folder} holds {len(finished):,} of {planned:,} episodes: a baseline must be finished"
                " before other arms go on from it; run it with --resume"
            )
        self.failed: frozenset[Key] = frozenset(one.key for one in failed)
        self.fingerprint = fingerprint(failed)

    def trace(self, task_id: str, seed: int) -> Trace:
        """The trace of a failed episode.

        Raises:
            StoreError: there is no such episode, or its file has changed.
        """
        try:
            path, start = self._places[task_id, seed]
            trace = Trace.from_json(_record_at(path, start)["trace"])
        except (LookupError, ValueError, OSError, DataCorruptError) as error:
            raise StoreError(
                f"{self.folder}: no failed episode of task {task_id!r} with seed {seed} can be read: {error}"
            ) from error
        if (trace.task_id, trace.seed) != (task_id, seed):
            raise StoreError(
                f"{self.folder}: the trace of task {task_id!r}, seed {seed} is one of task"
                f" {trace.task_id!r}, seed {trace.seed}"
            )
        return trace


def _with_places(folder: Path) -> Iterator[tuple[Episode, tuple[Path, int]]]:
    """Every finished episode, and where its line begins."""
    for path in shard_paths(folder):
        for episode, start in zip(read_file(path), _line_starts(path), strict=False):
            yield episode, (path, start)


def _line_starts(path: Path) -> Iterator[int]:
    start = 0
    with path.open("rb") as file:
        for line in file:
            yield start
            start += len(line)


def _record_at(path: Path, start: int) -> Mapping[str, Any]:
    from pydantic_core import from_json

    with path.open("rb") as file:
        file.seek(start)
        record: Mapping[str, Any] = from_json(file.readline(), allow_inf_nan=False)
        return record
