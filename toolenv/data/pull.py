"""One pull, from the network or a local copy: obtain, take, derive, verify, put in place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from toolenv.data.copies import Copy, recognise, take
from toolenv.data.download import Report
from toolenv.data.manifest import Problem, find_problems
from toolenv.data.obtain import obtain
from toolenv.data.own import as_held
from toolenv.data.record import record_of, write_record
from toolenv.data.source import DataSource, Own
from toolenv.data.stamps import stamp_of
from toolenv.data.swap import swap_in, workshop
from toolenv.errors import DataCorruptError, DataMissingError

Derivation: TypeAlias = Callable[[Path, Path], None]
"""``derive(upstream, target)`` reads upstream's sources in one folder, as data, running nothing, and writes
the files of the derived parts below the other, byte for byte as their hashes say."""

_PROBLEMS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull to be made.

    Attributes:
        source: what to pull.
        origin: a local copy, folder or archive file; ``None`` for the network.
        derive: makes the derived parts of an upstream copy; ``None`` if there is no reader for it.
        archive_host: serves repository archives: ``https://codeload.github.com``, a mirror, a test's server.
        report: told in a line each what happens.
        hasty: give up within seconds where no network answers.
    """

    source: DataSource
    origin: Path | None
    derive: Derivation | None
    archive_host: str
    report: Report
    hasty: bool = False

    def into(self, target: Path) -> None:
        """Make ``target`` a verified copy, or leave it as it was. The caller holds the target's lock.

        Raises:
            DataMissingError: the data cannot be had; the message says how else to get them.
            DataCorruptError: what came is not what the manifest says.
        """
        self._refuse_hopeless()
        if isinstance(self.source.fetch, Own) and self.origin is not None:
            replace(self, source=as_held(self.source, self.origin))._take_into(target)
        else:
            self._take_into(target)

    def _take_into(self, target: Path) -> None:
        with workshop(target) as work:
            folder = obtain(self.source, self.origin, self.archive_host, work, self.report, hasty=self.hasty)
            copy = recognise(self.source, folder, label=str(self.origin or "what upstream sent"))
            fresh = work / "fresh"
            self._build(copy, fresh)
            swap_in(fresh, target, work)

    def _build(self, copy: Copy, fresh: Path) -> None:
        self.report(f"checking {len(self.source.files(copy.layout.gives))} files")
        take(self.source, copy, fresh)
        if copy.layout.derived:
            self._reader()(copy.folder, fresh)
        files = self.source.files(copy.layout.gives)
        stamps = {path: stamp for path in files if (stamp := stamp_of(fresh / path))}
        problems = find_problems(fresh, files)
        if problems:
            raise DataCorruptError(_summary(self.source, problems))
        write_record(record_of(self.source, copy.layout, self.origin, stamps), fresh)

    def _refuse_hopeless(self) -> None:
        """What is sure to fail fails before anything is downloaded."""
        if self.origin is None and isinstance(self.source.fetch, Own):
            raise DataMissingError(
                f"{self.source.title} is not fetched: {self.source.fetch.why} "
                f"Take your copy with: {self.source.pull_command}"
            )
        if self.origin is None and any(archive.sources for archive in self.source.archives):
            self._reader()
        if self.origin is not None and not self.origin.exists():
            raise DataMissingError(f"{self.origin}: there is no such file or folder to take data from")

    def _reader(self) -> Derivation:
        if self.derive is None:
            usable = " or ".join(repr(layout.name) for layout in self.source.layouts if not layout.derived)
            raise DataMissingError(
                f"upstream keeps part of {self.source.title} as Python source, which nothing here reads; "
                f"'{self.source.pull_command} --from DIR' takes a copy in layout {usable}"
            )
        return self.derive


def _summary(source: DataSource, problems: list[Problem]) -> str:
    shown = "; ".join(str(problem) for problem in problems[:_PROBLEMS_SHOWN])
    more = f"; and {len(problems) - _PROBLEMS_SHOWN} more" if len(problems) > _PROBLEMS_SHOWN else ""
    return f"this is not the pinned version of {source.title} ({source.version}): {shown}{more}"
