"""What the project knows of a data set it does not hold: where it is, its licence, its files' hashes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wheel:
    """Data inside a wheel on a package index. Downloaded and unzipped, never installed.

    Attributes:
        name: the distribution, e.g. ``"bfcl-eval"``.
        version: the one version that is right.
        sha256: of the wheel file, lower-case hex.
    """

    name: str
    version: str
    sha256: str

    @property
    def file_prefix(self) -> str:
        """How the wheel's file name begins, up to the version, e.g. ``"bfcl_eval-"``."""
        return self.name.replace("-", "_") + "-"


@dataclass(frozen=True, slots=True)
class RepositoryArchive:
    """Data in a public repository, fetched as the archive of one commit.

    Attributes:
        repository: ``owner/name``.
        commit: the full commit id, 40 hex digits.
        folder: the folder that a layout's paths are relative to; ``""`` for the repository's root.
        parts: the parts whose files come out of this archive.
        sources: glob patterns of files to take that have no hash, since a part is derived from them.
    """

    repository: str
    commit: str
    folder: str = ""
    parts: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Own:
    """Data that only those who have them may use: nothing fetches them, and no hash of ours vouches for them.

    Attributes:
        why: why that is so, and whom to ask; a sentence.
    """

    why: str


@dataclass(frozen=True, slots=True)
class Part:
    """A group of files that are useful together.

    Attributes:
        purpose: what a suite cannot do without it; completes "needed for …".
        files: relative path → sha256, lower-case hex.
        patterns: the globs that :mod:`toolenv.data.maintain` makes ``files`` with.
    """

    purpose: str
    files: Mapping[str, str]
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """One form that a copy of the data set comes in.

    Attributes:
        name: for people and records, e.g. ``"upstream"``.
        parts: the parts whose files such a copy holds.
        derived: the parts that the suite's reader makes out of ``sources``.
        sources: glob patterns of the files that ``derived`` is made from. They have no hash of their own:
            what is made from them has.
    """

    name: str
    parts: tuple[str, ...]
    derived: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    @property
    def gives(self) -> tuple[str, ...]:
        """The parts that are there after a pull."""
        return self.parts + self.derived


@dataclass(frozen=True, slots=True)
class DataSource:
    """A data set: identity, licence, how it is fetched, and the hash of every file a suite reads.

    Attributes:
        key: what ``toolenv data pull`` takes, e.g. ``"tau-bench"``.
        title: its name for people.
        version: upstream's version or the short commit.
        licence: SPDX name.
        attribution: whom to credit, and where the licence's text is.
        fetch: a wheel, the archives that hold the data together, or :class:`Own`. Of a user's own copy the
            definition has no hashes; see :mod:`toolenv.data.own`.
        parts: name → part.
        layouts: the forms a copy may have, the best first.
    """

    key: str
    title: str
    version: str
    licence: str
    attribution: str
    fetch: Wheel | tuple[RepositoryArchive, ...] | Own
    parts: Mapping[str, Part]
    layouts: tuple[Layout, ...]

    @property
    def archives(self) -> tuple[RepositoryArchive, ...]:
        """The repository archives; none for a wheel or a user's own copy."""
        return self.fetch if isinstance(self.fetch, tuple) else ()

    @property
    def pull_command(self) -> str:
        """The command line that fetches it."""
        return f"toolenv data pull {self.key}" + (" --from DIR" if isinstance(self.fetch, Own) else "")

    @property
    def manifest_hash(self) -> str:
        """sha256 over the paths and hashes of all parts: the identity of the data, for run records."""
        listing = {name: dict(part.files) for name, part in self.parts.items()}
        return hashlib.sha256(json.dumps(listing, sort_keys=True).encode()).hexdigest()

    def files(self, parts: Iterable[str]) -> dict[str, str]:
        """Relative path → sha256 over the parts named."""
        return {path: digest for part in parts for path, digest in self.parts[part].files.items()}

    def missing_parts(self, present: Iterable[str]) -> tuple[str, ...]:
        """The parts that ``present`` lacks."""
        return tuple(name for name in self.parts if name not in set(present))
