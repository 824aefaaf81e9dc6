"""What is at a data set's place, going by the pull's record; files that have changed since are hashed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from toolenv.data.manifest import Problem
from toolenv.data.own import as_pulled
from toolenv.data.record import PullRecord, Stamp, read_record
from toolenv.data.source import DataSource
from toolenv.data.stamps import check
from toolenv.errors import DataCorruptError, DataMissingError

State: TypeAlias = Literal["absent", "whole", "partial", "outdated", "damaged"]


@dataclass(frozen=True, slots=True)
class Found:
    """What is at a data set's place.

    Attributes:
        source, target: the data set and its place.
        state: see :class:`DataStatus`.
        record: of the pull; ``None`` if there is none that can be read.
        problems: files that are missing or changed, where the state is ``damaged``.
        stamps: of the files that are right.
    """

    source: DataSource
    target: Path
    state: State
    record: PullRecord | None = None
    problems: tuple[Problem, ...] = ()
    stamps: Mapping[str, Stamp] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that were pulled."""
        return () if self.record is None else _known_parts(self.source, self.record)

    @property
    def files(self) -> dict[str, str]:
        """Relative path → sha256 of those parts, by today's manifest."""
        return self.source.files(self.parts)


def look(source: DataSource, target: Path) -> Found:
    """Look at a data set's place. Costs a ``stat`` per file, and a hash where that is not as recorded."""
    if not target.exists():
        return Found(source, target, "absent")
    record = read_record(target)
    if record is None:
        return Found(source, target, "damaged")
    source = as_pulled(source, record.files)
    if record.manifest != source.manifest_hash:
        return Found(source, target, "outdated", record)
    parts = _known_parts(source, record)
    checked = check(target, source.files(parts), record.stamps)
    undamaged: State = "partial" if source.missing_parts(parts) else "whole"
    state = "damaged" if checked.problems else undamaged
    return Found(source, target, state, record, checked.problems, checked.stamps)


@dataclass(frozen=True, slots=True)
class DataStatus:
    """One row of ``toolenv data status``.

    Attributes:
        key, title, version, licence, attribution: of the data set, see :class:`DataSource`.
        state: ``absent``; ``whole``; ``partial`` (verified, but parts are lacking); ``outdated`` (verified
            against another manifest than this version's); ``damaged`` (files are gone or changed, or no pull
            made it).
        path: where it is or would be.
        size: bytes of the manifest's files that are there.
        layout: the form of the copy it was taken from, or ``""``.
        parts, missing_parts: what is there and what is not.
    """

    key: str
    title: str
    version: str
    licence: str
    attribution: str
    state: State
    path: Path
    size: int
    layout: str
    parts: tuple[str, ...]
    missing_parts: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """JSON values."""
        return {**asdict(self), "path": str(self.path)}


def status_of(found: Found) -> DataStatus:
    """The row that tells people."""
    source, target = found.source, found.target
    return DataStatus(
        key=source.key,
        title=source.title,
        version=source.version,
        licence=source.licence,
        attribution=source.attribution,
        state=found.state,
        path=target,
        size=sum((target / path).stat().st_size for path in found.files if (target / path).is_file()),
        layout=found.record.layout if found.record else "",
        parts=found.parts,
        missing_parts=source.missing_parts(found.parts),
    )


def complaint(found: Found) -> DataMissingError | DataCorruptError:
    """Why a place that is neither ``whole`` nor ``partial`` cannot be used, and the command that mends it."""
    source, target, command = found.source, found.target, found.source.pull_command
    if found.state == "absent":
        return DataMissingError(f"{source.title} is not at {target}; get it with: {command}")
    if found.record is None:
        return DataCorruptError(
            f"{target} was not put there by a pull, so nothing vouches for it; "
            f"move it away or replace it with: {command} --force"
        )
    if found.state == "outdated":
        return DataCorruptError(
            f"{target} was checked against manifest {found.record.manifest[:12]} of {source.title}, and this "
            f"version needs {source.manifest_hash[:12]} ({source.version}); replace it with: {command}"
        )
    return DataCorruptError(f"{_damage(found)} since the pull; repair it with: {command} --force")


def lacking(found: Found, part: str) -> DataMissingError:
    """A part that was not in the copy pulled from."""
    return DataMissingError(
        f"{found.target} lacks the part {part!r} of {found.source.title}, "
        f"needed for {found.source.parts[part].purpose}; get it with: {found.source.pull_command}"
    )


def _damage(found: Found) -> str:
    first, more = found.problems[0], len(found.problems) - 1
    others = f" (and {more} more files are gone or changed)" if more else ""
    if first.kind == "missing":
        return f"{found.target} lacks {first.path}{others}"
    return f"{found.target / first.path} is not what was pulled, its sha256 has changed{others}"


def _known_parts(source: DataSource, record: PullRecord) -> tuple[str, ...]:
    return tuple(part for part in record.parts if part in source.parts)
