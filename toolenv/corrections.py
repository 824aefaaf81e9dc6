"""Corrections of a data set's own answers by those who use it: benchmarks err (FIELD-063, FIELD-094).

A corrections file::

    {"version": 1, "suite": "BFCL", "data": "sha256:…",
     "corrections": {TASK_ID: {"action": "replace" | "widen" | "exclude",
                               "gold": …, "reason": "…", "source": "…"}, …}}

``replace`` puts ``gold`` in the place of the data set's own answer or a part of it, ``widen`` accepts it too,
``exclude`` leaves the task out and has no ``gold``. What a suite takes as ``gold`` stands in its page of the
docs. ``data`` may be absent; it names the version of the data that the corrections were made for, and others
are refused. The hash covers all of it, reasons and sources too, but not the layout of the file.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast, get_args

from toolenv.errors import DataCorruptError, DataMissingError, UnknownNameError, UsageError
from toolenv.hashed_json import content_hash, strict_json

if TYPE_CHECKING:
    from toolenv.task import Task

CORRECTIONS_VERSION: Final = 1

Action: TypeAlias = Literal["replace", "widen", "exclude"]

ACTIONS: Final[tuple[Action, ...]] = get_args(Action)
_FILE_FIELDS: Final = ("version", "suite", "data", "corrections")
_FIELDS: Final = ("action", "gold", "reason", "source")


@dataclass(frozen=True, slots=True)
class Correction:
    """What is to be done about one task.

    Attributes:
        action: see the module.
        reason: why, in words.
        source: where that is known from, e.g. the address of an issue.
        gold: the answer or the part of one; ``None`` for ``exclude``.
        where: the file and the task, for errors.
    """

    action: Action
    reason: str
    source: str
    gold: Any = None
    where: str = ""


@dataclass(frozen=True)
class Corrections:
    """A corrections file. Two of the same content are equal.

    Attributes:
        hash: ``sha256:…`` over the content.
        by_task: the corrections by task id.
        file: where they were read.
    """

    hash: str
    by_task: Mapping[str, Correction] = field(compare=False, repr=False)
    file: str = field(default="", compare=False)

    def excludes(self, task_id: str) -> bool:
        """Whether the task is left out."""
        return task_id in self.by_task and self.by_task[task_id].action == "exclude"

    def kept(self, tasks: Iterable[Task]) -> tuple[Task, ...]:
        """The tasks that are not left out."""
        return tuple(task for task in tasks if not self.excludes(task.id))

    def why(self, task_id: str) -> str:
        """The reason of a correction, and its source."""
        one = self.by_task[task_id]
        return f"{one.reason} ({one.source})"

    def within(self, task_ids: Collection[str]) -> dict[str, Any]:
        """What is done to some tasks, as JSON.

        Returns:
            ``{"hash": …, "file": …, "replace": [ID, …], "widen": [ID, …], "exclude": {ID: WHY, …}}``.
        """
        chosen = {name: one.action for name, one in self.by_task.items() if name in task_ids}
        listed: dict[str, Any] = {
            action: [name for name, one in chosen.items() if one == action] for action in ACTIONS
        }
        excluded = {name: self.why(name) for name in listed["exclude"]}
        return {"hash": self.hash, "file": self.file, **listed, "exclude": excluded}


def read_corrections(
    path: Path, suite: str, known: Collection[str], data: str, actions: Sequence[Action] = ACTIONS
) -> Corrections:
    """The corrections in a file.

    Args:
        path: the file.
        suite: whose tasks they must be of.
        known: the ids of the suite's tasks.
        data: names the version of the suite's data.
        actions: what can be done to tasks of this suite.

    Raises:
        DataMissingError: there is no such file.
        DataCorruptError: it is not of the form above, or for another suite or version of the data.
        UnknownNameError: a field, an action or a task that does not exist.
        UsageError: an action that this suite does not have.
    """
    content = _read(path)
    _check_head(content, str(path), suite, data)
    by_task = {}
    for task_id, entry in content["corrections"].items():
        if task_id not in known:
            raise UnknownNameError("task id", task_id, known, where=str(path))
        by_task[task_id] = _correction(entry, f"{path}, {task_id}", suite, actions)
    return Corrections(content_hash(content), by_task, str(path))


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
        content = strict_json(text)
        json.dumps(content, ensure_ascii=False).encode()
    except FileNotFoundError as error:
        raise DataMissingError(f"no corrections at {path}") from error
    except OSError as error:
        raise DataMissingError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise DataCorruptError(f"{path} is not JSON: {error}") from error
    if not isinstance(content, dict) or content.get("version") != CORRECTIONS_VERSION:
        found = content.get("version") if isinstance(content, dict) else type(content).__name__
        raise DataCorruptError(f"{path}: version {found!r:.80}, expected {CORRECTIONS_VERSION}")
    return content


def _check_head(content: Mapping[str, Any], where: str, suite: str, data: str) -> None:
    for name in content:
        if name not in _FILE_FIELDS:
            raise UnknownNameError("field", name, _FILE_FIELDS, where=where)
    if content.get("suite") != suite:
        raise DataCorruptError(f"{where}: corrections of suite {content.get('suite')!r:.80}, not {suite!r}")
    if content.get("data", data) != data:
        raise DataCorruptError(f"{where}: made for the data {content['data']!r:.80}, and these are {data}")
    if not isinstance(content.get("corrections"), dict):
        raise DataCorruptError(f'{where}: expected "corrections": {{TASK_ID: {{…}}}}')


def _correction(entry: Any, where: str, suite: str, actions: Sequence[Action]) -> Correction:
    if not isinstance(entry, dict):
        raise DataCorruptError(f"{where}: expected an object with {', '.join(_FIELDS)}, found {entry!r:.80}")
    for name in entry:
        if name not in _FIELDS:
            raise UnknownNameError("field", name, _FIELDS, where=where)
    action = entry.get("action")
    if action not in ACTIONS:
        raise UnknownNameError("action", action, ACTIONS, where=where)
    if action not in actions:
        raise UsageError(f"{where}: suite {suite} cannot {action}, only {' or '.join(actions)}")
    for name in ("reason", "source"):
        if not isinstance(entry.get(name), str) or not entry[name].strip():
            raise DataCorruptError(f"{where}: {name} is {entry.get(name)!r:.80}; say it in words")
    if (action == "exclude") is ("gold" in entry):
        raise DataCorruptError(f"{where}: {'no' if action == 'exclude' else 'a'} gold belongs to {action}")
    return Correction(
        cast(Action, action), entry["reason"].strip(), entry["source"].strip(), entry.get("gold"), where
    )
