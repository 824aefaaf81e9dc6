"""Data that users bring themselves: no hash is known beforehand, so each copy vouches for itself.

What a pull took is hashed and noted in its record, so that a copy that changed since is found out like any
other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from toolenv.data.manifest import file_hash, is_safe
from toolenv.data.source import DataSource, Own
from toolenv.errors import DataCorruptError, DataMissingError


def as_held(source: DataSource, folder: Path) -> DataSource:
    """The definition with the files that a user's folder holds, and only the layouts that it has.

    Raises:
        DataMissingError: it is no folder, or no layout is there; says which files are looked for.
        DataCorruptError: a file's name is not fit for every platform.
    """
    if not folder.is_dir():
        raise DataMissingError(f"{folder}: give the folder that holds your copy of {source.title}")
    files = {name: _files(folder, part.patterns) for name, part in source.parts.items()}
    layouts = tuple(one for one in source.layouts if all(files[part] for part in one.parts))
    if not layouts:
        absent = [name for name in source.layouts[-1].parts if not files[name]]
        patterns = ", ".join(pattern for name in absent for pattern in source.parts[name].patterns)
        raise DataMissingError(f"{folder} is no copy of {source.title}: it holds no {patterns}")
    return replace(as_pulled(source, files), layouts=layouts)


def as_pulled(source: DataSource, files: Mapping[str, Mapping[str, str]]) -> DataSource:
    """The definition with files by part; of data that are no user's own, the definition itself."""
    if not isinstance(source.fetch, Own):
        return source
    return replace(
        source, parts={name: replace(part, files=files.get(name, {})) for name, part in source.parts.items()}
    )


def _files(folder: Path, patterns: tuple[str, ...]) -> dict[str, str]:
    """Relative path → sha256; links are left out, for they may lead anywhere."""
    found = {path for pattern in patterns for path in folder.glob(pattern)}
    plain = {path.relative_to(folder).as_posix(): path for path in sorted(found) if _is_plain(path, folder)}
    for path in plain:
        if not is_safe(path):
            raise DataCorruptError(f"{plain[path]}: a name with a colon or backslash cannot be taken")
    return {path: file_hash(plain[path]) for path in sorted(plain)}


def _is_plain(path: Path, folder: Path) -> bool:
    inside = [path, *path.parents][: len(path.relative_to(folder).parts)]
    return path.is_file() and not any(one.is_symlink() for one in inside)
