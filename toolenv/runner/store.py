"""The run directory: ``run.json`` and ``episodes.jsonl``, one finished episode a line, appended whole.

A file that is full is followed by another (:mod:`toolenv.runner.shards`). Killing the process at any moment
loses at most the episodes in flight. Resuming a run takes the episodes that met a failed server out of their
file, which is replaced whole, and plays them again, so that every key stays unique and nothing counts twice
(FIELD-076); what they cost goes with the new play (:mod:`toolenv.runner.set_aside`). Episodes invalid for
another reason stay: they would fail again.

What ended before its first episode is no run yet: it leaves nothing, and where a process was killed, the same
command begins anew.
"""

from __future__ import annotations

import json
import operator
import os
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, cast

from toolenv.append_only import end_of_last_line, locked, unwritable
from toolenv.errors import StoreError
from toolenv.json_values import mend_surrogates
from toolenv.policy import Privileged
from toolenv.rollout import Rollout
from toolenv.runner import shards
from toolenv.runner.keys import KeySet
from toolenv.runner.plan import JUDGED_BY, RunConfig, described, versions, without_reaching
from toolenv.runner.preflights import PREFLIGHTS_FILE
from toolenv.runner.reading import PLAYED_AGAIN, RUN_FILE, RUN_VERSION, read_header, read_own_episodes
from toolenv.runner.set_aside import SET_ASIDE_FILE, SetAside, set_aside_failed
from toolenv.runner.settings import settings_of

LOCK_FILE = ".lock"


class TornLineWarning(UserWarning):
    """The last line of a run was cut off by a crash; its episode will be run again."""


