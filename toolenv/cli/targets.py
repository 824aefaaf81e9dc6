"""Files that a command will write: before its work, whether they can be, and what would be lost by it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from toolenv.cli.outside import NOWHERE, is_nowhere
from toolenv.errors import UsageError
from toolenv.runner.kept import is_kept


def check_targets(targets: Mapping[str, Path | None], inputs: Iterable[Path | None] = ()) -> None:
    """Refuse, before any work, files that cannot be written, or would replace what is no earlier output.

    Args:
        targets: by the option that names it; ``None`` for one that was not given.
        inputs: what the command reads; likewise.

    Raises:
        UsageError: one cannot be written, is an input, a file of a run, or that of another option too; names
            the option and the path.
    """
    given = {option: path for option, path in targets.items() if path is not None}
    read = [one for one in inputs if one is not None]
    for option, path in given.items():
        check_writable(option, path)
    for number, (option, path) in enumerate(given.items()):
        _check_replaces_nothing(option, path, read)
        for other in list(given)[:number]:
            if _same(given[other], path):
                raise UsageError(f"{other} and {option} are both {path}; give each a file of its own")


def _check_replaces_nothing(option: str, path: Path, read: Iterable[Path]) -> None:
    if is_kept(path):
        raise UsageError(f"{option} {path} is a file of the run in {path.parent}; give another name")
    for one in read:
        if _same(one, path):
            raise UsageError(f"{option} {path} is read by the same command; give another name")


def _same(one: Path, other: Path) -> bool:
    """Whether two paths are of one file, by whatever links; what cannot be looked at is of none."""
    try:
        return os.path.realpath(one) == os.path.realpath(other) or one.samefile(other)
    except OSError:
        return False


def check_writable(option: str, path: Path) -> None:
    """Find out before long work whether a file can be written; nothing is left behind.

    Raises:
        UsageError: it cannot; names the option, the path and what is in the way.
    """
    try:
        folder, absent = _as_far_as_there(path)
        if path.is_dir():
            raise UsageError(f"{option} {path} is a folder; give the name of a file")
        if not folder.is_dir():
            raise UsageError(f"{option} {path} cannot be written: {folder} is no folder")
        _try(folder, path, absent)
    except OSError as error:
        raise UsageError(f"{option} {path} cannot be written: {_reason(error)}") from error


def check_folder(path: Path, option: str = "") -> None:
    """Find out before long work whether files can be written into a folder, which need not be there yet.

    Args:
        path: the folder.
        option: what names it, if an option does.

    Raises:
        UsageError: they cannot; see :func:`check_writable`.
    """
    named = f"{option} {path}".lstrip()
    try:
        where = path if path.exists() else _as_far_as_there(path)[0]
        if not where.is_dir():
            raise UsageError(f"{named} cannot be written: {where} is no folder")
        _try_folder(where)
    except OSError as error:
        raise UsageError(f"{named} cannot be written: {_reason(error)}") from error


def _as_far_as_there(path: Path) -> tuple[Path, bool]:
    """The nearest thing above a path that is there, and whether the path itself is absent.

    Raises:
        OSError: a name is too long, or something cannot be looked at. The system looks no further than to the
            first absent folder; names below it are looked up here.
    """
    whole = path.absolute()
    absent = not whole.exists()
    above = next(one for one in whole.parents if one.exists())
    for part in whole.relative_to(above).parts:
        (above / part).exists()
    return above, absent


def _try(folder: Path, path: Path, absent: bool) -> None:
    """Permissions alone do not tell: root has them all, also where nothing can be written."""
    if absent:
        _try_folder(folder)
    elif path.is_file():
        with path.open("r+b"):
            pass
    elif not os.access(path, os.W_OK):  # a device or a pipe, which opening may change
        raise PermissionError(None, "no permission")


def _try_folder(folder: Path) -> None:
    if not os.access(folder, os.W_OK):
        raise PermissionError(None, f"no permission for {folder}")
    with tempfile.TemporaryFile(dir=folder):
        pass


def _reason(error: OSError) -> str:
    return NOWHERE if is_nowhere() else error.strerror or str(error)
