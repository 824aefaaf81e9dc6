"""The note a verified pull leaves beside the data, so that nobody needs to hash files again to trust them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from toolenv.data.manifest import RECORD_NAME
from toolenv.data.source import DataSource, Layout, Wheel


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
    """

    key: str
    version: str
    pins: tuple[str, ...]
    manifest: str
    layout: str
    parts: tuple[str, ...]
    origin: str = ""


def record_of(source: DataSource, layout: Layout, origin: Path | None) -> PullRecord:
    """The record of a pull of that layout."""
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
    )


def write_record(record: PullRecord, folder: Path) -> None:
    """Leave the record in the data set's folder."""
    (folder / RECORD_NAME).write_text(json.dumps(asdict(record), indent=1) + "\n", encoding="utf-8")


def read_record(folder: Path) -> PullRecord | None:
    """The record in a folder; ``None`` if there is none that can be read."""
    try:
        raw = json.loads((folder / RECORD_NAME).read_text(encoding="utf-8"))
        return PullRecord(**{**raw, "pins": tuple(raw["pins"]), "parts": tuple(raw["parts"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None
