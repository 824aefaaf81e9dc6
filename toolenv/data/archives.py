"""Takes chosen files out of zip and tar archives that are not trusted.

Nothing is ever written under a name that an archive chose: callers say which paths they want, and members are
copied, within limits, to those. An archive that tries to reach outside is refused whole.
"""

from __future__ import annotations

import fnmatch
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol, cast

from toolenv.data.manifest import is_safe
from toolenv.errors import DataCorruptError

MAX_FILE_BYTES = 64 * 2**20
"""The largest file taken out; over ten times the largest that a suite reads."""
MAX_TOTAL_BYTES = 512 * 2**20
"""The most taken out of one archive."""
MAX_UNPACKED_BYTES = 16 * 2**30
"""The most of a tar archive that is read, wanted or not."""

_CHUNK = 2**16


class Readable(Protocol):
    """A stream of bytes, read front to back."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most ``size``; none at the end."""
        ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which files to take.

    Attributes:
        paths: exact relative paths.
        patterns: globs for more; ``*`` does not cross folders.
    """

    paths: frozenset[str]
    patterns: tuple[str, ...] = ()

    def __contains__(self, path: str) -> bool:
        return path in self.paths or (is_safe(path) and any(_matches(path, one) for one in self.patterns))

    def satisfied_by(self, taken: Iterable[str]) -> bool:
        """Whether nothing more can be wanted."""
        return not self.patterns and self.paths <= set(taken)


def unzip(archive: Path, target: Path, wanted: Wanted) -> list[str]:
    """Take the wanted files out of a zip archive, e.g. a wheel.

    Returns:
        Their relative paths.

    Raises:
        DataCorruptError: no zip, torn, over the limits, or with a member that reaches outside or is a link.
    """
    with _refusing(archive.name), zipfile.ZipFile(archive) as opened:
        taken = _Taken(archive.name, target)
        for member in opened.infolist():
            _refuse_escape(archive.name, member.filename)
            if member.filename in wanted:
                if not _is_plain_zip_member(member):
                    raise _special(archive.name, member.filename)
                taken.add(member.filename, opened.open(member))
    return taken.paths


def untar(stream: Readable, name: str, folder: str, target: Path, wanted: Wanted) -> list[str]:
    """Take the wanted files out of a gzipped tar that is read once, front to back.

    Args:
        stream: the archive's bytes; read no further than needed.
        name: what to call it in errors.
        folder: paths are relative to this folder below the archive's one top folder.
        target: where the files go.
        wanted: which files.

    Returns:
        Their relative paths.

    Raises:
        DataCorruptError: as :func:`unzip`.
    """
    file = cast(IO[bytes], stream)  # in stream mode, tarfile only reads
    with _refusing(name), tarfile.open(fileobj=file, mode="r|gz") as opened:
        taken = _Taken(name, target)
        for member in opened:
            _refuse_escape(name, member.name)
            _refuse_long(name, member)
            path = _below(member.name, folder)
            if path in wanted and not member.isdir():
                taken.add(path, _plain_content(name, opened, member))
            if wanted.satisfied_by(taken.paths):
                break
    return taken.paths


class _Taken:
    """What was taken out of one archive, and how much of it there is."""

    def __init__(self, archive: str, target: Path) -> None:
        self.archive, self.target = archive, target
        self.paths: list[str] = []
        self._total = 0

    def add(self, path: str, content: IO[bytes]) -> None:
        if path in self.paths:
            raise DataCorruptError(f"{self.archive} holds {path} twice")
        place = self.target / path
        place.parent.mkdir(parents=True, exist_ok=True)
        with content, place.open("xb") as out:
            self._copy(path, content, out)
        self.paths.append(path)

    def _copy(self, path: str, content: IO[bytes], out: IO[bytes]) -> None:
        """Counts what really comes out: sizes in headers may lie."""
        size = 0
        while chunk := content.read(_CHUNK):
            size += len(chunk)
            self._total += len(chunk)
            if size > MAX_FILE_BYTES or self._total > MAX_TOTAL_BYTES:
                raise DataCorruptError(f"{self.archive}: {path} is larger than any file of this data set")
            out.write(chunk)


@contextmanager
def _refusing(name: str) -> Iterator[None]:
    """Turn the libraries' complaints about an archive into ours."""
    try:
        yield
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
    ) as error:
        raise DataCorruptError(f"{name} cannot be unpacked: {error}") from error


def _refuse_escape(archive: str, member: str) -> None:
    parts = member.replace("\\", "/").split("/")
    if parts[0] == "" or parts[0].endswith(":") or ".." in parts:
        raise DataCorruptError(f"{archive} holds a file that would be written outside: {member!r}")


def _plain_content(archive: str, opened: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    content = opened.extractfile(member) if member.isfile() else None
    if content is None:
        raise _special(archive, member.name)
    return content


def _special(archive: str, member: str) -> DataCorruptError:
    return DataCorruptError(f"{archive} holds a link or device where a file should be: {member!r}")


def _refuse_long(archive: str, member: tarfile.TarInfo) -> None:
    if member.offset_data + member.size > MAX_UNPACKED_BYTES:
        raise DataCorruptError(f"{archive} unpacks to more than {MAX_UNPACKED_BYTES:,} bytes")


def _is_plain_zip_member(member: zipfile.ZipInfo) -> bool:
    kind = stat.S_IFMT(member.external_attr >> 16)
    return not member.is_dir() and kind in (0, stat.S_IFREG)


def _below(member: str, folder: str) -> str:
    """The member's path below ``folder`` in the top folder; ``""`` if it is elsewhere."""
    prefix = f"{folder}/" if folder else ""
    path = member.partition("/")[2]
    return path.removeprefix(prefix) if path.startswith(prefix) else ""


def _matches(path: str, pattern: str) -> bool:
    return path.count("/") == pattern.count("/") and fnmatch.fnmatchcase(path, pattern)
