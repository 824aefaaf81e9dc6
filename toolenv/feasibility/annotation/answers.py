"""What annotators answered: one append-only file of JSON lines each, beside the sample.

Of ``sample.json`` the answers of ``ann`` are in ``sample.ann.answers.jsonl``::

    {"version": 1, "sample": "sha256:…", "annotator": "ann", "item": "BFCL/multiple_0",
     "answer": "no", "note": ""}

The last answer to an item counts; earlier ones stay in the file.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from toolenv.append_only import locked, opened_for_lines
from toolenv.errors import StoreError, UnknownNameError, UsageError
from toolenv.feasibility.annotation.sample import Sample
from toolenv.json_values import mend_surrogates

ANSWERS_VERSION = 1
ADJUDICATION = "adjudication"
"""The name under which disagreements are settled; no annotator may have it."""

NOTE_LIMIT = 4000
"""Characters of a note."""

Choice: TypeAlias = Literal["yes", "no", "unsure"]
CHOICES: tuple[Choice, ...] = get_args(Choice)

QUESTION = (
    "Does any remaining tool offer a usable substitute for the masked ones, "
    "so that the task can still be completed?"
)
"""The one question of Appendix A."""

MEANING: Mapping[Choice, str] = {
    "yes": "a substitute remains; the label “infeasible” is wrong",
    "no": "nothing that remains can do it; the label is right",
    "unsure": "cannot be told from what is shown",
}

_CLOSED = -1
"""No file has this descriptor, whereas that of a closed file may soon be another's."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer to :data:`QUESTION`, with a note for readers."""

    choice: Choice
    note: str = ""


def checked_answer(choice: str, note: str = "") -> Answer:
    """An answer from outside.

    Raises:
        UsageError: ``choice`` is none of :data:`CHOICES`, or the note longer than :data:`NOTE_LIMIT`.
    """
    for known in CHOICES:
        if choice == known:
            note = mend_surrogates(note).replace("\r\n", "\n").strip()
            if len(note) > NOTE_LIMIT:
                raise UsageError(f"the note has {len(note):,} characters; at most {NOTE_LIMIT:,} are kept")
            return Answer(known, note)
    raise UsageError(f"answer {choice!r:.80}: give one of {', '.join(CHOICES)}")


def answers_path(sample_path: Path, name: str) -> Path:
    """The file of one annotator's answers.

    Raises:
        UsageError: ``name`` is not fit for a file name.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"annotator {name!r}: give 1 to 40 letters, digits, hyphens and underscores, e.g. 'ann'"
        )
    return sample_path.with_name(f"{sample_path.stem}.{name}.answers.jsonl")


def annotators(sample_path: Path) -> list[str]:
    """The names of those who have answered something of a sample, sorted; without the adjudication."""
    pattern = re.compile(re.escape(sample_path.stem) + rf"\.({_NAME.pattern})\.answers\.jsonl")
    try:
        filled = [
            path.name for path in sample_path.parent.iterdir() if path.is_file() and path.stat().st_size
        ]
    except OSError as error:
        raise StoreError(f"{sample_path.parent} cannot be read: {error.strerror or error}") from error
    matches = (pattern.fullmatch(name) for name in filled)
    return sorted(match[1] for match in matches if match and match[1] != ADJUDICATION)


def read_answers(path: Path, sample: Sample, name: str) -> dict[str, Answer]:
    """The answers in a file, by item id; an unfinished last line is left out. Empty if there is no file.

    Raises:
        StoreError: a line that is no answer of ``name`` to an item of ``sample``, by number.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}") from error
    items = {item.id for item in sample.items}
    answers: dict[str, Answer] = {}
    for number, line in _whole_lines(content):
        try:
            item, answer = _parse(json.loads(line), sample.hash, name)
            if item not in items:
                raise UnknownNameError("item", item, items)
        except json.JSONDecodeError as error:
            raise StoreError(
                f"{path}, line {number} is not JSON: {error.msg} at column {error.colno}"
            ) from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise StoreError(f"{path}, line {number}: {error or type(error).__name__}") from error
        answers[item] = answer
    return answers


def _whole_lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    return enumerate(content.split(b"\n")[:-1], 1)


def _parse(record: Any, sample_hash: str, name: str) -> tuple[str, Answer]:
    expected = {"version": ANSWERS_VERSION, "sample": sample_hash, "annotator": name}
    if not isinstance(record, dict):
        raise UsageError(f"not an answer: {record!r:.80}")
    for key, value in expected.items():
        if record.get(key) != value:
            raise UsageError(f"{key} is {record.get(key)!r:.80}, expected {value!r}")
    for key in ("item", "answer", "note"):
        if key not in record:
            raise UsageError(f"{key!r} is missing")
    item, choice, note = record["item"], record["answer"], record["note"]
    if not (isinstance(item, str) and isinstance(choice, str) and isinstance(note, str)):
        raise UsageError("item, answer and note must be texts")
    return item, checked_answer(choice, note)


class AnswerLog:
    """One annotator's answers open for adding to; use it as a context manager. Threads may share it.

    Attributes:
        answers: the answer to each item answered so far.

    Raises:
        StoreError: in use by another process, not readable or not writable.
    """

    def __init__(self, sample_path: Path, sample: Sample, name: str) -> None:
        self.path = answers_path(sample_path, name)
        self._sample, self._name = sample, name
        self._lock = locked(self.path.with_name(f".{self.path.name}.lock"), self.path)
        self._turn = threading.Lock()
        try:
            self.answers = read_answers(self.path, sample, name)
            self._file = opened_for_lines(self.path)
        except BaseException:
            self._lock.release()
            raise

    def add(self, item: str, answer: Answer) -> None:
        """Append an answer; when this returns it is on disk.

        Raises:
            StoreError: it cannot be written (a full disk); nothing of it is left in the file.
        """
        record = {
            "version": ANSWERS_VERSION,
            "sample": self._sample.hash,
            "annotator": self._name,
            "item": item,
            "answer": answer.choice,
            "note": answer.note,
        }
        line = json.dumps(record).encode() + b"\n"
        with self._turn:
            self._write(line)
            self.answers[item] = answer

    def _write(self, line: bytes) -> None:
        start = None
        try:
            start = os.lseek(self._file, 0, os.SEEK_END)
            while line:
                line = line[os.write(self._file, line) :]
            os.fsync(self._file)
        except OSError as error:
            if start is not None:
                with suppress(OSError):
                    os.truncate(self._file, start)
            raise StoreError(f"{self.path} cannot be written: {error.strerror or error}") from error

    def close(self) -> None:
        """Close the file and let others write; adding fails from now on."""
        with self._turn:
            os.close(self._file)
            self._file = _CLOSED
        self._lock.release()

    def __enter__(self) -> AnswerLog:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