def make_header(
    config: RunConfig,
    policy: object,
    manifests: Mapping[str, str],
    planned: Mapping[str, int],
    origins: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> dict[str, Any]:
    """What ``run.json`` says of a run.

    Args:
        config: what is run.
        policy: who decides; its name, and its settings where they have ``to_json()``, are kept.
        manifests: the hash of each env's mask manifest.
        planned: how many episodes each env has.
        origins: what the tasks of each env come from, see :func:`toolenv.runner.plan.origins`.
    """
    header = {
        "version": RUN_VERSION,
        "config": config.to_json(),
        "config_hash": config.hash,
        "agent": getattr(policy, "name", config.agent),
        "agent_settings": settings_of(policy),
        "privileged": isinstance(policy, Privileged),
        "manifests": dict(manifests),
        "origins": dict(origins),
        "planned": dict(planned),
        "versions": versions(),
    }
    return cast("dict[str, Any]", json.loads(json.dumps(header, allow_nan=False, default=described)))


def finished(folder: Path, header: Mapping[str, Any], *, resume: bool) -> KeySet:
    """The episodes that a directory already holds of the run ``header`` describes. Nothing is changed.

    Episodes that met a failed server are not among them: they are to be run again.

    Raises:
        StoreError: it holds episodes of a run already (without ``resume``), another run or one of another
            version of toolenv (with it), or no run at all but episodes.
    """
    try:
        started = (folder / RUN_FILE).exists()
        filled = bool(shards.shard_paths(folder)) or (folder / SET_ASIDE_FILE).exists()
        begun = started and (resume or has_begun(folder))
    except OSError as error:
        raise StoreError(f"{folder} cannot be read: {error.strerror or error}") from error
    if not started and filled:
        raise StoreError(f"{folder} holds episodes but no {RUN_FILE}; give another --out")
    if not begun:
        return KeySet()
    if not resume:
        raise StoreError(
            f"{folder} already holds a run; add --resume to go on with it, or give another --out"
        )
    there = read_header(folder)
    _check_same(folder, there, header)
    _check_versions(folder, there, header)
    return KeySet(one.key for one in read_own_episodes(folder) if one.decided_by not in PLAYED_AGAIN)


def has_begun(folder: Path) -> bool:
    """Whether a run is worth keeping: it has an episode, or had none to play."""
    if (folder / SET_ASIDE_FILE).exists() or not sum(read_header(folder)["planned"].values()):
        return True
    return shards.hold_episodes(folder)


class RunStore:
    """A run directory open for writing; use it as a context manager.

    A new one that an exception leaves before the first episode is taken away again.

    Args:
        folder: the directory; made if absent.
        header: what the run is; see :func:`make_header`.
        resume: go on with what is there; episodes that met a failed server are taken out, to be run again.

    Attributes:
        done: the episodes it holds.

    Raises:
        StoreError: not writable, in use by another process, there already (without ``resume``), or
            holding another run (with it).
    """

    def __init__(self, folder: Path, header: Mapping[str, Any], *, resume: bool = False) -> None:
        self.folder = folder
        self._place = folder.absolute()  # a policy may change the working directory
        self._lock = locked(self._place / LOCK_FILE, folder)
        try:
            self.done = finished(folder, header, resume=resume)
            self._is_new = not (resume and (folder / RUN_FILE).exists())
            self._aside, self._file = _open(folder, header, self._is_new)
        except BaseException:
            self._lock.release()
            raise

    def append(self, rollout: Rollout) -> None:
        """Add a finished episode, once, with what failed plays of it cost before the run was resumed.

        Raises:
            StoreError: it is there already, is not fit for JSON, or cannot be written (a full disk); of
                such an episode nothing is left in the file.
        """
        key = rollout.episode.key
        if key in self.done:
            raise StoreError(f"episode {key} is already in {self.folder}")
        line = _line(self._aside.with_costs(rollout))
        try:
            self._write(line)
        except OSError as error:
            raise unwritable(self.folder, error) from error
        self.done.add(key)

    def _write(self, line: bytes) -> None:
        start = self._file.seek(0, os.SEEK_END)
        if start >= shards.SHARD_BYTES:
            full, start = self._file, 0
            self._file = _append_to(shards.shard_path(self._place, len(shards.shard_paths(self._place))))
            full.close()
        try:
            while line:
                line = line[self._file.write(line) or 0 :]
        except OSError:
            with suppress(OSError):
                self._file.truncate(start)
            raise

    def is_empty(self) -> bool:
        """Whether no episode is in the files. A signal may come before ``done`` knows of one that is."""
        return not shards.hold_episodes(self._place)

    def close(self) -> None:
        """Close the files and let others write."""
        self._file.close()
        self._lock.release()

    def __enter__(self) -> RunStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        if kind is not None and self._is_new and self.is_empty():
            with suppress(OSError):
                self._take_away()
        self.close()
        if not (self._place / RUN_FILE).exists():
            with suppress(OSError):
                self._place.rmdir()

    def _take_away(self) -> None:
        """Leave nothing of a run that has no episode; the lock file goes while the lock is held."""
        names = (RUN_FILE, PREFLIGHTS_FILE, LOCK_FILE)
        for path in (*shards.shard_paths(self._place), *(self._place / name for name in names)):
            path.unlink(missing_ok=True)


def _line(rollout: Rollout) -> bytes:
    record = {"episode": rollout.episode.to_json(), "trace": rollout.trace.to_json()}
    try:
        # Counts may be whole numbers of numpy or torch, which have an index but are no int.
        text = json.dumps(
            record, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=operator.index
        )
    except (TypeError, ValueError) as error:
        raise StoreError(f"episode {rollout.episode.key} is not fit for JSON: {error}") from error
    return mend_surrogates(text).encode() + b"\n"


def difference(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """The first thing that two headers of one run would have in common and these have not; empty if none."""
    old, new = _identity(there), _identity(here)
    for name in sorted({*old, *new}, key=lambda name: (name == "planned", name)):  # it follows from others
        if old.get(name) != new.get(name):
            return f"{name} is {old.get(name)!r} there and {new.get(name)!r} here"
    return ""


def _check_same(folder: Path, there: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    found = difference(there, here)
    if found:
        raise StoreError(f"{folder} holds another run: {found}; give another --out")


def _check_versions(folder: Path, there: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    """Refuse to mix episodes that were made and judged by different code."""
    old, new = there.get("versions") or {}, here["versions"]
    for name in JUDGED_BY:
        before, now = old.get(name, "a version not recorded"), new[name]
        if before != now:
            raise StoreError(
                f"{folder} holds a run made with {name} {before}, and this is {name} {now}: their episodes "
                f"do not mix; go on with {name} {before}, or give another --out"
            )


def _identity(header: Mapping[str, Any]) -> dict[str, Any]:
    """What two headers of one run have in common."""
    settings = without_reaching(header["agent_settings"])
    tasks = header["config"].get("tasks") or []  # their order means something where the first are taken
    return {
        **header["config"],
        "tasks": tasks if header["config"].get("limit") else sorted(set(tasks)),
        **{f"agent setting {name}": value for name, value in settings.items()},
        **{f"corrections of {env}": value for env, value in _corrections(header).items()},
        **{f"mask manifest of {env}": value for env, value in header["manifests"].items()},
        "agent name": header["agent"],
        "planned": header["planned"],
        "baseline that it goes on from": header.get("baseline", {}).get("failed"),
        "message version": header.get("message_version"),
    }


def _corrections(header: Mapping[str, Any]) -> dict[str, str]:
    """The hash of the corrections of each env that has some; runs of earlier versions have none."""
    found = {env: origin["corrections"] for env, origin in header.get("origins", {}).items()}
    return {env: corrections["hash"] for env, corrections in found.items() if corrections}


def _open(folder: Path, header: Mapping[str, Any], is_new: bool) -> tuple[SetAside, IO[bytes]]:
    """Write the header of a new run, mend the files of an old one, and open the last."""
    try:
        if is_new:
            (folder / PREFLIGHTS_FILE).unlink(missing_ok=True)  # of what never became a run
            _write_whole(folder / RUN_FILE, json.dumps(header, indent=1) + "\n")
        paths = shards.shard_paths(folder)
        for path in paths:
            _repair(path)
            set_aside_failed(path)
        return SetAside(folder.absolute()), _append_to(paths[-1] if paths else shards.shard_path(folder, 0))
    except OSError as error:
        raise unwritable(folder, error) from error


def _append_to(path: Path) -> IO[bytes]:
    return path.open("ab", buffering=0)


def _write_whole(path: Path, text: str) -> None:
    temporary = path.with_suffix(".partial")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)


def _repair(path: Path) -> None:
    """Cut off a last line that a crash left unfinished."""
    with path.open("rb+") as file:
        end = file.seek(0, os.SEEK_END)
        whole = end_of_last_line(file, end)
        file.truncate(whole)
    if whole < end:
        lost = f"{path}: dropped an unfinished last line of {end - whole} bytes"
        warnings.warn(lost, TornLineWarning, stacklevel=4)
