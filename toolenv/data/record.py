"""The note a verified pull leaves beside the data, so that nobody needs to hash files again to trust them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from toolenv.data.manifest import RECORD_NAME
from toolenv.data.source import DataSource, Layout, Own, Wheel

Stamp: TypeAlias = tuple[int, int]
"""A file's size in bytes and its time of change in nanoseconds."""


@dataclass(frozen=True, slots=True)
class PullRecord:
    """What was pulled.

    Attributes:
        key, version: of the data set.
        pins: the wheel's hash or the archives' ``owner/name@commit``.
        manifest: :attr:`DataSource.manifest_hash` at the time.
        layout: the form of the copy it was taken from.
        parts: the parts that are there.
        origin: the folder or file of ``--from``, or ``""`` for the network.
        stamps: of each file when its hash was last found right; a file without one is hashed when looked at.
        files: part → path → sha256 of a user's own copy, see :mod:`toolenv.data.own`; empty otherwise.
    """

    key: str
    version: str
    pins: tuple[str, ...]
    manifest: str
    layout: str
    parts: tuple[str, ...]
    origin: str = ""
    stamps: Mapping[str, Stamp] = field(default_factory=dict)
    files: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def record_of(
    source: DataSource, layout: Layout, origin: Path | None, stamps: Mapping[str, Stamp]
) -> PullRecord:
    """The record of a pull of that layout; ``stamps`` of its files, all of which were found right."""
    is_own = isinstance(source.fetch, Own)
    pins = [source.fetch.sha256] if isinstance(source.fetch, Wheel) else []
    pins += [f"{archive.repository}@{archive.commit}" for archive in source.archives]
    return PullRecord(
        key=source.key,
        version=source.version,
        pins=tuple(pins),
        manifest=source.manifest_hash,
        layout=layout.name,
        parts=layout.gives,
        origin="" if origin is None else str(origin),
        stamps=stamps,
        files={name: dict(part.files) for name, part in source.parts.items()} if is_own else {},
    )


def write_record(record: PullRecord, folder: Path) -> None:
    """Leave the record in the data set's folder."""
    plain = {name: value for name, value in asdict(record).items() if name != "files" or value}
    (folder / RECORD_NAME).write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")


def read_record(folder: Path) -> PullRecord | None:
    """The record in a folder; ``None`` if there is none that can be read."""
    try:
        raw = json.loads((folder / RECORD_NAME).read_text(encoding="utf-8"))
        return PullRecord(
            **{**raw, "pins": tuple(raw["pins"]), "parts": tuple(raw["parts"]), "stamps": _stamps(raw)}
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _stamps(raw: Mapping[str, Any]) -> dict[str, Stamp]:
    """Records of pulls before there were stamps have none."""
    return {path: (size, changed) for path, (size, changed) in raw.get("stamps", {}).items()}
