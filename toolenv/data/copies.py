"""Recognises a copy of a data set by its layout and takes the files out of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from toolenv.data.manifest import missing_files
from toolenv.data.source import DataSource, Layout
from toolenv.errors import DataMissingError


@dataclass(frozen=True, slots=True)
class Copy:
    """A folder that has everything a layout asks for. The files' content is not checked yet.

    Attributes:
        layout: the layout it has.
        folder: what the layout's paths are relative to.
    """

    layout: Layout
    folder: Path


def recognise(source: DataSource, folder: Path, label: str) -> Copy:
    """The first layout of a data set that a folder has in full.

    Paths may start in the folder itself or where the data stand inside the upstream repository.

    Args:
        source: the data set.
        folder: the copy.
        label: what to call the copy in an error.

    Raises:
        DataMissingError: it has none; tells what the nearest layout lacks.
    """
    lacks: dict[str, list[str]] = {}
    for layout in source.layouts:
        for root in _roots(source, folder):
            absent = _absent(source, layout, root)
            if not absent:
                return Copy(layout, root)
            lacks[layout.name] = min(absent, lacks.get(layout.name, absent), key=len)
    raise DataMissingError(_explain(source, label, lacks))


def take(source: DataSource, copy: Copy, target: Path) -> None:
    """Copy the files that have hashes, and no others, into a new folder."""
    for path in source.files(copy.layout.parts):
        place = target / path
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(copy.folder / path, place)


def _roots(source: DataSource, folder: Path) -> Iterator[Path]:
    yield folder
    yield from (folder / inside for inside in sorted({one.folder for one in source.archives}) if inside)


def _absent(source: DataSource, layout: Layout, root: Path) -> list[str]:
    unmatched = [pattern for pattern in layout.sources if not any(root.glob(pattern))]
    return missing_files(root, source.files(layout.parts)) + unmatched


def _explain(source: DataSource, label: str, lacks: dict[str, list[str]]) -> str:
    name, absent = min(lacks.items(), key=lambda item: len(item[1]))
    shown = ", ".join(absent[:3]) + (", …" if len(absent) > 3 else "")
    layouts = ", ".join(repr(layout.name) for layout in source.layouts)
    return (
        f"{label} is no copy of {source.title} in a layout known here ({layouts}); "
        f"{name!r}, the nearest, has {len(absent)} more: {shown}"
    )
